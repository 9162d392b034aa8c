"""Which hosts of a platform file compute, and which id each of them gets.

Batsim enumerates hosts by name: version 5 in natural order (a2 before a10), version 4 in plain
lexicographic order (a10 before a2). Compute hosts come first, then storage hosts; the master gets
no id.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from noctule.errors import InputError
from noctule.platform import NO_ID, Host, HostKind, Hosts, Role
from noctule.units import shown

HOST_ORDERS = ("natural", "lexicographic")
DEFAULT_MASTER = "master_host"
_ROLES = {
    "": Role.COMPUTE,
    "compute": Role.COMPUTE,
    "compute_node": Role.COMPUTE,
    "storage": Role.STORAGE,
    "master": Role.MASTER,
}
_DIGITS = re.compile("([0-9]+)")


@dataclass(frozen=True, slots=True)
class HostRules:
    """How hosts are told apart and numbered.

    Attributes:
        host_order: "natural" or "lexicographic".
        master_host: name of the host that is the master, whatever its properties say.
        roles: roles by the name of the host, instead of those of the file.
    """

    host_order: str = "natural"
    master_host: str | None = DEFAULT_MASTER
    roles: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse orders and roles that do not exist."""
        if self.host_order not in HOST_ORDERS:
            raise InputError(
                f"host_order: got {self.host_order!r}, expected {' or '.join(HOST_ORDERS)}"
            )
        for name, text in self.roles.items():
            role_of(text, f"roles: {name}")

    def order(self, names: Sequence[str]) -> list[int]:
        """Return the positions of the names in the order of the ids."""
        if self.host_order == "natural":
            keys = [natural_key(name) for name in names]
            return sorted(range(len(names)), key=keys.__getitem__)
        # code points of Unicode have the order of their UTF-8 bytes
        return sorted(range(len(names)), key=names.__getitem__)


def role_of(text: str, where: str) -> Role:
    """Read a role."""
    role = _ROLES.get(text)
    if role is None:
        known = ", ".join(name for name in _ROLES if name)
        raise InputError(f"{where}: got {shown(text)}, expected a role: {known}")
    return role


def natural_key(name: str) -> tuple[tuple[object, ...], str]:
    """Return what sorts names by their numbers first: a2, a10; at a tie as text: a01, a1."""
    parts: list[object] = list(_DIGITS.split(name))
    for i in range(1, len(parts), 2):
        digits = str(parts[i]).lstrip("0")
        parts[i] = (len(digits), digits)
    return tuple(parts), name


@dataclass(frozen=True, slots=True)
class ChosenHosts:
    """The hosts of a platform by what they are for."""

    hosts: Hosts
    storages: tuple[Host, ...]
    master: Host | None


def choose_hosts(
    names: Sequence[str],
    kinds: Sequence[HostKind],
    kind_of: Sequence[int],
    rules: HostRules,
    source: str,
) -> ChosenHosts:
    """Give ids to hosts, of which there is the name and the position of the kind of each."""
    kinds, given = list(kinds), list(kind_of)
    position = {name: i for i, name in enumerate(names)} if rules.roles else {}
    for name, text in rules.roles.items():
        if name not in position:
            raise InputError(f"{source}: roles: {name}: no such host")
        _assign(kinds, given, position[name], role_of(text, name))
    master = rules.master_host
    if master is not None and master not in rules.roles:
        if master in names:
            _assign(kinds, given, names.index(master), Role.MASTER)
        elif master != DEFAULT_MASTER:
            raise InputError(f"{source}: master_host: {master}: no such host")
    return _numbered(names, kinds, given, rules, source)


def _assign(kinds: list[HostKind], kind_of: list[int], i: int, role: Role) -> None:
    kinds.append(replace(kinds[kind_of[i]], role=role))
    kind_of[i] = len(kinds) - 1


def _numbered(
    names: Sequence[str],
    kinds: Sequence[HostKind],
    kind_of: Sequence[int],
    rules: HostRules,
    source: str,
) -> ChosenHosts:
    by_role: dict[Role, list[int]] = {role: [] for role in Role}
    of_kind = [by_role[kind.role] for kind in kinds]
    for i, kind in enumerate(kind_of):
        of_kind[kind].append(i)
    masters = by_role[Role.MASTER]
    if len(masters) > 1:
        some = ", ".join(names[i] for i in masters[:3]) + (", ..." if len(masters) > 3 else "")
        raise InputError(
            f"{source}: {len(masters)} hosts are masters: {some}; expected one at most"
        )
    computing, storing = by_role[Role.COMPUTE], by_role[Role.STORAGE]
    if not computing:
        raise InputError(f"{source}: got no compute host, expected one at least")
    computing = _in_order(computing, names, rules)
    storages = [
        Host(len(computing) + rank, names[i], kinds[kind_of[i]])
        for rank, i in enumerate(_in_order(storing, names, rules))
    ]
    return ChosenHosts(
        _compute_hosts(computing, names, kinds, kind_of, source),
        tuple(storages),
        Host(NO_ID, names[masters[0]], kinds[kind_of[masters[0]]]) if masters else None,
    )


def _in_order(chosen: list[int], names: Sequence[str], rules: HostRules) -> list[int]:
    return [chosen[k] for k in rules.order([names[i] for i in chosen])]


def _compute_hosts(
    chosen: list[int],
    names: Sequence[str],
    kinds: Sequence[HostKind],
    kind_of: Sequence[int],
    source: str,
) -> Hosts:
    """Make the hosts, with the kinds in the order of the first host of each."""
    rank: dict[int, int] = {}
    indices = [rank.setdefault(kind_of[i], len(rank)) for i in chosen]
    used = [kinds[kind] for kind in rank]
    for k, kind in enumerate(used):
        if kind.speed == 0:
            name = names[chosen[indices.index(k)]]
            raise InputError(f"{source}: host {name!r}: got speed 0, expected more: jobs run on it")
    chosen_names = tuple(names[i] for i in chosen)
    if len(used) == 1:
        return Hosts.alike(chosen_names, used[0])
    return Hosts(chosen_names, used, np.array(indices, dtype=np.int32))
