"""Which combinations are run: grids, zips and single runs, less what is excluded.

An axis is a workload, a platform, a policy, a seed, or an option of the simulation. A grid crosses
all values of each axis, or those that it names; a zip takes its lists in step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from noctule.campaign.specs import Value
from noctule.errors import InputError

# the axes that every run has, from the one that changes least to the one that changes most
MAIN_AXES = ("workload", "seed", "platform", "policy")

Labels = Mapping[str, Value | None]


@dataclass(frozen=True, slots=True)
class Axes:
    """The values of each axis; those of the named ones with the definitions they come from."""

    values: Mapping[str, Sequence[Value]]
    definitions: Mapping[str, Mapping[Value, str]]

    def matching(self, where: str, axis: str, wanted: object) -> tuple[Value, ...]:
        """Return the values that a name, a pattern or a value stands for; at least one."""
        if axis not in self.values:
            known = ", ".join(self.values)
            raise InputError(f"{where}.{axis}: unknown axis, expected one of {known}")
        names = self.definitions.get(axis, {})
        found = tuple(
            value for value in self.values[axis] if matches(value, wanted, names.get(value))
        )
        if not found:
            some = ", ".join(map(str, self.values[axis][:6])) or "none"
            raise InputError(f"{where}.{axis}: got {wanted!r}, expected one of {some}")
        return found


def matches(value: Value | None, wanted: object, definition: str | None = None) -> bool:
    """Tell whether a value is what is wanted; texts may be patterns, or names of definitions."""
    if isinstance(wanted, str) and isinstance(value, str):
        return wanted in (value, definition) or fnmatchcase(value, wanted)
    same_kind = isinstance(value, bool) == isinstance(wanted, bool)
    return same_kind and value == wanted


@dataclass(frozen=True, slots=True)
class Grid:
    """The values of some axes, all of which are crossed; other axes are taken whole."""

    chosen: Mapping[str, frozenset[Value]]

    def admits(self, axis: str, value: Value) -> bool:
        """Tell whether a value of an axis is in the grid."""
        return axis not in self.chosen or value in self.chosen[axis]

    def contains(self, labels: Labels) -> bool:
        """Tell whether a combination is in the grid; a seed that is not used is in any."""
        return all(
            labels[axis] is None or labels[axis] in values for axis, values in self.chosen.items()
        )


def grids_of(where: str, kind: str, table: Mapping[str, Any], axes: Axes) -> list[Grid]:
    """Return the grids that a table of [[grid]], [[zip]] or [[run]] stands for."""
    if kind == "zip":
        return _zipped(where, table, axes)
    if kind == "run":
        _refuse_open(where, table, axes)
    chosen: dict[str, frozenset[Value]] = {}
    for axis, wanted in table.items():
        values = wanted if isinstance(wanted, list) and kind == "grid" else [wanted]
        if not values:
            raise InputError(f"{where}.{axis}: got an empty list, expected at least one value")
        chosen[axis] = _union(axes.matching(where, axis, one) for one in values)
    return [Grid(chosen)]


def _zipped(where: str, table: Mapping[str, Any], axes: Axes) -> list[Grid]:
    lists = {axis: values for axis, values in table.items() if isinstance(values, list)}
    if len(lists) < 2:
        raise InputError(f"{where}: got {len(lists)} lists, expected two or more to take in step")
    lengths = {axis: len(values) for axis, values in lists.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{axis} has {n}" for axis, n in lengths.items())
        raise InputError(f"{where}: {told}, expected lists of one length")
    rest = {axis: [value] for axis, value in table.items() if axis not in lists}
    grids = []
    for row in zip(*lists.values(), strict=True):
        wanted = dict(zip(lists, ([one] for one in row), strict=True)) | rest
        grids += grids_of(where, "grid", wanted, axes)
    return grids


def _refuse_open(where: str, table: Mapping[str, Any], axes: Axes) -> None:
    for axis, values in axes.values.items():
        if axis not in table and axis != "seed" and len(values) > 1:
            raise InputError(f"{where}.{axis}: missing, expected one of its {len(values)} values")


def _union(parts: Iterable[Iterable[Value]]) -> frozenset[Value]:
    return frozenset(value for part in parts for value in part)
