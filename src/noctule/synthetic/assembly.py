"""Makes a Workload of what a model has drawn: sizes, runtimes and dates become jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from noctule.columns import KIND_COMPUTE, KIND_DELAY, Floats
from noctule.errors import InputError
from noctule.synthetic.arrivals import Arrivals
from noctule.synthetic.draws import Seed
from noctule.synthetic.estimates import FactorWalltimes, WalltimeModel, Walltimes
from noctule.workload import Columns, ReadingRule, Workload

EXACT = FactorWalltimes(1.0)
KINDS = {"compute": KIND_COMPUTE, "delay": KIND_DELAY}


@dataclass(frozen=True, slots=True)
class DrawnJobs:
    """Jobs as a model draws them; dates may be fractions of seconds, and in any order.

    A model may draw what users ask for, and how long each waits until the job is cancelled.
    """

    submit_time: Floats
    n_hosts: npt.NDArray[Any]
    runtime: Floats
    labels: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    walltime: Floats | None = None
    cancelled_after: Floats | None = None

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.submit_time)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where drawn jobs come from, as the headers of a file tell it."""

    model: str
    seed: Seed
    n_hosts: int | None = None
    note: str = ""

    def headers(self, n_jobs: int) -> dict[str, str]:
        """Return headers of the Standard Workload Format."""
        seed = f"seed {self.seed}" if isinstance(self.seed, int) else "a generator given"
        headers = {
            "Version": "2.2",
            "Computer": f"none; drawn from the model {self.model}",
            "MaxJobs": str(n_jobs),
            "MaxRecords": str(n_jobs),
            "Note": ", ".join(part for part in (f"{self.model}: {seed}", self.note) if part),
        }
        if self.n_hosts is not None:
            headers |= {"MaxNodes": str(self.n_hosts), "MaxProcs": str(self.n_hosts)}
        return headers


def assembled(
    drawn: DrawnJobs,
    origin: Origin,
    rng: np.random.Generator,
    *,
    arrivals: Arrivals | None = None,
    walltimes: WalltimeModel | None = EXACT,
    profiles: str = "compute",
) -> Workload:
    """Lay arrivals over the dates, give walltimes, and number the jobs by submission from 1.

    Without a model of walltimes, these are as drawn.
    """
    if profiles not in KINDS:
        expected = " or ".join(map(repr, KINDS))
        raise InputError(f"profiles: got {profiles!r}, expected {expected}")
    kind = KINDS[profiles]
    drawn = dated(drawn, arrivals, rng)
    # whole seconds, as in every log; they also hide the last bit, which machines may differ in
    runtime = np.maximum(np.floor(drawn.runtime), 1.0)
    if walltimes is None:
        assert drawn.walltime is not None
        asked = Walltimes(np.maximum(drawn.walltime, runtime))
    else:
        asked = walltimes.draw(runtime, rng)
    walltime = asked.walltime
    if kind == KIND_DELAY:
        # a delay must be over before its walltime, a computation may last as long
        walltime = np.maximum(walltime, runtime + 1.0)
    n = len(drawn)
    columns = Columns(
        job_ids=np.arange(1, n + 1, dtype=np.int64),
        submit_time=drawn.submit_time,
        n_hosts=drawn.n_hosts,
        amount=runtime,
        walltime=walltime,
        kind=np.full(n, kind),
        cancel_time=_cancel_times(drawn),
    )
    return Workload(
        columns,
        reference_speed=None,
        labels=drawn.labels,
        headers=origin.headers(n),
        reading=_rules(n, asked.rules),
        source=origin.model,
    )


def dated(drawn: DrawnJobs, arrivals: Arrivals | None, rng: np.random.Generator) -> DrawnJobs:
    """Return the jobs with their final dates, in whole seconds, sorted by them."""
    submit = drawn.submit_time if arrivals is None else arrivals.applied(drawn.submit_time, rng)
    submit = np.floor(submit)
    order = np.argsort(submit, kind="stable")
    return DrawnJobs(
        submit[order],
        drawn.n_hosts[order],
        drawn.runtime[order],
        {name: column[order] for name, column in drawn.labels.items()},
        None if drawn.walltime is None else drawn.walltime[order],
        None if drawn.cancelled_after is None else drawn.cancelled_after[order],
    )


def _cancel_times(drawn: DrawnJobs) -> Floats | None:
    if drawn.cancelled_after is None:
        return None
    date: Floats = drawn.submit_time + np.floor(drawn.cancelled_after)
    return date


def _rules(n: int, others: Sequence[ReadingRule]) -> list[ReadingRule]:
    return [ReadingRule("jobs drawn", n), *others]
