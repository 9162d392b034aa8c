"""Noctule's engine."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, overload

import numpy
import numpy.typing
from numpy.typing import NDArray

import noctule.messages


class HostSet:
    """An immutable set of host ids, printed `0-3 7`."""

    def __init__(self, hosts: object = ()) -> None:
        """Make a set of ids, or of a text such as `0-3 7`."""

    @staticmethod
    def from_str(text: str) -> HostSet:
        """Read a text such as `0-3 7`."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

    def __len__(self) -> int: ...

    def __bool__(self) -> bool: ...

    @overload
    def __contains__(self, host: int) -> bool: ...

    @overload
    def __contains__(self, host: object) -> bool: ...

    def __iter__(self) -> Iterator[int]: ...

    def __hash__(self) -> int: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __or__(self, other: HostSet) -> HostSet: ...

    def __and__(self, other: HostSet) -> HostSet: ...

    def __sub__(self, other: HostSet) -> HostSet: ...

    def intervals(self) -> list[tuple[int, int]]:
        """Return the (first, last) of each run of hosts, both inclusive."""

class JobTable:
    """The jobs of a workload, in order of submission."""

    def __init__(self, ids: object, *, submit_time: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], walltime: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_hosts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], amount: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], kind: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], failing: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], cancel_time: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, launch_delay: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, epilogue_delay: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

    def __len__(self) -> int: ...

    def job_id(self, index: int) -> int | str: ...

    def cancel_time(self, index: int) -> float: ...

    def launch_delay(self, index: int) -> float: ...

    def epilogue_delay(self, index: int) -> float: ...

    def add_dependency(self, job: int, on: int, think_time: float) -> None: ...

    def dependency_cycle(self) -> int | None:
        """Return a job that waits for itself through others, or None."""

    @property
    def job_ids(self) -> numpy.typing.NDArray[Any]: ...

    @property
    def submit_time(self) -> numpy.typing.NDArray[numpy.float64]: ...

    @property
    def walltime(self) -> numpy.typing.NDArray[numpy.float64]: ...

    @property
    def amount(self) -> numpy.typing.NDArray[numpy.float64]: ...

    @property
    def n_hosts(self) -> numpy.typing.NDArray[numpy.uint32]: ...

    @property
    def failing(self) -> numpy.typing.NDArray[numpy.uint8]: ...

    @property
    def kind(self) -> numpy.typing.NDArray[numpy.uint8]: ...

def parse_swf(text: bytes) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.uint32]]:
    """
    Return the 18 fields of every line of a Standard Workload Format log, and line numbers.
    """

class Record:
    """What happened: columns, in the order in which jobs ended."""

    def __len__(self) -> int: ...

    def hosts(self, row: int) -> HostSet: ...

    def hosts_text(self, first: int, last: int) -> list[str]:
        """Return the hosts of rows [first, last) as texts such as `0-3 7`."""

    @property
    def job(self) -> numpy.typing.NDArray[numpy.uint32]: ...

    @property
    def n_hosts(self) -> numpy.typing.NDArray[numpy.uint32]: ...

    @property
    def submit_time(self) -> numpy.typing.NDArray[numpy.float64]: ...

    @property
    def start_time(self) -> numpy.typing.NDArray[numpy.float64]: ...

    @property
    def finish_time(self) -> numpy.typing.NDArray[numpy.float64]: ...

    @property
    def state(self) -> numpy.typing.NDArray[numpy.uint8]: ...

    @property
    def host_state_time(self) -> numpy.typing.NDArray[numpy.float64]: ...

    @property
    def host_state_idle(self) -> numpy.typing.NDArray[numpy.uint32]: ...

    @property
    def host_state_computing(self) -> numpy.typing.NDArray[numpy.uint32]: ...

def summarise(state: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], n_hosts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], submit_time: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start_time: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], finish_time: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], waiting_time: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, turnaround_time: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, runtime: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, *, n_hosts_of_platform: int, warm_up: float, cool_down: float, threshold: float) -> tuple[list[int], int, list[float], list[list[float]]]:
    """
    Return jobs by state, those without a runtime, (makespan, utilisation, throughput) and the statistics of waiting times, turnaround times, slowdowns and bounded slowdowns.
    """

class Engine:
    """The time-keeper of one run."""

    def __init__(self, n_hosts: int, table: JobTable, *, speed: float, speeds: Sequence[float], reference_speed: float, enforce_walltime: bool, reject_oversized: bool, wait_for_timers: bool, launch_delay: float, epilogue_delay: float, until: float) -> None: ...

    def run(self, policy: NativePolicy, n_calls: int) -> bool:
        """Call the policy at most so many times; False once the run has ended."""

    @property
    def now(self) -> float: ...

    @property
    def n_ended(self) -> int: ...

    @property
    def n_jobs(self) -> int: ...

    def record(self, final: bool) -> Record:
        """
        Return the record so far; a final one is shared, and the run must not go on.
        """

class NativePolicy:
    """A policy that runs without Python."""

    def __init__(self, name: str, order: Sequence[tuple[int, float]], allocation: int) -> None:
        """Make one by its name, an order's program and an allocation's number."""

def policy_names() -> list[str]:
    """Return the names of the native policies."""

def run_batch(runs: Sequence[tuple[Engine, NativePolicy]], measures: Sequence[tuple[float, float, float]], seconds: float) -> tuple[list[list[tuple[list[int], int, list[float], list[list[float]]]]], str]:
    """
    Go on with runs for some seconds; return the numbers of those that have ended, for each (warm-up, cool-down, threshold), and why the one after them failed.
    """

def write_small_files(files: Sequence[tuple[str, bytes]]) -> tuple[int, int]:
    """
    Write files and their folders; return the position of the first that could not be written, and the number of the error or 0.
    """

def read_small_files(paths: Sequence[str]) -> list[bytes | None]:
    """Return the contents of files; None where one cannot be read."""

class ViewJob:
    """A job as a policy may know it."""

    @property
    def id(self) -> int | str: ...

    @property
    def submit_time(self) -> float: ...

    @property
    def walltime(self) -> float:
        """Asked time limit; infinite where there is none."""

    @property
    def n_hosts(self) -> int:
        """Asked number of hosts."""

    @property
    def user(self) -> int | str | None: ...

    @property
    def group(self) -> int | str | None: ...

    @property
    def queue(self) -> int | str | None: ...

    @property
    def extra(self) -> Mapping[str, Any]:
        """Fields of the workload that Noctule does not use."""

    @property
    def start_time(self) -> float:
        """Date of the start; NaN before it."""

    @property
    def expected_end(self) -> float:
        """start_time + walltime."""

    @property
    def hosts(self) -> HostSet:
        """Hosts that the job holds."""

    @property
    def runtime(self) -> float:
        """True duration; only in a clairvoyant run."""

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class JobList:
    """Jobs of the view, oldest first."""

    def __len__(self) -> int: ...

    def __getitem__(self, position: int) -> ViewJob:
        """Return one job; takes as long as iterating up to it."""

    def __iter__(self) -> Iterator[ViewJob]: ...

class Events:
    """What happened since the last call, in order."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[noctule.messages.Event]: ...

    def __getitem__(self, key: int) -> noctule.messages.Event: ...

class View:
    """What a policy may see; nothing in it can be changed."""

    def __init__(self, engine: Engine, jobs: object, clairvoyant: bool) -> None: ...

    @property
    def now(self) -> float: ...

    @property
    def n_hosts(self) -> int:
        """Number of hosts of the platform."""

    @property
    def n_free(self) -> int:
        """Number of free hosts."""

    @property
    def free(self) -> HostSet:
        """Free hosts."""

    @property
    def completing(self) -> HostSet:
        """Hosts in the epilogue of an ended job: not free yet."""

    @property
    def waiting(self) -> JobList:
        """Waiting jobs, in order of submission."""

    @property
    def running(self) -> JobList:
        """Running jobs, in order of start."""

    def releases(self) -> list[tuple[float, int]]:
        """
        Return (date, hosts) of what running jobs will give back, at their walltimes, sorted.
        """

    def job(self, job_id: int | str) -> ViewJob:
        """Return the job with this id."""

def run_python(view: View, decide: object, n_calls: int) -> bool:
    """
    Call decide(view, events) at most so many times; False once the run has ended.
    """
