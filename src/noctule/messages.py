"""What crosses the decision boundary: events (past tense) and decisions (imperative).

Events carry the date at which they happened. A decision takes effect at once, or at `time` if it
has one; a `job` is a job of the View or its id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from noctule._core import HostSet, ViewJob
from noctule.workload import Job, JobId

__all__ = [
    "CallAt",
    "CancelCall",
    "Decision",
    "Event",
    "HostFailed",
    "HostRestored",
    "HostsReleased",
    "JobCancelled",
    "JobFinished",
    "JobSubmitted",
    "KillJob",
    "MessageSent",
    "PowerStateChanged",
    "RegisterJob",
    "RejectJob",
    "SendMessage",
    "SetPowerState",
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


class MessageSent(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A running job told something: `message` is the JSON text of its profile."""

    time: float
    job: ViewJob
    message: str


class PowerStateChanged(msgspec.Struct, frozen=True, gc=False, tag=True):
    """All hosts of a SetPowerState have reached the power state."""

    time: float
    hosts: HostSet
    state: int


class HostFailed(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A host went off by itself; a job on it has failed."""

    time: float
    host: int


class HostRestored(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A host that had failed is back."""

    time: float
    host: int


class StartJob(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Start a waiting job, on these hosts, or on the first free ones.

    With a `mapping`, executor i of the job runs on the host at position mapping[i] among the named
    ones; `storages` are ids of storage hosts, by the labels that the job's profile uses.
    """

    job: ViewJob | JobId
    hosts: HostSet | Iterable[int] | None = None
    time: float | None = None
    mapping: Sequence[int] | None = None
    storages: Mapping[str, int] | None = None


class RejectJob(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Refuse a waiting job for good."""

    job: ViewJob | JobId
    time: float | None = None


class KillJob(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Stop a running job; one that has already ended is left alone."""

    job: ViewJob | JobId
    time: float | None = None


class SetPowerState(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Bring hosts to a power state: at once between those that compute, otherwise by switching."""

    hosts: HostSet | Iterable[int]
    state: int
    time: float | None = None


class SendMessage(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Put a message into the inbox of a running job, whose profile may wait for it."""

    job: ViewJob | JobId
    message: str
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
Event = (
    SimulationStarted
    | JobSubmitted
    | JobFinished
    | JobCancelled
    | HostsReleased
    | TimerFired
    | MessageSent
    | PowerStateChanged
    | HostFailed
    | HostRestored
)
#: Any decision.
Decision = (
    StartJob | RejectJob | KillJob | SetPowerState | SendMessage | CallAt | CancelCall | RegisterJob
)
