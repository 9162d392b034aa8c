"""The energy of a run: joules of hosts, of what they were spent on, and of any time.

Power is a step function of all hosts' watts. With SimGrid's billing, and in files, only joules at
some dates are known: power is then the mean between two of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from noctule.errors import InputError
from noctule.record import Floats, RecordLike

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SPENDINGS", "Energy"]

#: What hosts spend energy on.
SPENDINGS = ("idle", "computing", "switching", "sleeping")


class Energy:
    """Joules and watts of all hosts of a run, those of storages included.

    Attributes:
        end: the date up to which they were counted.
        spent: joules of each host, one column for each of SPENDINGS; no rows where files do not
            tell them.
    """

    def __init__(
        self, record: RecordLike, spent: npt.NDArray[np.float64], end: float, names: Sequence[str]
    ) -> None:
        """Take what a run has recorded, and the names of its hosts."""
        self.end = end
        self.spent = spent
        self._names = names
        self._record = record

    @cached_property
    def steps(self) -> tuple[Floats, Floats]:
        """Dates, and the watts of all hosts from each of them up to the next, or to the end."""
        record = self._record
        if len(record.power_time):
            return record.power_time, record.power_watts
        time = np.concatenate([[0.0], record.energy_time])
        joules = np.concatenate([[0.0], record.energy_joules])
        if len(self.spent):
            time = np.append(time, self.end)
            joules = np.append(joules, self.spent.sum())
        last = np.append(np.diff(time) > 0, True)
        time, joules = time[last], joules[last]
        with np.errstate(over="ignore"):
            return time[:-1], np.diff(joules) / np.diff(time)

    def joules(self, start: float | None = None, end: float | None = None) -> float:
        """Return what was drawn from a date to another; by default, in the whole run."""
        first = 0.0 if start is None else start
        last = self.end if end is None else end
        if not first <= last:
            raise InputError(f"energy: got {first} to {last}, expected a later date to end with")
        time, watts = self.steps
        edges = np.clip(np.append(time, self.end), first, last)
        with np.errstate(over="ignore", invalid="ignore"):
            parts = watts * np.diff(edges)
            return math.fsum(parts.tolist()) if np.isfinite(parts).all() else float(parts.sum())

    def mean_power(self, start: float | None = None, end: float | None = None) -> float:
        """Return the mean of the watts between two dates; NaN if no time is between them."""
        first = 0.0 if start is None else max(start, 0.0)
        last = self.end if end is None else min(end, self.end)
        return self.joules(first, last) / (last - first) if last > first else math.nan

    @property
    def by_spending(self) -> dict[str, float]:
        """Joules of the run by what they were spent on; NaN where files do not tell it."""
        if not len(self.spent):
            return dict.fromkeys(SPENDINGS, math.nan)
        columns = self.spent.T.tolist()
        return {name: math.fsum(part) for name, part in zip(SPENDINGS, columns, strict=True)}

    @cached_property
    def hosts(self) -> pd.DataFrame:
        """Joules of each host, by what they were spent on, and in all."""
        import pandas as pd

        data = {"name": self._names[: len(self.spent)]}
        parts = {name: self.spent[:, i] for i, name in enumerate(SPENDINGS)}
        table = pd.DataFrame(data | parts | {"joules": self.spent.sum(axis=1)})
        table.index.name = "host"
        return table

    @cached_property
    def power(self) -> pd.DataFrame:
        """The watts of all hosts from each date on."""
        import pandas as pd

        time, watts = self.steps
        return pd.DataFrame({"time": time, "watts": watts})
