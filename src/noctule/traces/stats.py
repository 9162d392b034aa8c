"""What a trace looks like: how many jobs, how large, how long, how well estimated, when, and whose.

Distributions are taken over the jobs that ran; the others are counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from noctule.columns import Floats
from noctule.errors import InputError
from noctule.formats.headers import Headers, date_at, hosts_told, unix_start_time, zone_told
from noctule.parts import Column, Parts
from noctule.traces.quantities import total
from noctule.traces.reading import has_run
from noctule.workload import Label, Workload

STATISTICS = ("mean", "min", "p25", "median", "p75", "p95", "max")
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
# Dates are looked up once a quarter of an hour: no time zone changes in between.
_QUARTER = 900
_UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class UserStats:
    """What one user did; `area` is in host-seconds, `accuracy` the mean of runtime / walltime."""

    user: Label
    n_jobs: int
    area: float
    share: float
    mean_size: float
    median_runtime: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class TraceStats:
    """Numbers about a trace; None or NaN where something is not known.

    `load` is the host-seconds of all jobs, of those there are from the first submission to the
    last; `utilisation` the same from the first recorded start to the last recorded end.
    """

    n_jobs: int
    n_ran: int
    n_users: int | None
    n_groups: int | None
    n_queues: int | None
    first_submission: float
    last_submission: float
    first_date: str | None
    last_date: str | None
    n_hosts: int | None
    area: float
    load: float
    utilisation: float
    serial: float
    powers_of_two: float
    at_walltime: float
    distributions: Mapping[str, Mapping[str, float]]
    by_hour: tuple[int, ...]
    by_weekday: tuple[int, ...] | None
    time_zone: str | None
    users: tuple[UserStats, ...]


@np.errstate(over="ignore", invalid="ignore")  # numbers too large come out as such
def trace_stats(workload: Workload, *, n_hosts: int | None = None) -> TraceStats:
    """Measure a trace, on a machine of `n_hosts`, by default the one its headers tell."""
    parts = Parts.of(workload)
    if not len(parts):
        raise InputError(f"{parts.where}: got no job, expected at least one")
    parts.refuse_untimed()
    headers = parts.about.headers or {}
    n_hosts = hosts_told(headers) if n_hosts is None else n_hosts
    ran = has_run(parts)
    sizes, runtime = parts.n_hosts[ran], parts.runtime[ran]
    area = total(sizes * runtime)
    submit = parts.submit_time
    first, last = float(submit[0]), float(submit[-1])
    by_hour, by_weekday, time_zone = _arrivals(submit, headers)
    walltime = parts.walltime[ran]
    return TraceStats(
        n_jobs=len(parts),
        n_ran=int(np.count_nonzero(ran)),
        n_users=_n_labels(parts, "user"),
        n_groups=_n_labels(parts, "group"),
        n_queues=_n_labels(parts, "queue"),
        first_submission=first,
        last_submission=last,
        first_date=date_at(headers, first),
        last_date=date_at(headers, last),
        n_hosts=n_hosts,
        area=area,
        load=_ratio(area, (n_hosts or math.nan) * (last - first)),
        utilisation=_utilisation(parts, ran, n_hosts),
        serial=_share(sizes == 1),
        powers_of_two=_share((sizes & (sizes - 1)) == 0),
        at_walltime=_share((runtime >= walltime)[np.isfinite(walltime)]),
        distributions=_distributions(parts, ran),
        by_hour=by_hour,
        by_weekday=by_weekday,
        time_zone=time_zone,
        users=_users(parts, ran, area),
    )


def _distributions(parts: Parts, ran: npt.NDArray[np.bool_]) -> dict[str, dict[str, float]]:
    sizes, runtime, walltime = parts.n_hosts[ran], parts.runtime[ran], parts.walltime[ran]
    limited = np.isfinite(walltime)
    wait = parts.recorded("wait_time")
    waits = np.empty(0) if wait is None else wait[ran]
    quantities: dict[str, Floats] = {
        "size": sizes.astype(float),
        "runtime": runtime,
        "walltime": walltime[limited],
        "accuracy": runtime[limited] / walltime[limited],
        "area": sizes * runtime,
        "waiting_time": waits[waits >= 0],
        "interarrival": np.diff(parts.submit_time),
    }
    return {name: _statistics(values) for name, values in quantities.items() if len(values)}


def _statistics(values: Floats) -> dict[str, float]:
    p25, median, p75, p95 = np.percentile(values, [25, 50, 75, 95]).tolist()
    mean = total(values) / len(values)
    numbers = (mean, float(values.min()), p25, median, p75, p95, float(values.max()))
    return dict(zip(STATISTICS, numbers, strict=True))


def _utilisation(parts: Parts, ran: npt.NDArray[np.bool_], n_hosts: int | None) -> float:
    wait = parts.recorded("wait_time")
    if wait is None or n_hosts is None:
        return math.nan
    known = ran & (wait >= 0)
    if not known.any():
        return math.nan
    began = parts.submit_time[known] + wait[known]
    runtime = parts.runtime[known]
    length = float((began + runtime).max()) - float(began.min())
    return _ratio(total(parts.n_hosts[known] * runtime), n_hosts * length)


def _arrivals(
    submit: Floats, headers: Headers
) -> tuple[tuple[int, ...], tuple[int, ...] | None, str | None]:
    """Count submissions by hour of the day and by weekday, in the log's time zone."""
    start = unix_start_time(headers)
    if start is None:
        hours = (submit % 86_400 // 3600).astype(np.int64)
        return tuple(np.bincount(hours, minlength=24).tolist()), None, None
    zone, name = zone_told(headers)
    quarters, counts = np.unique((submit + start) // _QUARTER, return_counts=True)
    by_hour, by_weekday = [0] * 24, [0] * 7
    for quarter, count in zip(quarters.tolist(), counts.tolist(), strict=True):
        try:
            date = datetime.fromtimestamp(quarter * _QUARTER, zone)
        except (OverflowError, ValueError, OSError):
            continue  # no calendar goes that far
        by_hour[date.hour] += count
        by_weekday[date.weekday()] += count
    return tuple(by_hour), tuple(by_weekday), name


def _users(parts: Parts, ran: npt.NDArray[np.bool_], area: float) -> tuple[UserStats, ...]:
    """Return each user's row, the one with the largest area first."""
    column = parts.labels.get("user")
    if column is None:
        return ()
    users, codes = _coded(column)
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(len(users) + 1))
    runtime = parts.runtime
    areas = np.where(ran, parts.n_hosts * runtime, 0.0)
    accuracy = np.where(np.isfinite(parts.walltime), runtime / parts.walltime, math.nan)
    rows = []
    for k, user in enumerate(users):
        mine = order[bounds[k] : bounds[k + 1]]
        active = mine[ran[mine]]
        known = accuracy[active]
        own = total(areas[mine])
        rows.append(
            UserStats(
                user=user,
                n_jobs=len(mine),
                area=own,
                share=_ratio(own, area),
                mean_size=_mean(parts.n_hosts[active].astype(float)),
                median_runtime=float(np.median(runtime[active])) if len(active) else math.nan,
                accuracy=_mean(known[~np.isnan(known)]),
            )
        )
    return tuple(sorted(rows, key=lambda row: (-row.area, -row.n_jobs, str(row.user))))


def _coded(column: Column) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """Return the different labels, and which of them each job has; None is one, too."""
    if column.dtype.kind == "i":
        values, codes = np.unique(column, return_inverse=True)
        return [None if value < 0 else value for value in values.tolist()], codes
    found: dict[Any, int] = {}
    codes = np.array([found.setdefault(value, len(found)) for value in column.tolist()])
    return list(found), codes


def _n_labels(parts: Parts, name: str) -> int | None:
    column = parts.labels.get(name)
    if column is None:
        return None
    return len(set(column.tolist()) - {None, _UNKNOWN})


def _mean(values: Floats) -> float:
    return total(values) / len(values) if len(values) else math.nan


def _share(values: npt.NDArray[np.bool_]) -> float:
    return _ratio(int(np.count_nonzero(values)), len(values))


def _ratio(amount: float, whole: float) -> float:
    return amount / whole if whole > 0 else math.nan
