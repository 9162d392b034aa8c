"""Which metrics are better when they are larger, and in what unit they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from noctule.errors import InputError


@dataclass(frozen=True, slots=True)
class Objective:
    """Whether less or more of a metric is better (None: neither is), and its unit."""

    better: Literal["smaller", "larger"] | None = "smaller"
    unit: str = ""

    def __post_init__(self) -> None:
        if self.better not in ("smaller", "larger", None):
            raise InputError(f"better: got {self.better!r}, expected 'smaller', 'larger' or None")


_WITHOUT_DIRECTION = Objective(None, "jobs")
_FEW = Objective("smaller", "jobs")
_MANY = Objective("larger", "jobs")

_SINGLE = {
    "n_jobs": _WITHOUT_DIRECTION,
    "n_ended": _MANY,
    "n_completed": _MANY,
    "n_timed_out": _FEW,
    "n_killed": _FEW,
    "n_failed": _FEW,
    "n_rejected": _FEW,
    "n_cancelled": _FEW,
    "n_running": _WITHOUT_DIRECTION,
    "n_waiting": _FEW,
    "n_zero_runtime": _WITHOUT_DIRECTION,
    "makespan": Objective("smaller", "s"),
    "utilisation": Objective("larger"),
    "throughput": Objective("larger", "jobs/s"),
    "goodput": Objective("larger"),
    "joules": Objective("smaller", "J"),
    "mean_power": Objective("smaller", "W"),
    "joules_per_job": Objective("smaller", "J"),
}
_FAMILIES = {
    "waiting_time": Objective("smaller", "s"),
    "turnaround_time": Objective("smaller", "s"),
    "slowdown": Objective("smaller"),
    "bounded_slowdown": Objective("smaller"),
}
_TRIMMED = "trimmed_"
_STATISTICS = ("mean", "median", "p90", "p95", "p99", "max")


def objective_of(metric: str) -> Objective:
    """Return what is better for a metric; one that is not known is better when smaller."""
    return _known(metric) or Objective()


def is_metric(column: str) -> bool:
    """Tell whether a column has the name of a metric of Noctule."""
    return _known(column) is not None


def _known(name: str) -> Objective | None:
    name = name.removeprefix(_TRIMMED)
    statistic, _, family = name.partition("_")
    if statistic in _STATISTICS and family in _FAMILIES:
        return _FAMILIES[family]
    return _SINGLE.get(name)
