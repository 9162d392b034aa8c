"""What crosses the decision boundary: events (past tense) and decisions (imperative).

Events carry the date at which they happened. A decision takes effect at once, or at `time` if it
has one; a `job` is a job of the View or its id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from noctule._core import HostSet, ViewJob, ViewWindow
from noctule.workload import Job, JobId, Profile

__all__ = [
    "AskEnergy",
    "BusyUntil",
    "CallAt",
    "CancelCall",
    "ChangeJobState",
    "ContinueRegistration",
    "Decision",
    "EnergyAnswered",
    "Event",
    "ExternalEventOccurred",
    "ExternalEventsEnded",
    "FinishRegistration",
    "HostFailed",
    "HostRestored",
    "HostsAvailable",
    "HostsReleased",
    "HostsUnavailable",
    "JobCancelled",
    "JobFinished",
    "JobSubmitted",
    "JobsKilled",
    "KillJob",
    "KillJobs",
    "MessageSent",
    "PowerStateChanged",
    "RegisterJob",
    "RegisterProfile",
    "RejectJob",
    "RequeueJob",
    "SendMessage",
    "SetMetadata",
    "SetPowerState",
    "SimulationStarted",
    "StartJob",
    "SubmissionsEnded",
    "TimerFired",
    "WindowAnnounced",
    "WindowBegan",
    "WindowEnded",
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
    """A host went off by itself, or by an external event; a job on it has failed."""

    time: float
    host: int


class HostRestored(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A host that had failed is back."""

    time: float
    host: int


class HostsUnavailable(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Hosts were taken away from outside: jobs on them go on, new ones cannot start there."""

    time: float
    hosts: HostSet


class HostsAvailable(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Hosts that were unavailable may be used again."""

    time: float
    hosts: HostSet


class WindowAnnounced(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A maintenance or a reservation became known; those known from the beginning are not told."""

    time: float
    window: ViewWindow


class WindowBegan(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A maintenance took its hosts away, or a reservation keeps its for its jobs from now on."""

    time: float
    window: ViewWindow


class WindowEnded(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The hosts of a window may be used again as before it."""

    time: float
    window: ViewWindow


class ExternalEventOccurred(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Something else happened outside: `data` is its JSON text."""

    time: float
    data: str


class EnergyAnswered(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The answer to AskEnergy: the joules of all hosts when it took effect."""

    time: float
    joules: float


class SubmissionsEnded(msgspec.Struct, frozen=True, gc=False, tag=True):
    """All jobs of the workload have been submitted; told with the option batsim_events."""

    time: float


class ExternalEventsEnded(msgspec.Struct, frozen=True, gc=False, tag=True):
    """No more external events will occur; told with the option batsim_events."""

    time: float


class JobsKilled(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A KillJobs or KillJob is done; told with the option batsim_events.

    The jobs are those that nobody had asked to kill before. Those that really were killed have
    been told of by JobFinished, and know their `progress`; for others it is empty.
    """

    time: float
    jobs: tuple[ViewJob, ...]


class StartJob(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Start a waiting job, on these hosts, or on the first free ones.

    With a `mapping`, executor i of the job runs on the host at position mapping[i] among the named
    ones; `storages` are ids of storage hosts, by the labels that the job's profile uses. With a
    `profile`, the job does that instead of its own, on as many hosts as are named. `launch_delay`
    is added to those of the job and of the run.
    """

    job: ViewJob | JobId
    hosts: HostSet | Iterable[int] | None = None
    time: float | None = None
    mapping: Sequence[int] | None = None
    storages: Mapping[str, int] | None = None
    profile: Profile | None = None
    launch_delay: float = 0.0


class RejectJob(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Refuse a waiting job for good."""

    job: ViewJob | JobId
    time: float | None = None


class KillJob(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Stop a running job; one that has already ended is left alone."""

    job: ViewJob | JobId
    time: float | None = None


class KillJobs(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Stop several jobs at once, as KillJob does one."""

    jobs: Sequence[ViewJob | JobId]
    time: float | None = None


class RequeueJob(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Stop a running job, and submit it again from its beginning once its hosts are released.

    It ends as killed, with the `reason` as its metadata; its next attempt is a job of its own, with
    an id such as `17#2`.
    """

    job: ViewJob | JobId
    reason: str = ""
    time: float | None = None


class ChangeJobState(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Say what became of a job that the policy runs elsewhere: it gets no hosts here.

    A waiting job becomes `running` or `rejected`; one that runs so becomes `completed`, `failed`,
    `timed_out` or `killed`. No event tells of it.
    """

    job: ViewJob | JobId
    state: str
    time: float | None = None


class SetMetadata(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Write something down about a job, in place of what was written before."""

    job: ViewJob | JobId
    text: str
    time: float | None = None


class AskEnergy(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Ask for the joules of all hosts: EnergyAnswered tells them."""

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


class BusyUntil(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Deciding takes until a date: the policy is not called before it, and events wait.

    Decisions behind it in the same answer take effect then, or later if they are dated so.
    """

    time: float


class RegisterJob(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Add a job of the policy's own, submitted at its submit_time, or at once if that has passed.

    With the option batsim_events it is submitted at once, whatever its submit_time says.
    """

    job: Job
    time: float | None = None


class RegisterProfile(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Announce a profile: that changes nothing, but with Batsim's latency it takes time."""

    name: str
    time: float | None = None


class FinishRegistration(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Register no more jobs: a run with the option open_registration may end."""

    time: float | None = None


class ContinueRegistration(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Take FinishRegistration back."""

    time: float | None = None


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
    | HostsUnavailable
    | HostsAvailable
    | ExternalEventOccurred
    | EnergyAnswered
    | SubmissionsEnded
    | ExternalEventsEnded
    | JobsKilled
    | WindowAnnounced
    | WindowBegan
    | WindowEnded
)
#: Any decision.
Decision = (
    StartJob
    | RejectJob
    | KillJob
    | KillJobs
    | RequeueJob
    | ChangeJobState
    | SetMetadata
    | AskEnergy
    | SetPowerState
    | SendMessage
    | CallAt
    | CancelCall
    | BusyUntil
    | RegisterJob
    | RegisterProfile
    | FinishRegistration
    | ContinueRegistration
)
