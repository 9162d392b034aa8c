"""Platforms that others wrote: Batsim's, Batkube's and SimGrid's load, and mean the same to us."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from platform_files import HERE, refusal

from noctule.formats.platforms import load_platform, save_platform
from noctule.formats.power_properties import OFF, PER_STATE, SLEEP
from noctule.network import Cluster, Zone
from noctule.platform import Host, HostKind, Platform

# name: (compute hosts, storage hosts, master, several speeds), as specs/batsim.md C.6 has them
BATSIM = {
    "cluster512": (512, 0, "master_host0", False),
    "cluster512_pfs": (512, 1, "master_host0", False),
    "cluster_energy_128": (128, 0, "master_host0", False),
    # their masters are only told on Batsim's command line
    "cluster_locality_32x16": (513, 0, None, False),
    "cluster_locality_4x128": (513, 0, None, False),
    "cluster_locality_8x16": (129, 0, None, False),
    "cluster_locality_8x64": (513, 0, None, False),
    "energy_platform": (4, 0, "master_host", False),
    "energy_platform_homogeneous": (4, 0, "master_host", False),
    "energy_platform_homogeneous_no_net": (7, 0, "master_host", False),
    "energy_platform_homogeneous_no_net_1": (1, 0, "master_host", False),
    "energy_platform_homogeneous_no_net_128": (128, 0, "master_host", False),
    "energy_platform_homogeneous_no_net_256": (256, 0, "master_host", False),
    "energy_platform_homogeneous_no_net_512": (512, 0, "master_host", False),
    "graphene": (144, 0, None, False),
    "heterogeneous/platform": (15, 0, "master_host", True),
    "properties_example": (7, 0, "master_host", False),
    "simple_coalloc_platform": (34, 0, "master_host", True),
    "small_platform": (4, 0, "master_host", True),
    "small_platform_pfs0": (5, 0, "master_host", True),
    "small_platform_usage_replay": (4, 0, "master_host", True),
}
# what is odd about them, without the name of the file
NOTES = {
    "energy_platform": [
        "host 'Venus': wattage_per_state: got 6 entries for 7 speeds; its power is not known",
        "host 'Earth': wattage_per_state: got 6 entries for 9 speeds; its power is not known",
    ],
    "energy_platform_homogeneous_no_net": [
        "line 6, column 2: prop 'network/coordinates': unknown configuration key, "
        "kept but without effect"
    ],
    "graphene": [
        "line 9, column 5: prop 'network/sender_gap': unknown configuration key, "
        "kept but without effect",
        "line 23, column 5: cluster 'AS_sgraphene1': limiter_link: got '1.875E8' without a unit, "
        "taken as Bps (and 3 more like it)",
    ],
    "heterogeneous/platform": [
        "host 'cor_0_example_cpu_0_example_node_0_clu_0': sleep_pstates: got '2:3:4', expected "
        "power states from 0 to 1; its power is not known (and 14 more like it)"
    ],
    **{
        name: [
            "no host is the master; master_host0 computes like any other unless it is named as "
            "the master host"
        ]
        for name in BATSIM
        if name.startswith("cluster_locality")
    },
}
BATKUBE = {
    "1node": 1,
    "1node_128": 1,
    "1node_6core": 1,
    "2node_6core": 2,
    "3node": 3,
    "3node_6core": 3,
    "cluster16": 16,
    "cluster512": 512,
    "platform_graphene_16nodes": 16,
}
SIMGRID = sorted(path.name for path in HERE.glob("*.xml"))


@pytest.fixture(scope="session")
def batsim_platforms(shared: Path) -> Path:
    return shared / "vectors" / "batsim" / "inputs" / "platforms"


@pytest.mark.parametrize("name", BATSIM)
def test_batsims_platforms_load(batsim_platforms: Path, name: str) -> None:
    path = batsim_platforms / f"{name}.xml"
    platform = load_platform(path)
    n_hosts, n_storages, master, several_speeds = BATSIM[name]

    assert (platform.n_hosts, len(platform.storages)) == (n_hosts, n_storages)
    assert (platform.master.name if platform.master else None) == master
    assert platform.is_homogeneous is not several_speeds
    assert [note.removeprefix(f"{path}: ") for note in platform.notes] == NOTES.get(name, [])


def test_no_platform_of_batsim_is_forgotten(batsim_platforms: Path) -> None:
    found = {str(path.relative_to(batsim_platforms)) for path in batsim_platforms.rglob("*.xml")}

    assert found == {f"{name}.xml" for name in BATSIM}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "altamira.json",
            "got the input of Batsim's generate_platform.py, "
            "expected the XML platform that it writes",
        ),
        (
            "network_types.json",
            "Example Network: unknown key, expected connections, hosts, links, network, options, "
            "routes, traces, zones",
        ),
        (
            "README.md",
            "line 5, column 8: not valid TOML: Expected '=' after a key in a key/value pair",
        ),
        ("doc/architecture_model.png", "got bytes that are not UTF-8 text"),
    ],
)
def test_what_lies_beside_them_says_why_it_does_not_load(
    batsim_platforms: Path, name: str, message: str
) -> None:
    path = batsim_platforms / "heterogeneous" / name

    assert refusal(load_platform, path) == f"{path}: {message}"


@pytest.mark.parametrize("name", BATKUBE)
def test_batkubes_platforms_load(shared: Path, name: str) -> None:
    platform = load_platform(shared / "vectors" / "batkube" / "platforms" / f"{name}.xml")

    assert platform.n_hosts == BATKUBE[name]
    assert platform.master is not None
    if name.startswith(("1", "2", "3", "p")):
        assert platform.host(0).memory == 4 * 1024**3
        assert platform.host(0).cores == 4  # the property core says something else


@pytest.mark.parametrize("name", SIMGRID)
def test_the_platforms_of_our_simgrid_runs_load(name: str) -> None:
    platform = load_platform(HERE / name)

    assert platform.n_hosts >= 2
    assert platform.notes == ()


def recorded_runs(shared: Path) -> list[tuple[str, Path]]:
    """The platform of each recorded run whose hosts were not cut, and its first message."""
    runs = {}
    for folder in sorted((shared / "vectors" / "batsim" / "v4").iterdir()):
        commands = folder / "commands.txt"
        messages = next(folder.glob("protocol.jsonl*"), None) if folder.is_dir() else None
        if messages is None or not commands.exists():
            continue
        found = re.search(r"^batsim .*-p platforms/(\S+)\.xml.*$", commands.read_text(), re.M)
        if found and "mmax" not in found[0]:
            runs.setdefault(found[1], messages)
    return list(runs.items())


def beginning_of(messages: Path) -> dict[str, Any]:
    content = messages.read_bytes()
    text = lzma.decompress(content) if messages.suffix == ".xz" else content
    message = json.loads(json.loads(text.splitlines()[0])["raw"])
    data: dict[str, Any] = message["events"][0]["data"]
    return data


def told(host: Host) -> dict[str, Any]:
    """What Batsim 4 tells its scheduler about a host."""
    return {
        "id": host.id,
        "name": host.name,
        "state": "idle",
        "properties": {"role": "", **host.properties},
        "zone_properties": dict(host.kind.zone_properties),
    }


def test_ids_and_properties_are_those_that_batsim_4_tells(shared: Path) -> None:
    runs = recorded_runs(shared)
    assert len(runs) >= 5
    for name, messages in runs:
        path = shared / "vectors" / "batsim" / "inputs" / "platforms" / f"{name}.xml"
        platform = load_platform(path, host_order="lexicographic")
        data = beginning_of(messages)

        assert [told(host) for host in platform.hosts] == data["compute_resources"], name
        assert [told(host) for host in platform.storages] == data["storage_resources"], name


# --- conversions


def without_power_texts(properties: Mapping[str, str]) -> dict[str, str]:
    """Properties but for those of which conversions keep the numbers, not the digits."""
    return {key: v for key, v in properties.items() if key not in (PER_STATE, OFF, SLEEP)}


def plain_kind(kind: HostKind) -> HostKind:
    return replace(
        kind,
        properties=without_power_texts(kind.properties),
        zone_properties=without_power_texts(kind.zone_properties),
    )


def plain_zone(zone: Zone | Cluster) -> Zone | Cluster:
    plain = replace(zone, properties=without_power_texts(zone.properties))
    if isinstance(plain, Zone):
        return replace(plain, zones=tuple(plain_zone(inner) for inner in plain.zones))
    return plain


def meaning(platform: Platform) -> tuple[object, ...]:
    return (
        [(host.id, host.name, plain_kind(host.kind)) for host in platform.all_hosts()],
        platform.reference_speed,
        [plain_zone(zone) for zone in platform.network.zones],
        platform.network.options,
    )


def check_conversions(path: Path, folder: Path) -> None:
    platform = load_platform(path)
    for suffix in (".xml", ".toml", ".json"):
        converted = folder / f"converted{suffix}"
        save_platform(platform, converted, force=True)
        again = load_platform(converted)
        assert meaning(again) == meaning(platform)
        if suffix == ".xml":
            assert again == platform


@pytest.mark.parametrize("name", SIMGRID)
def test_conversions_of_simgrid_platforms_lose_nothing(name: str, tmp_path: Path) -> None:
    check_conversions(HERE / name, tmp_path)


@pytest.mark.parametrize("name", BATSIM)
def test_conversions_of_batsims_platforms_lose_nothing(
    batsim_platforms: Path, name: str, tmp_path: Path
) -> None:
    check_conversions(batsim_platforms / f"{name}.xml", tmp_path)
