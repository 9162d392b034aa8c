"""What `noctule slurm compare` and `replay` found, as tables, sentences and data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from noctule.console import Result, Table
from noctule.slurm.truth.fidelity import (
    NAMES,
    Deviation,
    Means,
    Spread,
    Starts,
    deviation,
    spread,
    true_means,
)
from noctule.slurm.truth.live import LiveRun, unseen

if TYPE_CHECKING:
    from noctule.slurm.truth.compare import Comparison
    from noctule.slurm.truth.sets import Truth

_HEADERS = ("", *NAMES, "starts", "within 3 s", "node lists", "sum |start error| / sum wait")


def describe_truth(truth: Truth) -> Iterator[str]:
    """Say what a set is, and what of it is not compared."""
    log = truth.log
    yield (
        f"{truth.name}: {len(truth.jobs)} jobs, {len(log.passes)} main passes, "
        f"{len(log.cycles)} backfill cycles"
    )
    if truth.n_left_out:
        yield f"{truth.name}: {truth.n_left_out} jobs never ended: left out"


def comparison_result(comparison: Comparison) -> Result:
    """Return the deviations for people, and all starts for programs."""
    jobs = comparison.truth.jobs
    rows = [
        _truth_row(comparison.truth),
        _row("decisions", deviation(jobs, comparison.decisions)),
        _row("triggers", deviation(jobs, comparison.triggers)),
        _row("first instants only", deviation(jobs, comparison.first_instants)),
        *_spread_rows(len(comparison.ensemble), spread(jobs, comparison.ensemble)),
    ]
    data = {
        "decisions": _starts(comparison.decisions),
        "triggers": _starts(comparison.triggers),
        "ensemble": [_starts(starts) for starts in comparison.ensemble],
    }
    return Result(data, Table(_HEADERS, rows))


def bsc_result(truth: Truth, starts: Starts) -> Result:
    """Return how far a run in the mode of BSC's simulator is from what happened."""
    rows = [_truth_row(truth), _row("bsc", deviation(truth.jobs, starts))]
    return Result({"bsc": _starts(starts)}, Table(_HEADERS, rows))


def _truth_row(truth: Truth) -> list[str]:
    found, n_jobs = true_means(truth.jobs), str(len(truth.jobs))
    means = [f"{found.wait:.1f} s", f"{found.response:.1f} s", f"{found.slowdown:.2f}"]
    return ["truth", *means, n_jobs, n_jobs, n_jobs, "-"]


def _row(name: str, found: Deviation) -> list[str]:
    counts = (found.n_exact_starts, found.n_close_starts, found.n_exact_nodes)
    return [name, *_percents(found.relative), *map(str, counts), _share(found.start_error)]


def _spread_rows(n_runs: int, found: Spread) -> list[list[str]]:
    nothing = ["-"] * 3
    distances = [_number(getattr(found.distance, name)) for name in NAMES]
    deviations = [_share(getattr(found.deviation, name)) for name in NAMES]
    return [
        [
            f"ensemble of {n_runs}: mean",
            *_percents(found.means),
            *nothing,
            _share(found.start_error),
        ],
        ["  standard deviation", *deviations, *nothing, "-"],
        ["  |truth - mean| / sd", *distances, *nothing, "-"],
    ]


def _percents(values: Means) -> list[str]:
    found = [getattr(values, name) for name in NAMES]
    return ["-" if math.isnan(value) else f"{100 * value:+.2f} %" for value in found]


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:.2f} %"


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


def _starts(starts: Starts) -> list[dict[str, Any]]:
    return [
        {"jobid": one.job_id, "start": math.floor(one.start), "nodes": one.nodes} for one in starts
    ]


def replay_result(path: str, run: LiveRun, files: Sequence[str]) -> Result:
    """Return how a replay on a live Slurm went."""
    n_unseen = len(list(unseen(run)))
    data = {
        "output": path,
        "files": list(files),
        "n_submitted": len(run.submissions),
        "n_refused": len(run.refused),
        "n_without_end": n_unseen,
        "largest_lag": run.largest_lag,
    }
    lines = [
        f"{len(run.submissions)} jobs submitted, at most {run.largest_lag:.2f} s late",
        *([f"{len(run.refused)} jobs refused"] if run.refused else []),
        *([f"{n_unseen} jobs whose end is not known"] if n_unseen else []),
        f"{path}: {len(files)} files written",
    ]
    return Result(data, lines=lines)
