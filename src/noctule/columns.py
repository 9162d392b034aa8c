"""The columns that a Workload is made of: checked once, and put in order of submission."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from noctule.errors import InputError
from noctule.platform import MAX_HOSTS

Floats = npt.NDArray[np.float64]
Order = npt.NDArray[np.intp]
IdColumn = npt.NDArray[np.int64] | Sequence[str]

KIND_DELAY, KIND_COMPUTE, KIND_PROGRAM, KIND_UNSUPPORTED = range(4)

# Larger numbers are shown with an exponent.
_ALL_DIGITS = 1e15

_CANONICAL = re.compile(r"0|-?[1-9][0-9]{0,18}")
_INT64 = np.iinfo(np.int64)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns a Workload is made of; all of one length, in any order of submission."""

    job_ids: IdColumn
    submit_time: npt.ArrayLike
    n_hosts: npt.ArrayLike
    amount: npt.ArrayLike
    walltime: npt.ArrayLike | None = None
    kind: npt.ArrayLike | None = None
    failing: npt.ArrayLike | None = None
    cancel_time: npt.ArrayLike | None = None
    launch_delay: npt.ArrayLike | None = None
    epilogue_delay: npt.ArrayLike | None = None


def sorted_columns(
    where: str, columns: Columns
) -> tuple[Order | None, dict[str, npt.NDArray[Any]]]:
    """Check the columns; return the order of submission (None: as it is) and them in that order.

    Jobs submitted at the same time keep the order in which they were given.
    """
    _refuse_duplicates(where, columns.job_ids)
    arrays = _Checker(where, columns.job_ids).arrays(columns)
    submit = arrays["submit_time"]
    if bool(np.all(submit[1:] >= submit[:-1])):
        return None, arrays
    order = np.argsort(submit, kind="stable")
    return order, {name: array[order] for name, array in arrays.items()}


def permuted(values: Any, order: Order | None) -> Any:
    """Return an array or a sequence in another order; None leaves it as it is."""
    if order is None:
        return values
    if isinstance(values, np.ndarray):
        return values[order]
    return [values[i] for i in order.tolist()]


def aligned(where: str, what: str, values: Any, n: int, order: Order | None) -> Any:
    """Return a column of so many jobs, in the order of their submissions."""
    if len(values) != n:
        raise InputError(f"{where}: {what}: got {len(values)} values, expected {n}")
    return permuted(values, order)


def aligned_extra(where: str, extra: Any, n: int, order: Order | None) -> Any:
    """Return columns by name, a mapping a job, or nothing, likewise."""
    if isinstance(extra, Mapping):
        return {name: aligned(where, name, column, n, order) for name, column in extra.items()}
    return None if extra is None else aligned(where, "extra", extra, n, order)


def id_column(ids: Sequence[int | str]) -> npt.NDArray[np.int64] | list[str]:
    """Return the ids as numbers if each is a canonical decimal integer, else all as text."""
    for job_id in ids:
        check_id(job_id)
    texts = [str(i) for i in ids]
    if all(_is_canonical(text) for text in texts):
        return np.array([int(text) for text in texts], dtype=np.int64)
    return texts


def check_id(job_id: object) -> None:
    """Refuse what cannot be the id of a job."""
    good = isinstance(job_id, str) and job_id and job_id.isprintable()
    if isinstance(job_id, int) and not isinstance(job_id, bool):
        good = True
    if not good:
        raise InputError(f"job id: got {job_id!r}, expected a whole number or a text")


def shown(value: float) -> str:
    """Write a number as a message shows it: 3, not 3.0."""
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < _ALL_DIGITS else repr(value)


def _is_canonical(text: str) -> bool:
    return _CANONICAL.fullmatch(text) is not None and _INT64.min <= int(text) <= _INT64.max


def _refuse_duplicates(where: str, ids: IdColumn) -> None:
    if isinstance(ids, np.ndarray):
        if bool(np.all(ids[1:] > ids[:-1])):
            return
        values, counts = np.unique(ids, return_counts=True)
        if len(values) < len(ids):
            raise InputError(f"{where}: duplicate job id {values[counts > 1][0]}")
        return
    seen: set[str] = set()
    for job_id in ids:
        if job_id in seen:
            raise InputError(f"{where}: duplicate job id {job_id}")
        seen.add(job_id)


@dataclass(frozen=True, slots=True)
class _Checker:
    """Turns columns into arrays, and says which job is wrong if one is."""

    where: str
    ids: IdColumn

    def arrays(self, columns: Columns) -> dict[str, npt.NDArray[Any]]:
        """Return what the native table takes, in the order given."""
        submit = self.numbers("submit_time", columns.submit_time, 0.0)
        self.demand("submit_time", submit, np.isfinite(submit) & (submit >= 0), "a number >= 0")
        hosts = self.numbers("n_hosts", columns.n_hosts, 1.0)
        whole = (hosts >= 1) & (hosts <= MAX_HOSTS) & (hosts == np.floor(hosts))
        self.demand("n_hosts", hosts, whole, f"a whole number from 1 to {MAX_HOSTS}")
        amount = self.numbers("amount", columns.amount, 0.0)
        self.demand("runtime", amount, np.isfinite(amount) & (amount >= 0), "a number >= 0")
        walltime = self.numbers("walltime", columns.walltime, math.inf)
        self.demand("walltime", walltime, walltime > 0, "a positive number")
        arrays: dict[str, npt.NDArray[Any]] = {
            "submit_time": submit,
            "walltime": walltime,
            "n_hosts": hosts.astype(np.uint32),
            "amount": amount,
            "kind": self.numbers("kind", columns.kind, KIND_COMPUTE).astype(np.uint8),
            "failing": self.numbers("failing", columns.failing, 0.0).astype(np.uint8),
        }
        if columns.cancel_time is not None:
            cancel = self.numbers("cancel_time", columns.cancel_time, math.inf)
            self.demand("cancel_time", cancel, cancel >= 0, "a number >= 0")
            arrays["cancel_time"] = cancel
        for name in ("launch_delay", "epilogue_delay"):
            values = getattr(columns, name)
            if values is not None:
                delay = self.numbers(name, values, 0.0)
                self.demand(name, delay, np.isfinite(delay) & (delay >= 0), "a number >= 0")
                arrays[name] = delay
        return arrays

    def numbers(self, name: str, values: npt.ArrayLike | None, default: float) -> Floats:
        """Return a column as numbers, as many as there are ids."""
        n = len(self.ids)
        try:
            array = np.full(n, default) if values is None else np.ascontiguousarray(values, float)
        except (TypeError, ValueError) as error:
            raise InputError(f"{self.where}: {name}: expected numbers ({error})") from None
        if array.shape != (n,):
            raise InputError(f"{self.where}: {name}: got {array.size} values, expected {n}")
        return array

    def demand(self, name: str, array: Floats, good: npt.NDArray[np.bool_], expected: str) -> None:
        """Refuse the first job whose value is not good."""
        if not good.all():
            i = int(np.argmin(good))
            raise InputError(
                f"{self.where}: job {self.ids[i]}: {name}: got {shown(array[i])}, "
                f"expected {expected}"
            )
