"""What a run emitted and cost: kilograms of carbon dioxide and euros, by job, by user and in all.

Those of the run are the integral of its power times the rate. Of a job only its joules are known,
not when it drew them: they are spread evenly over its runtime. That is exact where its hosts drew
the same all the time, as those of a job that computes from its start to its end do. What no job
drew is nobody's: of hosts that were idle, asleep or switching, of epilogues, and of jobs that were
still running when a run was stopped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from noctule.host_shares import parts_of_hosts
from noctule.rates import Rates, amounts_of
from noctule.record import Floats, has_ended
from noctule.saved.power_text import switching_dates
from noctule.schedule import Schedule
from noctule.user_metrics import coded_users, sums_of_users

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Footprint"]

Amounts = dict[str, float]


class Footprint:
    """Joules of a run, with what they emitted and cost as far as the rates tell it.

    Every table and dictionary has `joules`, and `co2_kg` and `cost_eur` where there is such a rate.
    Jobs that share hosts have equal parts of what these drew.
    """

    def __init__(self, schedule: Schedule, rates: Rates) -> None:
        """Take a run that counted energy, and rates that are known all through it."""
        rates.demand(0.0, schedule.energy.end)
        self.schedule = schedule
        self.rates = rates

    @cached_property
    def run(self) -> Amounts:
        """Those of the whole run."""
        energy = self.schedule.energy
        return {"joules": energy.joules()} | amounts_of(energy, self.rates, 0.0, energy.end)

    @cached_property
    def nobody(self) -> Amounts:
        """Those of the run that are no job's."""
        return {name: self.run[name] - math.fsum(_known(c)) for name, c in self.of_jobs.items()}

    @cached_property
    def of_jobs(self) -> Mapping[str, Floats]:
        """Those of each job, in the order of `schedule.jobs`; NaN where no joules are known."""
        schedule = self.schedule
        joules = schedule.column("energy") * parts_of_hosts(schedule)
        columns = {"joules": joules}
        counted = ~np.isnan(joules)
        dates = schedule.record.start_time[counted], schedule.record.finish_time[counted]
        for name, (rate, unit) in self.rates.by_amount.items():
            columns[name] = np.full(len(joules), math.nan)
            columns[name][counted] = joules[counted] * rate.means(*dates) / unit
        return columns

    @cached_property
    def n_uneven(self) -> int:
        """Jobs that may have drawn more at one time than at another, as far as dates tell it.

        While they ran, power changed where no job began or ended and no host was switched.
        """
        schedule = self.schedule
        record = schedule.record
        switched = switching_dates(record, schedule.platform.n_hosts)
        expected = np.concatenate([record.start_time, record.finish_time, switched])
        changes = np.setdiff1d(schedule.energy.steps[0], expected)
        first = np.searchsorted(changes, record.start_time, side="right")
        last = np.searchsorted(changes, record.finish_time, side="left")
        return int(np.count_nonzero(has_ended(record.state) & (first < last)))

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """Those of each job, with its id, workload and user."""
        import pandas as pd

        names = ("job_id", "workload", "user")
        data: dict[str, Any] = {name: self.schedule.column(name) for name in names}
        return pd.DataFrame(data | dict(self.of_jobs))

    @cached_property
    def by_user(self) -> dict[Any, Amounts]:
        """Those of each user's jobs, and their number `n_jobs`; users not known are under None."""
        users, code = coded_users(self.schedule.column("user"))
        columns = [np.bincount(code, minlength=len(users)).tolist()]
        for column in self.of_jobs.values():
            known = np.nan_to_num(column, nan=0.0)
            columns.append(sums_of_users(known, code, len(users)).tolist())
        names = ("n_jobs", *self.of_jobs)
        rows = (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
        return dict(zip(users, rows, strict=True))

    @cached_property
    def users(self) -> pd.DataFrame:
        """The same as a table, one row a user."""
        import pandas as pd

        index = pd.Index(list(self.by_user), dtype=object, name="user")
        return pd.DataFrame(list(self.by_user.values()), index, ["n_jobs", *self.of_jobs])


def _known(values: Floats) -> list[float]:
    known: list[float] = values[~np.isnan(values)].tolist()
    return known
