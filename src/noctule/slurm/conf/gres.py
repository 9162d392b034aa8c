"""Generic resources, such as GPUs: as nodes have them, jobs ask for them, gres.conf tells them.

Written `name:count`, `name:type:count` or `name`, which is one. Devices of gres.conf say which
cores are near; how many there are is what the node's line in slurm.conf says.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from noctule.errors import InputError
from noctule.slurm.conf.hostlist import expand_hosts, split_outside_brackets
from noctule.slurm.conf.lines import Conf, ConfLine, read_conf
from noctule.units import shown

_COUNT = re.compile(r"([0-9]{1,15})([KMGTP]?)", re.ASCII | re.IGNORECASE)
_POWERS = {letter: 1024**i for i, letter in enumerate(["", *"KMGTP"])}


@dataclass(frozen=True, slots=True)
class Gres:
    """A number of generic resources of one name, and of one type if `kind` is not empty."""

    name: str
    kind: str
    count: int
    consumed: bool = True

    def __str__(self) -> str:
        """Write it as Slurm does."""
        return ":".join(filter(None, (self.name, self.kind, str(self.count))))


@dataclass(frozen=True, slots=True)
class GresDevice:
    """A line of gres.conf: devices of one name and type on some nodes; () means all of them."""

    nodes: tuple[str, ...]
    name: str
    kind: str
    count: int
    cores: tuple[int, ...] = ()


def parse_gres(text: str, where: str) -> tuple[Gres, ...]:
    """Read a list such as `gpu:tesla:2,shard:8`; a leading `gres:` or `gres/` is left out."""
    found = []
    for part in split_outside_brackets(text):
        word = part.partition("(")[0].strip()  # (S:0-1) says where they are
        if word:
            found.append(_parse_one(word, where))
    return tuple(found)


def check_node_gres(gres: tuple[Gres, ...], where: str) -> None:
    """Refuse typed beside untyped resources of one name, as Slurm does."""
    for one in gres:
        if not one.kind and any(other.kind for other in gres if other.name == one.name):
            raise InputError(
                f"{where}: got {one.name} with and without a type, expected one of both"
            )


def _parse_one(word: str, where: str) -> Gres:
    parts = re.sub(r"^gres[:/]", "", word).split(":")
    consumed = "no_consume" not in parts
    parts = [part for part in parts if part != "no_consume"]
    match = _COUNT.fullmatch(parts[-1]) if len(parts) > 1 else None
    count = 1 if match is None else int(match[1]) * _POWERS[match[2].upper()]
    names = parts if match is None else parts[:-1]
    if not (names[0] and len(names) <= 2):
        raise InputError(f"{where}: got {shown(word)}, expected resources such as gpu:tesla:2")
    return Gres(names[0].lower(), names[1] if len(names) > 1 else "", count, consumed)


def read_gres_conf(path: str | os.PathLike[str]) -> tuple[GresDevice, ...]:
    """Read gres.conf; AutoDetect lines tell nothing that is not known from slurm.conf."""
    return gres_devices(read_conf(path))


def gres_devices(conf: Conf) -> tuple[GresDevice, ...]:
    """Return the devices that the lines of a gres.conf tell."""
    return tuple(_device(line) for line in conf.lines if "name" in line.values())


def _device(line: ConfLine) -> GresDevice:
    values = line.values()
    nodes = values.get("nodename", "")
    files = expand_hosts(values.get("file", ""), f"{line.place}: File")
    count = len(files) or 1
    if "count" in values:
        match = _COUNT.fullmatch(values["count"])
        if match is None:
            raise InputError(
                f"{line.place}: Count: got {shown(values['count'])}, expected a number such as 4"
            )
        count = int(match[1]) * _POWERS[match[2].upper()]
        if files and len(files) != count:
            raise InputError(f"{line.place}: Count={count} with {len(files)} files")
    cores = values.get("cores", values.get("cpus", ""))
    return GresDevice(
        nodes=tuple(expand_hosts(nodes, f"{line.place}: NodeName")),
        name=values["name"].lower(),
        kind=values.get("type", ""),
        count=count,
        cores=_core_numbers(cores, f"{line.place}: Cores"),
    )


def _core_numbers(text: str, where: str) -> tuple[int, ...]:
    if not text:
        return ()
    numbers = expand_hosts(f"[{text}]", where)
    return tuple(map(int, numbers))
