"""Nodes: NodeName lines of slurm.conf, with their defaults, and the states that DownNodes gives."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from noctule.errors import InputError
from noctule.slurm.conf.gres import Gres, check_node_gres, parse_gres
from noctule.slurm.conf.hostlist import expand_hosts
from noctule.slurm.conf.lines import ConfLine, Place
from noctule.slurm.conf.values import (
    TEXT,
    WORDS,
    Given,
    Kind,
    choice,
    keys_of,
    number,
    setting,
    settings_of,
    told,
)

_COUNT = number(1, 65_533)
# a node's name, its addresses and what concerns its daemon alone
_UNUSED = {"nodename", "nodehostname", "nodeaddr", "bcastaddr", "port", "cpubind", "reason"}
_SHAPE = ("cpus", "boards", "sockets", "sockets_per_board", "cores_per_socket", "threads_per_core")

#: States in which a node takes no jobs at the beginning.
UNUSABLE_STATES = ("DOWN", "DRAIN", "FAIL", "FAILING", "FUTURE")


@dataclass(frozen=True, slots=True)
class Node:
    """A node, with all that its line leaves open filled in; `sockets` are those of all boards."""

    name: str
    cpus: int = setting(
        "CPUs", _COUNT, 1, "By default the product of the others.", aliases=("Procs",)
    )
    boards: int = setting("Boards", _COUNT, 1, "Boards of the node.")
    sockets: int = setting("Sockets", _COUNT, 1, "By default what CPUs leaves for it.")
    sockets_per_board: int = setting("SocketsPerBoard", _COUNT, 1, "The same, for each board.")
    cores_per_socket: int = setting("CoresPerSocket", _COUNT, 1, "Cores of a socket.")
    threads_per_core: int = setting("ThreadsPerCore", _COUNT, 1, "Threads of a core.")
    memory_mb: int = setting("RealMemory", number(1, unit="megabytes"), 1, "Memory for jobs.")
    tmp_disk_mb: int = setting("TmpDisk", number(0, unit="megabytes"), 0, "Disk for --tmp.")
    weight: int = setting("Weight", number(0, 2**32 - 1), 1, "Lower ones are chosen first.")
    features: tuple[str, ...] = setting(
        "Features", WORDS, (), "What --constraint asks for.", aliases=("Feature",)
    )
    gres_text: str = setting("Gres", TEXT, "", "Generic resources such as gpu:tesla:2.")
    state: str = setting(
        "State",
        choice(*UNUSABLE_STATES, "CLOUD", "UNKNOWN", "IDLE", "BUSY", "NO_RESPOND"),
        "UNKNOWN",
        "At the beginning; UNKNOWN becomes idle.",
    )
    core_spec_count: int = setting("CoreSpecCount", number(0, 65_533), 0, "Cores kept from jobs.")
    cpu_spec_list: tuple[str, ...] = setting("CpuSpecList", WORDS, (), "CPUs kept from jobs.")
    mem_spec_limit_mb: int = setting(
        "MemSpecLimit", number(0, unit="megabytes"), 0, "Memory kept from jobs."
    )
    gres: tuple[Gres, ...] = ()
    place: Place = field(default=Place("", 0), compare=False, repr=False)

    @property
    def cores(self) -> int:
        """Cores of all sockets."""
        return self.sockets * self.cores_per_socket


@dataclass(frozen=True, slots=True)
class NodeTable:
    """Nodes in the order of the file, and where each stands."""

    nodes: tuple[Node, ...]
    index: Mapping[str, int]

    def indices(self, text: str, where: str) -> tuple[int, ...]:
        """Return the positions of the nodes of a list, in the order of the file."""
        names = expand_hosts(text, where)
        unknown = [name for name in names if name not in self.index]
        if unknown:
            raise InputError(f"{where}: {unknown[0]!r} is no node of the configuration")
        return tuple(sorted({self.index[name] for name in names}))


class NodeLines:
    """Collects NodeName and DownNodes lines as they are read."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._defaults: dict[str, Given] = {}
        self._nodes: dict[str, Node] = {}
        self._down: list[tuple[Place, str, str]] = []
        self._unknown: list[tuple[str, Place]] = []

    def add(self, line: ConfLine) -> None:
        """Take a NodeName line; one of the name DEFAULT changes what the next ones leave open."""
        given = {key.lower(): Given(key, value, line.place) for key, value in line.entries}
        names = given["nodename"].text
        self._unknown += [
            (f"NodeName {value.key}", line.place)
            for key, value in given.items()
            if key not in _UNUSED | _KEYS
        ]
        if names.upper() == "DEFAULT":
            self._defaults |= given
            return
        values = {**self._defaults, **given}
        where = f"{line.place}: NodeName={names}"
        if names.upper() == "ALL":
            raise InputError(f"{where}: ALL is no name that a node can have")
        kind = self._kind(values, where)
        for name in expand_hosts(names, where):
            if name in self._nodes:
                raise InputError(f"{where}: node {name!r} stands at {self._nodes[name].place} too")
            self._nodes[name] = dataclasses.replace(kind, name=name, place=line.place)

    def add_down(self, line: ConfLine) -> None:
        """Take a DownNodes line."""
        values = line.values()
        state = _STATE.parse(values.get("state", "DOWN"), f"{line.place}: State")
        self._down.append((line.place, values["downnodes"], state))

    def table(self) -> NodeTable:
        """Return all nodes."""
        for place, names, state in self._down:
            where = f"{place}: DownNodes"
            for name in expand_hosts(names, where):
                if name not in self._nodes:
                    raise InputError(f"{where}: {name!r} is no node of the configuration")
                self._nodes[name] = dataclasses.replace(self._nodes[name], state=state)
        nodes = tuple(self._nodes.values())
        return NodeTable(nodes, {node.name: i for i, node in enumerate(nodes)})

    @property
    def unknown(self) -> Iterable[tuple[str, Place]]:
        """Keys of the lines that are not known, with their places."""
        return self._unknown

    def _kind(self, given: Mapping[str, Given], where: str) -> Node:
        values = told(Node, given)
        shape = self._shape({key: values[key] for key in _SHAPE if key in values}, where)
        gres = parse_gres(values.get("gres_text", ""), f"{where}: Gres")
        check_node_gres(gres, f"{where}: Gres")
        return Node(**{**values, **shape, "gres": gres, "name": ""})

    def _shape(self, given: dict[str, int], where: str) -> dict[str, Any]:
        """Fill in sockets or CPUs from the others, as Slurm does."""
        cores, threads = given.get("cores_per_socket", 1), given.get("threads_per_core", 1)
        boards = given.get("boards", 1)
        if "sockets" in given and "sockets_per_board" in given:
            raise InputError(f"{where}: got Sockets and SocketsPerBoard, expected one of them")
        if "sockets_per_board" in given:
            sockets = given["sockets_per_board"] * boards
        elif "cpus" in given and boards == 1:
            sockets = given.get("sockets", max(1, given["cpus"] // (cores * threads)))
        else:
            sockets = given.get("sockets", boards)  # of all boards, whatever the manual says
        products = (sockets, sockets * cores, sockets * cores * threads)
        cpus = given.get("cpus", products[-1])
        if cpus not in products:
            self.notes.append(
                f"{where}: CPUs={cpus} is neither Sockets, nor Sockets*CoresPerSocket, nor that "
                f"times ThreadsPerCore; as Slurm does, {products[-1]} is taken"
            )
            cpus = products[-1]
        return {
            "cpus": cpus,
            "boards": boards,
            "sockets": sockets,
            "sockets_per_board": max(1, sockets // boards),
            "cores_per_socket": cores,
            "threads_per_core": threads,
        }


_KEYS = keys_of(Node)
_STATE: Kind = next(facts.kind for facts in settings_of(Node) if facts.field == "state")
