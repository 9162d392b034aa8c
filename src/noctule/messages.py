"""What crosses the decision boundary: events (past tense) and decisions (imperative).

Events carry the date at which they happened. A decision takes effect at once, or at `time` if it
has one; a `job` is a job of the View or its id.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from noctule._core import HostSet, ViewJob
from noctule.workload import Job, JobId

__all__ = [
    "CallAt",
    "CancelCall",
    "Decision",
    "Event",
    "HostsReleased",
    "JobCancelled",
    "JobFinished",
    "JobSubmitted",
    "KillJob",
    "RegisterJob",
    "RejectJob",
    "SimulationStarted",
    "StartJob",
    "TimerFired",
]


class SimulationStarted(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Time begins; the first event of every run."""

    time: float


class JobSubmitted(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A job joined the queue."""

    time: float
    job: ViewJob


class JobFinished(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A running job ended: `state` is completed, timed_out, killed or failed."""

    time: float
    job: ViewJob
    state: str


class JobCancelled(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A waiting job left the queue, because its user gave up."""

    time: float
    job: ViewJob


class HostsReleased(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The hosts of an ended job came out of its epilogue, and are free."""

    time: float
    job: ViewJob


class TimerFired(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A call asked with CallAt is due."""

    time: float
    tag: str


class StartJob(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Start a waiting job, on these hosts, or on the first free ones."""

    job: ViewJob | JobId
    hosts: HostSet | Iterable[int] | None = None
    time: float | None = None


class RejectJob(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Refuse a waiting job for good."""

    job: ViewJob | JobId
    time: float | None = None


class KillJob(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Stop a running job; one that has already ended is left alone."""

    job: ViewJob | JobId
    time: float | None = None


class CallAt(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Call the policy at a date; a second call with the same tag replaces the first."""

    time: float
    tag: str = ""


class CancelCall(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Forget the call with this tag."""

    tag: str = ""


class RegisterJob(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Add a job of the policy's own, submitted at its submit_time, or now if that has passed."""

    job: Job


#: Any event.
Event = SimulationStarted | JobSubmitted | JobFinished | JobCancelled | HostsReleased | TimerFired
#: Any decision.
Decision = StartJob | RejectJob | KillJob | CallAt | CancelCall | RegisterJob
