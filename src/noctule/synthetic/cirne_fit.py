"""Fits the coefficients of a model after Cirne and Berman to a log.

Each law is fitted to what it describes: lines of ln x to the shares of jobs at most x, by least
squares; the polynomial of the day to the submissions by hour, likewise; the gamma variates by their
mean and variance, given that they are at most 1. Days on which many more jobs came than usual say
nothing about users' habits and are left out of the day and the week.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt

from noctule.columns import Floats
from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.formats.headers import Headers, hosts_told, unix_start_time, zone_told
from noctule.formats.swf import SwfLog, read_swf_log, swf_headers
from noctule.synthetic.arrivals import DAY, HOUR
from noctule.synthetic.cirne_coefficients import STEPS, Accuracy, Coefficients, LogUniform
from noctule.synthetic.draws import gamma_cdf

_DEGREE = 8
_CLASS_EDGES = (HOUR, 4 * HOUR, 12 * HOUR)
_FEWEST = 100
_FEWEST_CANCELLED = 50
# a day with more than this many times the jobs of the usual one of its weekday is not usual
_UNUSUAL = 4.0
_STATUS_CANCELLED = 5
_MOST_SCALE = 50.0
_ROUNDS = 60


@dataclass(frozen=True, slots=True)
class _Jobs:
    """The jobs of a log that say what the model needs, and those that were cancelled."""

    submit: Floats
    size: Floats
    requested: Floats
    runtime: Floats
    cancelled_after: Floats


def fit_cirne(path: str | os.PathLike[str]) -> Coefficients:
    """Fit the coefficients to an SWF log whose headers tell its machine.

    Where they do not tell when it began, its time 0 is taken for midnight, of a Monday.
    """
    source, text = os.fspath(path), read_bytes(path)
    headers = swf_headers(text)
    n_hosts, begin = hosts_told(headers), unix_start_time(headers)
    if n_hosts is None:
        raise InputError(f"{source}: no header MaxProcs or MaxNodes tells the size of the machine")
    jobs = _jobs(source, read_swf_log(text, source=source))
    day, hour = _calendar(source, jobs.submit, begin, headers)
    usual = _usual(day)
    sizes = _line(jobs.size, least=1.0, most=min(float(jobs.size.max()), n_hosts))
    n_days = len(np.unique(day[usual]))
    undated = ", time 0 taken for a Monday's midnight" if begin is None else ""
    return Coefficients(
        source=f"fitted to {Path(source).name}: {len(jobs.size)} jobs, {n_days} days{undated}",
        n_hosts=n_hosts,
        mean_gap=float(jobs.submit.max() - jobs.submit.min()) / (len(jobs.submit) - 1),
        hours=_polynomial(hour[usual]),
        weekdays=_weekdays(day[usual]),
        sizes=sizes,
        power_of_two=_habit(jobs.size, sizes),
        requested_time=_line(jobs.requested),
        step=_step(jobs.requested),
        accuracy=_accuracies(jobs),
        cancelled=_cancelled(jobs),
        cancellation=_line(jobs.cancelled_after) if _cancelled(jobs) else None,
    )


def _jobs(source: str, log: SwfLog) -> _Jobs:
    requested_size, allocated = (
        log.column("requested processors"),
        log.column("allocated processors"),
    )
    size = np.where(requested_size > 0, requested_size, allocated)
    requested, runtime = log.column("requested time"), log.column("run time")
    wait, submit = log.column("wait time"), log.column("submit time")
    asked = (size > 0) & (requested > 0) & (submit >= 0)
    never_ran = (log.column("status") == _STATUS_CANCELLED) & (runtime <= 0) & (wait > 0)
    kept = asked & ((runtime > 0) | never_ran)
    if np.count_nonzero(kept & (runtime > 0)) < _FEWEST:
        raise InputError(
            f"{source}: got {np.count_nonzero(kept & (runtime > 0))} jobs with processors, "
            f"requested time and run time, expected at least {_FEWEST}"
        )
    return _Jobs(submit[kept], size[kept], requested[kept], runtime[kept], wait[kept & never_ran])


def _calendar(
    source: str, submit: Floats, begin: float | None, headers: Headers
) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return the days of submissions, where the machine stood, and the hours; day 0: a Monday."""
    if begin is None:
        return (submit // DAY).astype(np.int64), submit % DAY / HOUR
    zone = zone_told(headers)[0]
    try:
        dates = [datetime.fromtimestamp(begin + second, zone) for second in submit.tolist()]
    except (OverflowError, ValueError, OSError):
        raise InputError(f"{source}: got submissions at dates that no calendar has") from None
    # the first of January of the year 1 was a Monday
    days = np.array([date.toordinal() - 1 for date in dates], dtype=np.int64)
    hours = np.array([date.hour + date.minute / 60.0 for date in dates])
    return days, hours


def _usual(day: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return which jobs came on days like others of their weekday."""
    days, index, counts = np.unique(day, return_inverse=True, return_counts=True)
    usual = np.array([np.median(counts[days % 7 == d % 7]) for d in days.tolist()])
    found: npt.NDArray[np.bool_] = (counts <= _UNUSUAL * usual)[index]
    return found


def _polynomial(hour: Floats) -> tuple[float, ...]:
    """Return the polynomial of the day, of the highest degree that is nowhere negative."""
    counts = np.bincount(hour.astype(np.int64), minlength=24)
    rate = counts / counts.mean()
    middle = (np.arange(24) + 0.5) / 12.0 - 1.0
    for degree in range(_DEGREE, -1, -1):
        found = np.polynomial.polynomial.polyfit(middle, rate, degree)
        steps = (np.arange(STEPS) + 0.5) * (2.0 / STEPS) - 1.0
        if np.polynomial.polynomial.polyval(steps, found).min() >= 0:
            return tuple(found.tolist())
    raise AssertionError("a mean of numbers >= 0 is not negative")


def _weekdays(day: npt.NDArray[np.int64]) -> tuple[float, ...]:
    """Return the mean submissions by weekday, over the mean of them all."""
    first, last = int(day.min()), int(day.max())
    n_days = np.bincount(np.arange(first, last + 1) % 7, minlength=7)
    rate = np.bincount(day % 7, minlength=7) / np.maximum(n_days, 1)
    return tuple((rate / rate.mean()).tolist())


def _line(values: Floats, *, least: float | None = None, most: float | None = None) -> LogUniform:
    """Fit a line of ln x to the share of values at most x, by least squares over the values."""
    ordered = np.sort(values)
    least = float(ordered[0]) if least is None else least
    most = float(ordered[-1]) if most is None else most
    x = np.log(ordered)
    # the middle of the step that equal values make
    share = (np.searchsorted(x, x, side="left") + np.searchsorted(x, x, side="right")) / (
        2 * len(x)
    )
    spread = float(np.var(x))
    if spread == 0:
        return LogUniform(least, least, least, most)
    slope = float(np.mean((x - x.mean()) * (share - share.mean()))) / spread
    at_zero = float(x.mean()) - float(share.mean()) / slope
    return LogUniform(math.exp(at_zero), math.exp(at_zero + 1.0 / slope), least, most)


def _habit(size: Floats, law: LogUniform) -> float:
    """Return the share of jobs moved to powers of two; some are powers without that."""
    share = float(np.mean(_is_power(size)))
    grid = np.clip(
        np.exp(np.linspace(math.log(law.low), math.log(law.high), 10_001)), law.least, law.most
    )
    by_chance = float(np.mean(_is_power(np.floor(grid + 0.5))))
    return max(0.0, (share - by_chance) / (1.0 - by_chance)) if by_chance < 1 else 0.0


def _is_power(size: Floats) -> npt.NDArray[np.bool_]:
    whole = np.maximum(size, 1.0).astype(np.int64)
    found: npt.NDArray[np.bool_] = (whole & (whole - 1)) == 0
    return found


def _step(requested: Floats) -> float:
    """Return the largest of some steps that most requested times are multiples of."""
    for step in (300.0, 60.0):
        if np.mean(requested % step == 0) > 0.9:
            return step
    return 1.0


def _accuracies(jobs: _Jobs) -> tuple[Accuracy, ...]:
    """Fit each class of requested times; a class with few jobs is joined with the next."""
    ran = jobs.runtime > 0
    requested, share = jobs.requested[ran], jobs.runtime[ran] / jobs.requested[ran]
    found: list[Accuracy] = []
    low = 0.0
    for edge in (*_CLASS_EDGES, math.inf):
        mine = share[(requested > low) & (requested <= edge)]
        if len(mine) >= _FEWEST or (edge == math.inf and not found):
            found.append(_accuracy(edge, mine))
            low = edge
    found[-1] = Accuracy(math.inf, found[-1].at_limit, found[-1].shape, found[-1].scale)
    return tuple(found)


def _accuracy(up_to: float, share: Floats) -> Accuracy:
    # who runs for more than 99 % of the time was stopped at the limit, or nearly
    below = share[share < 0.99]
    at_limit = 1.0 - len(below) / len(share)
    if len(below) < 2 or not np.var(below) > 0:
        return Accuracy(up_to, at_limit, 1.0, 1.0)
    shape, scale = _truncated_gamma(float(below.mean()), float(np.mean(below**2)))
    return Accuracy(up_to, at_limit, shape, scale)


def _truncated_gamma(mean: float, square: float) -> tuple[float, float]:
    """Return shape and scale of a gamma variate with these moments, given that it is at most 1."""

    def moments(shape: float, scale: float) -> tuple[float, float]:
        x = 1.0 / scale
        p, p1, p2 = (gamma_cdf(shape + i, x) for i in range(3))
        return shape * scale * p1 / p, shape * (shape + 1) * scale**2 * p2 / p

    def scale_of(shape: float) -> float:
        return _root(lambda scale: moments(shape, scale)[0] - mean, 0.005, _MOST_SCALE)

    # with a smaller shape no scale reaches the mean; the larger the shape, the narrower the variate
    least = 1.05 * mean / (1.0 - mean)
    shape = _root(lambda shape: square - moments(shape, scale_of(shape))[1], least, 50.0)
    return shape, scale_of(shape)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a growing function of a positive number is zero, or the nearer end."""
    for _ in range(_ROUNDS):
        middle = math.sqrt(low * high)
        if function(middle) < 0:
            low = middle
        else:
            high = middle
    return math.sqrt(low * high)


def _cancelled(jobs: _Jobs) -> float:
    n = len(jobs.cancelled_after)
    return n / len(jobs.submit) if n >= _FEWEST_CANCELLED else 0.0
