"""Axes: the columns of a results table that say what was run, as opposed to what came out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from noctule.comparison.objectives import is_metric
from noctule.comparison.units import WORKLOAD, Codes
from noctule.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

_PLAIN = frozenset({str, int, float, bool, type(None)})
Value = Any  # what a cell of an axis holds: a text, a number, a truth value, or None


@dataclass(frozen=True, eq=False, slots=True)
class Axis:
    """One column: the different values, sorted, and the place of each row's among them."""

    name: str
    values: tuple[Value, ...]
    codes: Codes


def axis_of(table: pd.DataFrame, name: str) -> Axis:
    """Read a column, so that neither the order of the rows nor the type of a number matters."""
    values = table[name].tolist()
    types = list(map(type, values))
    # runs share their values: each is looked at once, where equal ones of a type are the same
    plain = set(types) <= _PLAIN
    marks: Sequence[Any] = list(zip(types, values, strict=True)) if plain else range(len(values))
    different = dict(zip(marks, values, strict=True))
    cells = {mark: _canonical(value, name) for mark, value in different.items()}
    order = sorted(set(cells.values()))
    place = {cell: i for i, cell in enumerate(order)}
    code = {mark: place[cell] for mark, cell in cells.items()}
    codes = np.fromiter(map(code.__getitem__, marks), np.intp, len(values))
    return Axis(name, tuple(value for _, value in order), codes)


def check_columns(table: pd.DataFrame, what: str, names: Iterable[str]) -> None:
    """Refuse columns that the table does not have."""
    for name in names:
        if name not in table.columns:
            known = ", ".join(map(str, table.columns))
            raise InputError(f"{what}: no column {name!r} in the table, expected one of {known}")
    for name in table.columns:
        if not isinstance(name, str):
            raise InputError(f"table: got a column {name!r}, expected texts as names")
    if not table.columns.is_unique:
        name = table.columns[table.columns.duplicated()][0]
        raise InputError(f"table: two columns {name!r}, expected one of each name")


def axis_names(
    table: pd.DataFrame, axes: Sequence[str] | None, metrics: Iterable[str]
) -> tuple[str, ...]:
    """Return the columns that tell runs apart: those given, or all that are no metrics."""
    if axes is not None:
        return tuple(dict.fromkeys(axes))
    others = set(metrics)
    return tuple(name for name in table.columns if not is_metric(name) and name not in others)


def with_parameters(names: Sequence[str], of: Sequence[str]) -> tuple[str, ...]:
    """Return columns with those of their parameters, as `policy` has `policy.order`."""
    prefixes = tuple(f"{name}." for name in of)
    return tuple(name for name in names if name in of or name.startswith(prefixes))


def workload_axes(names: Sequence[str], but: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that together say which workload was run."""
    return tuple(name for name in with_parameters(names, [WORKLOAD]) if name not in but)


def combined(axes: Sequence[Axis], n_rows: int) -> tuple[Codes, Codes]:
    """Return the sorted combinations of values, a row of codes each, and the one of each row."""
    if not axes:
        return np.zeros((min(n_rows, 1), 0), np.intp), np.zeros(n_rows, np.intp)
    codes = np.stack([axis.codes for axis in axes], axis=1)
    cells, place = np.unique(codes, axis=0, return_inverse=True)
    return cells, place.reshape(-1)


def labels(axes: Sequence[Axis], cells: Codes, by: Sequence[str]) -> tuple[str, ...]:
    """Name combinations in the way policies are: `easy(order=sjf)`, or `easy, 240` for two columns.

    Parameters that are the same wherever their column has one value are left out.
    """
    telling = {axis.name for i, axis in enumerate(axes) if _tells(axes, cells, by, i)}
    return tuple(_label(axes, cell.tolist(), by, telling) for cell in cells)


def shown(value: Value) -> str:
    """Write a value of an axis."""
    return "none" if value is None else str(value)


def _tells(axes: Sequence[Axis], cells: Codes, by: Sequence[str], i: int) -> bool:
    owners = [j for j, axis in enumerate(axes) if axis.name in by]
    of_owners = np.unique(cells[:, owners], axis=0)
    return len(np.unique(cells[:, [*owners, i]], axis=0)) > len(of_owners)


def _label(axes: Sequence[Axis], cell: Sequence[int], by: Sequence[str], telling: set[str]) -> str:
    value = {axis.name: axis.values[code] for axis, code in zip(axes, cell, strict=True)}
    parts = []
    for name in by:
        parameters = [
            f"{other.removeprefix(f'{name}.')}={shown(value[other])}"
            for other in value
            if other in telling and other.startswith(f"{name}.") and value[other] is not None
        ]
        parts.append(shown(value[name]) + (f"({', '.join(parameters)})" if parameters else ""))
    return ", ".join(parts)


def _canonical(value: Value, column: str) -> tuple[int, Value]:
    """Return a value with the rank of its type: numbers, then truth values, texts and nothing."""
    if isinstance(value, str):
        return 2, value
    if isinstance(value, (bool, np.bool_)):
        return 1, bool(value)
    if isinstance(value, (int, float, np.integer, np.floating)):
        if math.isnan(value):
            return 3, None
        number = float(value)
        return 0, int(number) if number.is_integer() and abs(number) < 2**53 else value
    if value is None or str(value) in ("<NA>", "NaT"):
        return 3, None
    if isinstance(value, (list, tuple, dict, set, np.ndarray)):
        raise InputError(f"{column}: got {value!r}, expected a text or a number a row")
    return 2, str(value)
