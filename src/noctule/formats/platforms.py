"""Platform files: the format and the compression are recognised by content, not by name."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.formats.host_choice import DEFAULT_MASTER, HostRules
from noctule.formats.platform_document import platform_document
from noctule.formats.platform_draft import MAX_LISTED_HOSTS, PlatformDraft
from noctule.formats.platform_toml import DEFAULT_ZONE, read_platform_document
from noctule.formats.simgrid import read_simgrid
from noctule.formats.simgrid_writing import simgrid_text
from noctule.formats.toml_table import read_json, read_toml
from noctule.formats.toml_writing import toml_text
from noctule.network import Network, Routing, Zone
from noctule.output_file import COMPRESSIONS, write_file
from noctule.platform import Platform

__all__ = ["load_platform", "save_platform"]

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_EXPECTED = "a SimGrid XML platform, or a short one in TOML or JSON"
_NO_ROLES: Mapping[str, str] = MappingProxyType({})


def load_platform(
    path: str | os.PathLike[str],
    *,
    host_order: str = "natural",
    master_host: str | None = DEFAULT_MASTER,
    roles: Mapping[str, str] = _NO_ROLES,
) -> Platform:
    """Read a SimGrid XML platform, or one in Noctule's short form in TOML or JSON.

    Args:
        path: a plain, gzip, xz or bzip2 file.
        host_order: order of the names that gives hosts their ids: "natural" (a2 before a10) or
            "lexicographic" (a10 before a2, as in Batsim 4).
        master_host: name of the host that is kept apart, as Batsim does; None for nobody.
        roles: "compute", "storage" or "master" by the name of the host, instead of what the file
            says.
    """
    rules = HostRules(host_order, master_host, roles)
    return _draft_of(path).finish(rules)


def _draft_of(path: str | os.PathLike[str]) -> PlatformDraft:
    source = os.fspath(path)
    text = read_bytes(path)
    if text.startswith(_UTF16_MARKS):
        return read_simgrid(text, source=source)
    first = text[:4096].lstrip()[:1] or text.lstrip()[:1]
    if not first:
        raise InputError(f"{source}: empty file, expected {_EXPECTED}")
    if first == b"<":
        return read_simgrid(text, source=source)
    document = read_json(text, source) if first == b"{" else read_toml(text, source)
    if "dc_network" in document.keys:
        raise InputError(
            f"{source}: got the input of Batsim's generate_platform.py, "
            "expected the XML platform that it writes"
        )
    return read_platform_document(document)


def save_platform(platform: Platform, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a platform as its name says: .xml, .toml or .json, which .gz, .xz, .bz2 may follow."""
    names = [name for name in Path(path).suffixes if name not in COMPRESSIONS]
    kind = names[-1] if names else ""
    if kind not in _WRITERS:
        raise InputError(
            f"{os.fspath(path)}: got the suffix {kind!r}, expected .xml, .toml or .json"
        )
    write_file(path, platform_text(platform, kind), force=force)


def platform_text(platform: Platform, kind: str) -> Iterable[str]:
    """Yield the pieces of a file of a kind: .xml, .toml or .json."""
    return _WRITERS[kind](platform, _whole_network(platform))


def _whole_network(platform: Platform) -> Network:
    """Return the network; hosts about whose network nothing is known are in a zone without one."""
    if platform.network.zones:
        return platform.network
    if platform.n_hosts > MAX_LISTED_HOSTS:
        raise InputError(
            f"platform: got {platform.n_hosts} hosts, expected {MAX_LISTED_HOSTS} at most"
        )
    names = tuple(host.name for host in platform.all_hosts())
    zone = Zone(DEFAULT_ZONE, Routing.NONE, members=names)
    return replace(platform.network, zones=(zone,))


def _json_text(platform: Platform, network: Network) -> Iterator[str]:
    yield json.dumps(platform_document(platform, network), indent=2, ensure_ascii=False)
    yield "\n"


_WRITERS: dict[str, Callable[[Platform, Network], Iterable[str]]] = {
    ".xml": lambda platform, network: [simgrid_text(platform, network)],
    ".toml": lambda platform, network: toml_text(platform_document(platform, network)),
    ".json": _json_text,
}
