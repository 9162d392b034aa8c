"""A results table, turned into one row for each set of partners and one column for each level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from noctule.comparison.arguments import Question
from noctule.comparison.axes import (
    Axis,
    Value,
    axis_names,
    axis_of,
    check_columns,
    combined,
    labels,
    shown,
    with_parameters,
    workload_axes,
)
from noctule.comparison.units import Codes, Design, Floats, design_of
from noctule.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, slots=True)
class Group:
    """The keys of one combination of the columns that results are kept apart by."""

    within: Mapping[str, Value]
    keys: Codes


@dataclass(frozen=True, eq=False, slots=True)
class ResultsTable:
    """Runs by key (all that partners share) and level; those that are not there are not `present`.

    Keys and levels are sorted by their values, so the order of the rows is forgotten.
    """

    question: Question
    levels: tuple[str, ...]
    present: np.ndarray[tuple[int, int], np.dtype[np.bool_]]
    metrics: Mapping[str, Floats]
    groups: tuple[Group, ...]
    workload: Codes
    replicates: Mapping[str, Codes]
    n_values: Mapping[str, int]
    _designs: dict[bytes, Design] = field(default_factory=dict, init=False)
    _values: dict[tuple[str, Group], Floats] = field(default_factory=dict, init=False)

    def values(self, metric: str, group: Group) -> Floats:
        """Return a metric, with a row for each key of the group and a column for each level."""
        if (metric, group) not in self._values:
            self._values[metric, group] = self.metrics[metric][group.keys]
        return self._values[metric, group]

    def design(self, metric: str, group: Group, levels: Sequence[int]) -> Design:
        """Return what the units are of the runs of some levels that have the metric."""
        measured = ~np.isnan(self.values(metric, group)[:, levels]).all(axis=1)
        keys = group.keys[measured]
        if keys.tobytes() not in self._designs:
            found = design_of(keys, self.workload, self.replicates, self.question.unit)
            self._designs[keys.tobytes()] = found
        return self._designs[keys.tobytes()]


def name_of(group: Group) -> str:
    """Write what the runs of a group have in common."""
    return ", ".join(f"{name}={shown(value)}" for name, value in group.within.items())


def read(
    table: pd.DataFrame, question: Question, other_metrics: Sequence[str] = ()
) -> ResultsTable:
    """Check a table and sort its runs."""
    names = _check(table, question, other_metrics)
    of_level = tuple(dict.fromkeys((*question.by, *with_parameters(names, question.by))))
    of_key = tuple(name for name in names if name not in of_level)
    axes = {name: axis_of(table, name) for name in (*of_level, *of_key)}
    level_axes = [axes[name] for name in of_level]
    level_cells, level = combined(level_axes, len(table))
    key_axes = [axes[name] for name in of_key]
    key_cells, key = combined(key_axes, len(table))
    present = np.zeros((len(key_cells), len(level_cells)), np.bool_)
    _refuse_duplicates([*level_axes, *key_axes], key * len(level_cells) + level)
    present[key, level] = True
    replicates = tuple(name for name in question.replicates if name in of_key)
    return ResultsTable(
        question,
        labels(level_axes, level_cells, question.by),
        present,
        {m: _placed(_numbers(table, m), key, level, present) for m in question.metrics},
        _groups(key_axes, key_cells, question.within),
        _codes(key_cells, of_key, workload_axes(of_key, question.replicates)),
        {name: _codes(key_cells, of_key, [name]) for name in replicates},
        {axis.name: len(axis.values) for axis in key_axes},
    )


def _check(
    table: pd.DataFrame, question: Question, other_metrics: Sequence[str]
) -> tuple[str, ...]:
    for what, columns in (
        ("by", question.by),
        ("metric", question.metrics),
        ("within", question.within),
        ("axes", question.axes or ()),
    ):
        check_columns(table, what, columns)
    if not (question.by and question.metrics):
        raise InputError("comparison: got no column or no metric, expected at least one of each")
    if not len(table):
        raise InputError("table: got no run, expected at least one")
    names = axis_names(table, question.axes, (*question.metrics, *other_metrics))
    names = (*names, *(n for n in question.within if n not in names))
    for name in (*question.by, *question.within):
        if name in question.metrics:
            raise InputError(f"metric: {name!r} is compared by, expected another column")
    for name in question.within:
        if name in with_parameters(names, question.by):
            raise InputError(f"within: {name!r} is compared by, expected another column")
    return names


def _numbers(table: pd.DataFrame, metric: str) -> Floats:
    import pandas as pd

    try:
        column = pd.to_numeric(table[metric])
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise InputError(f"{metric}: got a text, expected numbers") from None


def _placed(
    numbers: Floats,
    key: Codes,
    level: Codes,
    present: np.ndarray[tuple[int, int], np.dtype[np.bool_]],
) -> Floats:
    values = np.full(present.shape, np.nan)
    values[key, level] = numbers
    return values


def _refuse_duplicates(axes: Sequence[Axis], place: Codes) -> None:
    _, count = np.unique(place, return_counts=True)
    if len(count) == len(place):
        return
    order = np.argsort(place, kind="stable")
    row = order[1:][np.diff(place[order]) == 0][0]
    found = ", ".join(f"{axis.name}={shown(axis.values[axis.codes[row]])}" for axis in axes)
    raise InputError(
        f"table: two runs with {found}; expected one, or an axis that tells them apart"
    )


def _groups(axes: Sequence[Axis], cells: Codes, within: Sequence[str]) -> tuple[Group, ...]:
    columns = [next(i for i, axis in enumerate(axes) if axis.name == name) for name in within]
    if not columns:
        return (Group({}, np.arange(len(cells))),)
    found, group = np.unique(cells[:, columns], axis=0, return_inverse=True)
    return tuple(
        Group(
            {axes[c].name: axes[c].values[code] for c, code in zip(columns, cell, strict=True)},
            np.flatnonzero(group.reshape(-1) == i),
        )
        for i, cell in enumerate(found)
    )


def _codes(cells: Codes, names: Sequence[str], chosen: Sequence[str]) -> Codes:
    columns = [names.index(name) for name in chosen]
    if not columns:
        return np.zeros(len(cells), np.intp)
    _, place = np.unique(cells[:, columns], axis=0, return_inverse=True)
    return place.reshape(-1).astype(np.intp)
