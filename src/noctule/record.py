"""What a finished run leaves behind: the columns that a Schedule is made of.

The engine's own record (`noctule._core.Record`) and one read from files look the same from here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from noctule._core import HostSet

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.uint32]


class JobState(IntEnum):
    """How far a job came; the numbers are the engine's."""

    WAITING = 0
    RUNNING = 1
    COMPLETED = 2
    TIMED_OUT = 3
    KILLED = 4
    FAILED = 5
    REJECTED = 6
    CANCELLED = 7

    @property
    def word(self) -> str:
        """The state as tables show it."""
        return self.name.lower()


STATE_WORDS = tuple(state.word for state in JobState)


_ATTEMPT = re.compile(r".*#\d+", re.DOTALL)


def is_attempt(job_id: object) -> bool:
    """Tell whether an id is that of a further attempt of a job, as `17#2` is of 17."""
    return _ATTEMPT.fullmatch(str(job_id)) is not None


def attempted_id(job_id: object) -> str:
    """Return the id of the job of which an id is a further attempt: 17 of `17#2`, and of 17."""
    text = str(job_id)
    return text.rpartition("#")[0] if is_attempt(text) else text


def has_ended(state: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Tell which jobs ran and ended, well or not."""
    return (state >= JobState.COMPLETED) & (state <= JobState.FAILED)


class RecordLike(Protocol):
    """One row a job, in the order in which jobs ended, were rejected or cancelled.

    Dates are NaN where nothing happened. `job` is a position in the tables of the Schedule, taken
    one after the other.
    """

    @property
    def job(self) -> Counts:
        """Positions of the jobs."""

    @property
    def state(self) -> npt.NDArray[np.uint8]:
        """Codes of JobState."""

    @property
    def n_hosts(self) -> Counts:
        """Numbers of hosts held."""

    @property
    def submit_time(self) -> Floats:
        """Dates of submission."""

    @property
    def start_time(self) -> Floats:
        """Dates of start."""

    @property
    def finish_time(self) -> Floats:
        """Dates of the end."""

    @property
    def host_state_time(self) -> Floats:
        """Dates at which hosts changed."""

    @property
    def host_state_idle(self) -> Counts:
        """Numbers of idle hosts from then on."""

    @property
    def host_state_computing(self) -> Counts:
        """Numbers of computing hosts from then on."""

    @property
    def host_state_sleeping(self) -> Counts:
        """Numbers of sleeping hosts from then on; empty where hosts had no power states."""

    @property
    def host_state_switching_on(self) -> Counts:
        """Numbers of hosts being switched on from then on; empty as well."""

    @property
    def host_state_switching_off(self) -> Counts:
        """Numbers of hosts being switched off from then on; empty as well."""

    @property
    def host_state_unavailable(self) -> Counts:
        """Numbers of unavailable hosts from then on; empty where there were no external events."""

    @property
    def host_state_failed(self) -> Counts:
        """Numbers of failed hosts from then on; empty where none failed by external events."""

    @property
    def useful_time(self) -> Floats:
        """Seconds of each run that were neither lost nor spent on checkpoints and the like.

        Empty where jobs were never interrupted.
        """

    @property
    def suspended_time(self) -> Floats:
        """Seconds of each run in which it was suspended; empty where no job ever was."""

    @property
    def metadata(self) -> Sequence[str]:
        """What the policy has written down about each job, or why it was interrupted."""

    @property
    def energy(self) -> Floats:
        """Joules of the hosts of each job while it ran; empty where nobody counted."""

    @property
    def energy_time(self) -> Floats:
        """Dates of jobs' starts and ends, and of changes of power; empty as well."""

    @property
    def energy_joules(self) -> Floats:
        """Joules of all hosts up to then."""

    @property
    def energy_least_watts(self) -> Floats:
        """Watts that all hosts draw, in their power states of then, with hardly any load."""

    @property
    def energy_why(self) -> npt.NDArray[np.uint8]:
        """What happened then: the letters s, e and p."""

    @property
    def power_time(self) -> Floats:
        """Dates at which the power of all hosts changed; empty where only `energy_joules` tell."""

    @property
    def power_watts(self) -> Floats:
        """Watts of all hosts from then on."""

    @property
    def power_state_time(self) -> Floats:
        """Dates at which hosts changed their power states, or began to."""

    @property
    def power_state_value(self) -> npt.NDArray[np.int32]:
        """Power states; -1 where hosts are switched on from then on, -2 where off."""

    @property
    def power_state_hosts(self) -> Sequence[HostSet]:
        """Hosts of these changes."""

    def hosts(self, row: int) -> HostSet:
        """Return the hosts of one row; none if the job never started."""

    def hosts_text(self, first: int, last: int) -> list[str]:
        """Return the hosts of rows first to last - 1, as in "0-3 7"."""

    def __len__(self) -> int:
        """Return the number of rows."""


class JobsLike(Protocol):
    """What a Schedule asks of a Workload: who the jobs are and what they asked for."""

    @property
    def name(self) -> str:
        """Name of the workload."""

    @property
    def job_ids(self) -> npt.NDArray[Any]:
        """All ids."""

    @property
    def n_hosts(self) -> Counts:
        """Asked numbers of hosts."""

    @property
    def walltime(self) -> Floats:
        """Asked time limits; infinite where there is none."""

    def labels(self, name: str) -> Sequence[Any] | npt.NDArray[Any] | None:
        """Return the column of "user", "group" or "queue", if it is known."""

    @property
    def profile_names(self) -> Sequence[str]:
        """Names of the jobs' profiles."""

    def __len__(self) -> int:
        """Return the number of jobs."""


def _no_floats() -> Floats:
    return np.empty(0)


def _no_counts() -> Counts:
    return np.empty(0, dtype=np.uint32)


@dataclass(frozen=True, slots=True)
class PlainRecord:
    """A record that was not made by the engine: read from a file, or built by hand."""

    job: Counts
    state: npt.NDArray[np.uint8]
    n_hosts: Counts
    submit_time: Floats
    start_time: Floats
    finish_time: Floats
    host_sets: Sequence[HostSet]
    host_state_time: Floats = field(default_factory=_no_floats)
    host_state_idle: Counts = field(default_factory=_no_counts)
    host_state_computing: Counts = field(default_factory=_no_counts)
    host_state_sleeping: Counts = field(default_factory=_no_counts)
    host_state_switching_on: Counts = field(default_factory=_no_counts)
    host_state_switching_off: Counts = field(default_factory=_no_counts)
    host_state_unavailable: Counts = field(default_factory=_no_counts)
    energy: Floats = field(default_factory=_no_floats)
    energy_time: Floats = field(default_factory=_no_floats)
    energy_joules: Floats = field(default_factory=_no_floats)
    energy_least_watts: Floats = field(default_factory=_no_floats)
    energy_why: npt.NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, dtype=np.uint8))
    power_time: Floats = field(default_factory=_no_floats)
    power_watts: Floats = field(default_factory=_no_floats)
    power_state_time: Floats = field(default_factory=_no_floats)
    power_state_value: npt.NDArray[np.int32] = field(
        default_factory=lambda: np.empty(0, dtype=np.int32)
    )
    power_state_hosts: Sequence[HostSet] = ()
    metadata: Sequence[str] = ()
    host_state_failed: Counts = field(default_factory=_no_counts)
    useful_time: Floats = field(default_factory=_no_floats)
    suspended_time: Floats = field(default_factory=_no_floats)

    def hosts(self, row: int) -> HostSet:
        """Return the hosts of one row; none if the job never started."""
        return self.host_sets[row]

    def hosts_text(self, first: int, last: int) -> list[str]:
        """Return the hosts of rows first to last - 1, as in "0-3 7"."""
        return [str(hosts) for hosts in self.host_sets[first:last]]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.job)


#: The columns of a record that tell what hosts did, with those of tables about them; the latter
#: are empty where hosts had no power states, or were never unavailable.
HOST_STATE_FIELDS = {
    "host_state_time": "time",
    "host_state_idle": "n_idle",
    "host_state_computing": "n_computing",
    "host_state_sleeping": "n_sleeping",
    "host_state_switching_on": "n_switching_on",
    "host_state_switching_off": "n_switching_off",
    "host_state_unavailable": "n_unavailable",
    "host_state_failed": "n_failed",
}


def host_state_columns(record: RecordLike) -> dict[str, npt.NDArray[Any]]:
    """Return what hosts did as the columns of a table."""
    columns = {name: getattr(record, field) for field, name in HOST_STATE_FIELDS.items()}
    always = ("time", "n_idle", "n_computing")
    return {name: column for name, column in columns.items() if name in always or len(column)}


@dataclass(frozen=True, slots=True)
class PlainJobs:
    """The jobs of one workload as an output file tells them."""

    name: str
    job_ids: npt.NDArray[Any]
    n_hosts: Counts
    walltime: Floats
    profile_names: Sequence[str]
    users: Sequence[Any] | None = None

    def labels(self, name: str) -> Sequence[Any] | None:
        """Return the column of "user", if the file had one."""
        return self.users if name == "user" else None

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.job_ids)


def host_states_of(
    n_hosts: int, start_time: Floats, finish_time: Floats, held: Counts
) -> tuple[Floats, Counts, Counts]:
    """Work out (time, n_idle, n_computing) at each start and end from the jobs alone.

    At equal times ends come first. Hosts that several jobs share are counted once a job, but never
    more than there are.
    """
    started, ended = ~np.isnan(start_time), ~np.isnan(finish_time)
    time = np.concatenate([finish_time[ended], start_time[started]])
    change = np.concatenate([-held[ended].astype(np.int64), held[started].astype(np.int64)])
    order = np.argsort(time, kind="stable")
    computing = np.clip(np.cumsum(change[order]), 0, n_hosts).astype(np.uint32)
    return time[order], np.uint32(n_hosts) - computing, computing
