"""Noctule's engine."""

from collections.abc import Iterator, Mapping, Sequence
import enum
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

class ProgramTable:
    """What jobs do once started, as trees: parts come before wholes."""

    def __init__(self) -> None: ...

    def __len__(self) -> int: ...

    def add_wait(self, name: str, return_code: int, seconds: float) -> int: ...

    def add_computation(self, name: str, return_code: int, work: float, spread: bool) -> int: ...

    def add_parallel_task(self, name: str, return_code: int, flops: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int: ...

    def add_homogeneous_task(self, name: str, return_code: int, flops: float, bytes: float, amounts: int) -> int: ...

    def add_storage_transfer(self, name: str, return_code: int, read_bytes: float, written_bytes: float, storage: str, spread: bool) -> int: ...

    def add_staging(self, name: str, return_code: int, bytes: float, from_storage: str, to_storage: str) -> int: ...

    def add_sequence(self, name: str, return_code: int, parts: Sequence[int], repeat: int) -> int: ...

    def add_send(self, name: str, return_code: int, message: str, seconds: float) -> int: ...

    def add_receive(self, name: str, return_code: int, pattern: str, success: int | None, failure: int | None, timeout: int | None, poll_seconds: float) -> int: ...

    def add_usage_trace(self, name: str, return_code: int, ranks: Sequence[Sequence[tuple[float, float]]]) -> int: ...

    def add_mpi_trace(self, name: str, return_code: int, ranks: Sequence[str], sources: Sequence[str]) -> int:
        """Add the texts of the traces of all ranks, and what messages call them."""

class JobTable:
    """The jobs of a workload, in order of submission."""

    def __init__(self, ids: object, *, submit_time: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], walltime: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_hosts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], amount: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], kind: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], failing: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], cancel_time: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, launch_delay: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, epilogue_delay: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, program: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, programs: ProgramTable | None = None) -> None: ...

    def __len__(self) -> int: ...

    def job_id(self, index: int) -> int | str: ...

    def cancel_time(self, index: int) -> float: ...

    def launch_delay(self, index: int) -> float: ...

    def epilogue_delay(self, index: int) -> float: ...

    def add_dependency(self, job: int, on: int, think_time: float) -> None: ...

    def set_rank_hosts(self, job: int, hosts: Sequence[int]) -> None: ...

    def rank_hosts(self, index: int) -> list[int]: ...

    def program_index(self, index: int) -> int | None:
        """Return which of the programs a job runs, or None."""

    def programs(self) -> ProgramTable:
        """
        Return a copy of the programs of the jobs, to which others can be added.
        """

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

    @property
    def host_state_sleeping(self) -> numpy.typing.NDArray[numpy.uint32]: ...

    @property
    def host_state_switching_on(self) -> numpy.typing.NDArray[numpy.uint32]: ...

    @property
    def host_state_switching_off(self) -> numpy.typing.NDArray[numpy.uint32]: ...

    @property
    def energy(self) -> numpy.typing.NDArray[numpy.float64]: ...

    @property
    def energy_time(self) -> numpy.typing.NDArray[numpy.float64]: ...

    @property
    def energy_joules(self) -> numpy.typing.NDArray[numpy.float64]: ...

    @property
    def energy_least_watts(self) -> numpy.typing.NDArray[numpy.float64]: ...

    @property
    def energy_why(self) -> numpy.typing.NDArray[numpy.uint8]: ...

    @property
    def power_time(self) -> numpy.typing.NDArray[numpy.float64]: ...

    @property
    def power_watts(self) -> numpy.typing.NDArray[numpy.float64]: ...

    @property
    def power_state_time(self) -> numpy.typing.NDArray[numpy.float64]: ...

    @property
    def power_state_value(self) -> numpy.typing.NDArray[numpy.int32]: ...

    @property
    def host_state_unavailable(self) -> numpy.typing.NDArray[numpy.uint32]: ...

    @property
    def host_state_failed(self) -> numpy.typing.NDArray[numpy.uint32]: ...

    @property
    def useful_time(self) -> numpy.typing.NDArray[numpy.float64]: ...

    @property
    def suspended_time(self) -> numpy.typing.NDArray[numpy.float64]: ...

    @property
    def power_state_hosts(self) -> list[HostSet]:
        """Hosts of each change of power states."""

    @property
    def metadata(self) -> list[str]:
        """
        What the policy has written down about the jobs, by row; empty if nothing.
        """

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

def load_history(submit_time: numpy.typing.NDArray[numpy.float64], start_time: numpy.typing.NDArray[numpy.float64], finish_time: numpy.typing.NDArray[numpy.float64], walltime: numpy.typing.NDArray[numpy.float64], n_hosts: numpy.typing.NDArray[numpy.uint32], idle_time: numpy.typing.NDArray[numpy.float64], n_idle: numpy.typing.NDArray[numpy.uint32], waking_begin: numpy.typing.NDArray[numpy.float64], waking_end: numpy.typing.NDArray[numpy.float64], n_waking: numpy.typing.NDArray[numpy.uint32]) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
    """
    Return dates, and the mean of the liquid load horizon from each on, up to the next.
    """

@overload
def host_gaps(hosts: Sequence[HostSet], start_time: numpy.typing.NDArray[numpy.float64], finish_time: numpy.typing.NDArray[numpy.float64], n_hosts: int, begin: float, end: float) -> tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
    """
    Return the hosts, begins and ends of the times in which hosts ran no job.
    """

@overload
def host_gaps(record: Record, n_hosts: int, begin: float, end: float) -> tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
    """Return the same of a run."""

def ahead_until(left: numpy.typing.NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.float64]:
    """
    Return until when each of the jobs, in the order of their submissions, had somebody before it who did not leave later.
    """

def least_waiting(dates: numpy.typing.NDArray[numpy.float64], submit: numpy.typing.NDArray[numpy.float64], left: numpy.typing.NDArray[numpy.float64], value: numpy.typing.NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.float64]:
    """
    Return the least value among the jobs that wait at each of some ascending dates.
    """

def seconds_at_least(time: numpy.typing.NDArray[numpy.float64], value: numpy.typing.NDArray[numpy.int64], before: int, begin: numpy.typing.NDArray[numpy.float64], end: numpy.typing.NDArray[numpy.float64], needed: numpy.typing.NDArray[numpy.int64]) -> numpy.typing.NDArray[numpy.float64]:
    """
    Return how many seconds of each stretch a step function is at least what it needs.
    """

def turns_of(time: numpy.typing.NDArray[numpy.float64], value: numpy.typing.NDArray[numpy.int64], before: int, begin: numpy.typing.NDArray[numpy.float64], end: numpy.typing.NDArray[numpy.float64], needed: numpy.typing.NDArray[numpy.int64], most: int) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64]]:
    """
    Return in which stretches, and when, a step function comes to be or ceases to be at least what a stretch needs; no more than `most`.
    """

def largest_free_block(dates: numpy.typing.NDArray[numpy.float64], start: numpy.typing.NDArray[numpy.float64], finish: numpy.typing.NDArray[numpy.float64], first: numpy.typing.NDArray[numpy.uint32], n_hosts: numpy.typing.NDArray[numpy.uint32], n_hosts_of_platform: int) -> numpy.typing.NDArray[numpy.int64]:
    """
    Return the most hosts side by side that nobody holds, at each of some ascending dates.
    """

class NetworkPlan:
    """Zones, links and routes of a platform, which many runs share."""

    @property
    def n_hosts(self) -> int: ...

    @property
    def n_links(self) -> int: ...

    def link_name(self, link: int) -> str: ...

    def find_link(self, name: str) -> int | None: ...

    def link(self, link: int) -> tuple[float, float, bool]:
        """Bandwidth and latency of a link, and whether it is a fat pipe."""

class Routing(enum.Enum):
    """How a zone finds routes."""

    FULL = 0

    FLOYD = 1

    DIJKSTRA = 2

    DIJKSTRA_CACHE = 3

    STAR = 4

    VIVALDI = 5

    WIFI = 6

    NONE = 7

class NetworkBuilder:
    """
    Makes a NetworkPlan: zones with their members in order, then routes. Points are hosts, routers and zones.
    """

    def __init__(self, host_names: Sequence[str], loopback_bandwidth: float, loopback_latency: float) -> None: ...

    def add_zone(self, name: str, routing: Routing, parent: int | None) -> int: ...

    def add_cluster(self, name: str, numbers: Sequence[tuple[int, int]], parent: int | None, hosts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], router: str, bandwidth: float, latency: float, split: bool, limiter: float, backbone: int | None, loopback: tuple[float, float] | None, topology: str, sizes: Sequence[Sequence[int]]) -> int: ...

    def add_host(self, zone: int, host: int) -> None: ...

    def add_router(self, zone: int, name: str) -> int: ...

    def point_of_zone(self, zone: int) -> int: ...

    def add_link(self, name: str, bandwidth: float, latency: float, fatpipe: bool) -> int: ...

    def add_pairs(self, zone: int, hosts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], bandwidth_up: float, bandwidth_down: float, latency: float) -> None:
        """Add a link up and one down for each of some hosts."""

    def set_backbone(self, zone: int, link: int) -> None: ...

    def set_host_links(self, zone: int, host: int, up: int, down: int) -> None: ...

    def set_coordinates(self, zone: int, point: int, coordinates: Sequence[float]) -> None: ...

    def add_route(self, zone: int, src: int, dst: int, gateways: tuple[int, int] | None, links: Sequence[int], bypass: bool) -> None:
        """Add a route or a bypass, one way."""

    def find_link(self, name: str) -> int | None:
        """Find a link by its name, once all links are there."""

    def finish(self) -> NetworkPlan: ...

class Network:
    """A network as one run has it."""

    def __init__(self, plan: NetworkPlan) -> None: ...

    def route(self, src: int, dst: int) -> tuple[list[int], float, bool]:
        """
        Links from host to host, their latency, and whether a declared route was missing.
        """

    def warnings(self) -> list[str]: ...

    def traffic(self, hosts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[list[int], list[float], float, float]:
        """
        Links and their bytes, the largest latency, and the largest latency times bytes.
        """

    def all_to_all(self, hosts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes: float) -> tuple[list[int], list[float], float, float]: ...

    def message(self, src: int, dst: int, bytes: float) -> tuple[list[int], list[float], float, float]: ...

    def set_bandwidth(self, link: int, bandwidth: float) -> None: ...

    def set_latency(self, link: int, latency: float) -> None: ...

class MachinePlan:
    """Hosts and links, as all runs share them."""

    def __init__(self, models: Sequence[tuple[Sequence[float], Sequence[int], Sequence[Sequence[float]], float, Sequence[Sequence[int]], int, int]], model_of: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], network: NetworkPlan, availabilities: Sequence[tuple[int, int, Sequence[tuple[float, float]], float]], tcp_window: float, n_billed: int) -> None: ...

class MachineSetup:
    """The machine that a run makes for itself."""

    def __init__(self, plan: MachinePlan, n_storages: int, sharing: int, billing: int, report_ranks: bool, batsim_latency: bool, is_book: bool) -> None: ...

    @property
    def is_book(self) -> bool:
        """Whether there is only a book of the hosts' power."""

class Machine:
    """A machine in simulated time."""

    def __init__(self, plan: MachinePlan, sharing: int, billing: int) -> None: ...

    @property
    def now(self) -> float: ...

    def next_time(self) -> float: ...

    def advance_to(self, time: float) -> list[tuple[int, bool]]:
        """Go to a date; return (token, whether it failed) of what has ended."""

    def sleep(self, host: int, seconds: float, token: int) -> int: ...

    def execute(self, host: int, flops: float, token: int) -> int: ...

    def send(self, src: int, dst: int, bytes: float, token: int) -> int: ...

    def run(self, hosts: Sequence[int], flops: Sequence[float], bytes: Sequence[float], token: int) -> int: ...

    def run_alike(self, hosts: Sequence[int], flops: float, bytes: float, token: int) -> int: ...

    def cancel(self, activity: int) -> None: ...

    def remaining(self, activity: int) -> float: ...

    def state(self, host: int) -> int: ...

    def set_state(self, host: int, state: int) -> None: ...

    def set_on(self, host: int, is_on: bool) -> None: ...

    def set_bandwidth(self, link: int, bandwidth: float) -> None: ...

    def set_latency(self, link: int, latency: float) -> None: ...

    def route(self, src: int, dst: int) -> tuple[list[int], float, bool]:
        """Return links, latency, and whether one is missing."""

    def load(self, host: int) -> float: ...

    def watts(self, host: int) -> float: ...

    def joules(self, host: int) -> float: ...

    def last_bill(self, host: int) -> float: ...

    def run_tasks(self, begins: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], hosts: Sequence[Sequence[int]], flops: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> list[float]:
        """Run tasks that are alike on their hosts; return when they end."""

    def replay(self, trace: MpiTrace, hosts: Sequence[int]) -> list[float]:
        """Replay a trace; return when its ranks end."""

class Calendar:
    """When users work."""

class RecordedPeriods(Calendar):
    """Only in their recorded sessions."""

    def __init__(self, first_of_user: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], end: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class WeeklyHours(Calendar):
    """In hours of the week, with some probability."""

    def __init__(self, changes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shifts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], probabilities: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], week_of_user: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], start_of_group: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int) -> None: ...

    def next(self, user: int, group: int, date: float) -> float:
        """
        Return the first date, not before this one, at which the user begins the group.
        """

class PopulationPlan:
    """Users who leave when runs are slow."""

    def __init__(self, stretch_of_group: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_groups: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_jobs_left: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], luck: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], half: float, steepness: float) -> None: ...

class Thinking:
    """What becomes of think times."""

    def __init__(self, kind: int, base: float, slope: float, most: float) -> None: ...

class GroupPlan:
    """Groups of jobs, and what each of them waits for."""

    def __init__(self, *, start_time: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], end_time: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], user: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], keeps_date: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], first_job: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], jobs: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], submit_time: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first_dependency: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], dependency: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], think_time: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], thinking: Thinking, calendar: Calendar | None, population: PopulationPlan | None) -> None: ...

class ExternalEvent:
    """What happens from outside."""

    def __init__(self, time: float, kind: int, hosts: HostSet, data: str) -> None: ...

class ViewWindow:
    """A stretch of time in which hosts are not for all."""

    def __init__(self, name: str, reserves: bool, hosts: HostSet, start: float, end: float, announced: float, kills: bool) -> None: ...

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str:
        """maintenance or reservation."""

    @property
    def hosts(self) -> HostSet: ...

    @property
    def start(self) -> float: ...

    @property
    def end(self) -> float: ...

    @property
    def kills(self) -> bool:
        """Whether jobs on its hosts end when it begins."""

    @property
    def is_active(self) -> bool:
        """Whether it had begun when it was looked at."""

    def __repr__(self) -> str: ...

class AttemptOptions:
    """What is done about interrupted jobs."""

    def __init__(self, resubmit: bool, max_attempts: int, checkpoint_every: float, checkpoint_cost: float, restart_cost: float, resubmit_killed: int) -> None: ...

class Engine:
    """The time-keeper of one run."""

    def __init__(self, n_hosts: int, table: JobTable, *, speed: float, speeds: Sequence[float], groups: Sequence[int], reference_speed: float, enforce_walltime: bool, reject_oversized: bool, wait_for_timers: bool, launch_delay: float, epilogue_delay: float, until: float, share_hosts: bool, share_storages: bool, wake_for_jobs: bool, batsim_events: bool, open_registration: bool, acknowledge_registered: bool, attempts: AttemptOptions, windows: Sequence[ViewWindow], reservations: Sequence[int], submitters: Sequence[Sequence[int]], external_events: Sequence[Sequence[ExternalEvent]], machine: MachineSetup | None, users: GroupPlan | None) -> None: ...

    def run(self, policy: NativePolicy, n_calls: int) -> bool:
        """Call the policy at most so many times; False once the run has ended."""

    @property
    def now(self) -> float: ...

    @property
    def n_ended(self) -> int: ...

    @property
    def n_jobs(self) -> int: ...

    def attempt(self, job: int) -> tuple[int, int]:
        """Return which job an attempt stands for, and its number from 1 on."""

    def job_id(self, job: int) -> str:
        """Return the id of a job as text."""

    def record(self, final: bool) -> Record:
        """
        Return the record so far; a final one is shared, and the run must not go on.
        """

    def spent(self) -> list[list[float]]:
        """
        Return the joules of each host: idle, computing, switching, sleeping; empty where nobody counts.
        """

    def warnings(self) -> list[str]:
        """Return what was odd about the network, in sentences."""

class NativePolicy:
    """A policy that runs without Python."""

    def __init__(self, name: str, order: Sequence[tuple[int, float]], allocation: int, numbers: Mapping[str, float]) -> None:
        """
        Make one by its name, an order's program, an allocation's number, and its own parameters.
        """

    @property
    def wakes_hosts(self) -> bool:
        """Whether jobs wake hosts that sleep, unless the run says otherwise."""

    def warnings(self) -> list[str]:
        """Return what was odd about the run, in sentences."""

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

class Shortcut:
    """Decides in place of a scheduler where only the usual is said."""

    def __init__(self, view: object, jobs: dict[str, Any], channel: object, *, is_batsim4: bool, exact_dates: bool, hosts_sleep: bool, n_resources: int, longest: int, profile_text: object | None, named: list[ViewJob]) -> None: ...

    @property
    def n_messages(self) -> int: ...

    @property
    def seconds(self) -> float: ...

    def take_journal(self) -> tuple[list[str], list[str], list[str]]:
        """
        Return the ids of jobs that were told, rejected, and told to have ended, since.
        """

    def take_answer(self) -> bytes | tuple[int, int, int] | None:
        """
        Return the answer to what was told of this instant, if that is still to be read: of a library its code, the address of its text and how long that is.
        """

    def take_started(self) -> list[str]:
        """Return the ids of jobs that were started since, in order."""

    def allocations(self) -> dict[str, HostSet]:
        """
        Return the hosts of the jobs that were started here and have not ended.
        """

    def drop_named(self, job_id: str) -> None:
        """Hear that a job can no longer be named."""

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
        """
        Date of the start, still to come while the hosts wake; NaN before that.
        """

    @property
    def expected_end(self) -> float:
        """start_time + walltime."""

    @property
    def hosts(self) -> HostSet:
        """Hosts that the job holds."""

    @property
    def reservation(self) -> ViewWindow | None:
        """The window that the job runs in; None for most."""

    @property
    def progress(self) -> list[tuple[str, int, float]]:
        """
        How far a running or a killed job has come: (profile, part, done) of its profile, of the part that it is in, and so on; `part` counts over all repetitions of a sequence, and is -1 where nobody can tell.
        """

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
    def groups(self) -> list[HostSet]:
        """
        Hosts that lie close together, under one switch or in one cabinet; every host is in one group.
        """

    @property
    def completing(self) -> HostSet:
        """Hosts in the epilogue of an ended job: not free yet."""

    @property
    def asleep(self) -> HostSet:
        """Hosts in a power state in which they sleep."""

    @property
    def switching(self) -> HostSet:
        """Hosts that are being switched on or off."""

    @property
    def failed(self) -> HostSet:
        """Hosts that have failed, and are not back."""

    @property
    def unavailable(self) -> HostSet:
        """
        Hosts that an external event or a maintenance has taken away; jobs on them go on.
        """

    @property
    def windows(self) -> list[ViewWindow]:
        """Maintenances and reservations that are announced and not over."""

    @property
    def lost(self) -> HostSet:
        """
        Hosts that are away, or will be once their jobs have ended, for nobody knows how long.
        """

    def free_in(self, window: ViewWindow) -> HostSet:
        """Return the hosts that jobs of a reservation may start on now."""

    def power_state(self, host: int) -> int:
        """Return the power state of a host."""

    @property
    def wakes_hosts(self) -> bool:
        """
        Whether hosts that sleep or switch are free, and jobs that are started there wake them.
        """

    def sleep_state(self, host: int) -> int:
        """Return the power state in which a host sleeps if nothing else is said."""

    def computing_state(self, host: int) -> int:
        """Return the power state to which a host is woken."""

    def switch_on_seconds(self, host: int) -> float:
        """Return how long a host takes from its sleep state to being awake."""

    def switch_off_seconds(self, host: int) -> float:
        """Return how long a host takes to its sleep state."""

    @property
    def energy(self) -> float:
        """Joules of all hosts so far; NaN where the run does not count them."""

    def host_energy(self, host: int) -> float:
        """
        Return the joules of a host so far; NaN where the run does not count them.
        """

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

def run_python(view: View, decide: object, n_calls: int, policy: object = None) -> bool:
    """
    Call decide(view, events), or the shortcut of a policy where that can decide, at most so many times; False once the run has ended.
    """

class MpiTrace:
    """What the ranks of a parallel program did."""

    def __init__(self, ranks: Sequence[str | bytes], sources: Sequence[str]) -> None:
        """
        Read time-independent traces: a text for each rank, or one with the lines of all. Errors name the sources.
        """

    @property
    def n_ranks(self) -> int:
        """The number of ranks."""

    @property
    def n_actions(self) -> int:
        """The number of actions of all ranks, without those that take no time."""

class SlurmTresLimit:
    """An amount of a trackable resource."""

    def __init__(self, tres: int, amount: int) -> None: ...

    @property
    def tres(self) -> int: ...

    @property
    def amount(self) -> int: ...

class SlurmLimitSet:
    """Limits of an association or a QOS."""

    def __init__(self) -> None: ...

    @property
    def grp_tres(self) -> list[SlurmTresLimit]: ...

    @grp_tres.setter
    def grp_tres(self, arg: Sequence[SlurmTresLimit], /) -> None: ...

    @property
    def grp_tres_mins(self) -> list[SlurmTresLimit]: ...

    @grp_tres_mins.setter
    def grp_tres_mins(self, arg: Sequence[SlurmTresLimit], /) -> None: ...

    @property
    def grp_tres_run_mins(self) -> list[SlurmTresLimit]: ...

    @grp_tres_run_mins.setter
    def grp_tres_run_mins(self, arg: Sequence[SlurmTresLimit], /) -> None: ...

    @property
    def max_tres_per_job(self) -> list[SlurmTresLimit]: ...

    @max_tres_per_job.setter
    def max_tres_per_job(self, arg: Sequence[SlurmTresLimit], /) -> None: ...

    @property
    def max_tres_per_node(self) -> list[SlurmTresLimit]: ...

    @max_tres_per_node.setter
    def max_tres_per_node(self, arg: Sequence[SlurmTresLimit], /) -> None: ...

    @property
    def max_tres_mins_per_job(self) -> list[SlurmTresLimit]: ...

    @max_tres_mins_per_job.setter
    def max_tres_mins_per_job(self, arg: Sequence[SlurmTresLimit], /) -> None: ...

    @property
    def grp_jobs(self) -> int | None: ...

    @grp_jobs.setter
    def grp_jobs(self, arg: int | None, /) -> None: ...

    @property
    def grp_jobs_accrue(self) -> int | None: ...

    @grp_jobs_accrue.setter
    def grp_jobs_accrue(self, arg: int | None, /) -> None: ...

    @property
    def grp_submit_jobs(self) -> int | None: ...

    @grp_submit_jobs.setter
    def grp_submit_jobs(self, arg: int | None, /) -> None: ...

    @property
    def max_jobs(self) -> int | None: ...

    @max_jobs.setter
    def max_jobs(self, arg: int | None, /) -> None: ...

    @property
    def max_jobs_accrue(self) -> int | None: ...

    @max_jobs_accrue.setter
    def max_jobs_accrue(self, arg: int | None, /) -> None: ...

    @property
    def max_submit_jobs(self) -> int | None: ...

    @max_submit_jobs.setter
    def max_submit_jobs(self, arg: int | None, /) -> None: ...

    @property
    def grp_wall(self) -> int | None: ...

    @grp_wall.setter
    def grp_wall(self, arg: int | None, /) -> None: ...

    @property
    def max_wall(self) -> int | None: ...

    @max_wall.setter
    def max_wall(self, arg: int | None, /) -> None: ...

    @property
    def min_prio_threshold(self) -> int: ...

    @min_prio_threshold.setter
    def min_prio_threshold(self, arg: int, /) -> None: ...

class SlurmShareOfQos:
    """Limits of each user or account in a QOS."""

    def __init__(self) -> None: ...

    @property
    def max_tres(self) -> list[SlurmTresLimit]: ...

    @max_tres.setter
    def max_tres(self, arg: Sequence[SlurmTresLimit], /) -> None: ...

    @property
    def max_jobs(self) -> int | None: ...

    @max_jobs.setter
    def max_jobs(self, arg: int | None, /) -> None: ...

    @property
    def max_submit_jobs(self) -> int | None: ...

    @max_submit_jobs.setter
    def max_submit_jobs(self, arg: int | None, /) -> None: ...

    @property
    def max_jobs_accrue(self) -> int | None: ...

    @max_jobs_accrue.setter
    def max_jobs_accrue(self, arg: int | None, /) -> None: ...

class SlurmQos:
    """A quality of service."""

    def __init__(self) -> None: ...

    @property
    def name(self) -> str: ...

    @name.setter
    def name(self, arg: str, /) -> None: ...

    @property
    def priority(self) -> int: ...

    @priority.setter
    def priority(self, arg: int, /) -> None: ...

    @property
    def usage_factor(self) -> float: ...

    @usage_factor.setter
    def usage_factor(self, arg: float, /) -> None: ...

    @property
    def usage_threshold(self) -> float | None: ...

    @usage_threshold.setter
    def usage_threshold(self, arg: float | None, /) -> None: ...

    @property
    def limit_factor(self) -> float | None: ...

    @limit_factor.setter
    def limit_factor(self, arg: float | None, /) -> None: ...

    @property
    def limits(self) -> SlurmLimitSet: ...

    @limits.setter
    def limits(self, arg: SlurmLimitSet, /) -> None: ...

    @property
    def per_user(self) -> SlurmShareOfQos: ...

    @per_user.setter
    def per_user(self, arg: SlurmShareOfQos, /) -> None: ...

    @property
    def per_account(self) -> SlurmShareOfQos: ...

    @per_account.setter
    def per_account(self, arg: SlurmShareOfQos, /) -> None: ...

    @property
    def min_tres(self) -> list[SlurmTresLimit]: ...

    @min_tres.setter
    def min_tres(self, arg: Sequence[SlurmTresLimit], /) -> None: ...

    @property
    def no_reserve(self) -> bool: ...

    @no_reserve.setter
    def no_reserve(self, arg: bool, /) -> None: ...

    @property
    def deny_on_limit(self) -> bool: ...

    @deny_on_limit.setter
    def deny_on_limit(self, arg: bool, /) -> None: ...

    @property
    def enforce_usage_threshold(self) -> bool: ...

    @enforce_usage_threshold.setter
    def enforce_usage_threshold(self, arg: bool, /) -> None: ...

    @property
    def no_decay(self) -> bool: ...

    @no_decay.setter
    def no_decay(self, arg: bool, /) -> None: ...

    @property
    def over_part_qos(self) -> bool: ...

    @over_part_qos.setter
    def over_part_qos(self, arg: bool, /) -> None: ...

    @property
    def usage_factor_safe(self) -> bool: ...

    @usage_factor_safe.setter
    def usage_factor_safe(self, arg: bool, /) -> None: ...

    @property
    def preempts(self) -> list[int]: ...

    @preempts.setter
    def preempts(self, arg: Sequence[int], /) -> None: ...

    @property
    def preempts_within(self) -> bool: ...

    @preempts_within.setter
    def preempts_within(self, arg: bool, /) -> None: ...

    @property
    def grace_time(self) -> int: ...

    @grace_time.setter
    def grace_time(self, arg: int, /) -> None: ...

    @property
    def preempt_exempt_time(self) -> int | None: ...

    @preempt_exempt_time.setter
    def preempt_exempt_time(self, arg: int | None, /) -> None: ...

    def set_preempt_mode(self, mode: int) -> None:
        """Say what happens to its jobs, if not what the cluster says."""

class SlurmAssociation:
    """An account, or a user in one."""

    def __init__(self) -> None: ...

    @property
    def name(self) -> str: ...

    @name.setter
    def name(self, arg: str, /) -> None: ...

    @property
    def parent(self) -> int: ...

    @parent.setter
    def parent(self, arg: int, /) -> None: ...

    @property
    def is_user(self) -> bool: ...

    @is_user.setter
    def is_user(self, arg: bool, /) -> None: ...

    @property
    def shares(self) -> int | None: ...

    @shares.setter
    def shares(self, arg: int | None, /) -> None: ...

    @property
    def priority(self) -> int: ...

    @priority.setter
    def priority(self, arg: int, /) -> None: ...

    @property
    def limits(self) -> SlurmLimitSet: ...

    @limits.setter
    def limits(self, arg: SlurmLimitSet, /) -> None: ...

    @property
    def used(self) -> float: ...

    @used.setter
    def used(self, arg: float, /) -> None: ...

class SlurmAccounting:
    """Accounts, QOS, and what is enforced."""

    def __init__(self) -> None: ...

    @property
    def has_database(self) -> bool: ...

    @has_database.setter
    def has_database(self, arg: bool, /) -> None: ...

    @property
    def enforces_limits(self) -> bool: ...

    @enforces_limits.setter
    def enforces_limits(self, arg: bool, /) -> None: ...

    @property
    def enforces_safely(self) -> bool: ...

    @enforces_safely.setter
    def enforces_safely(self, arg: bool, /) -> None: ...

    @property
    def associations(self) -> list[SlurmAssociation]: ...

    @associations.setter
    def associations(self, arg: Sequence[SlurmAssociation], /) -> None: ...

    @property
    def qos(self) -> list[SlurmQos]: ...

    @qos.setter
    def qos(self, arg: Sequence[SlurmQos], /) -> None: ...

class SlurmUsageReset(enum.Enum):
    """When usage becomes 0."""

    never = 0

    now = 1

    daily = 2

    weekly = 3

    monthly = 4

    quarterly = 5

    yearly = 6

class SlurmPriority:
    """How priority/multifactor weighs jobs."""

    def __init__(self) -> None: ...

    @property
    def multifactor(self) -> bool: ...

    @multifactor.setter
    def multifactor(self, arg: bool, /) -> None: ...

    @property
    def weight_age(self) -> float: ...

    @weight_age.setter
    def weight_age(self, arg: float, /) -> None: ...

    @property
    def weight_association(self) -> float: ...

    @weight_association.setter
    def weight_association(self, arg: float, /) -> None: ...

    @property
    def weight_fair_share(self) -> float: ...

    @weight_fair_share.setter
    def weight_fair_share(self, arg: float, /) -> None: ...

    @property
    def weight_job_size(self) -> float: ...

    @weight_job_size.setter
    def weight_job_size(self, arg: float, /) -> None: ...

    @property
    def weight_partition(self) -> float: ...

    @weight_partition.setter
    def weight_partition(self, arg: float, /) -> None: ...

    @property
    def weight_qos(self) -> float: ...

    @weight_qos.setter
    def weight_qos(self, arg: float, /) -> None: ...

    @property
    def weight_tres(self) -> list[float]: ...

    @weight_tres.setter
    def weight_tres(self, arg: Sequence[float], /) -> None: ...

    @property
    def max_age(self) -> int: ...

    @max_age.setter
    def max_age(self, arg: int, /) -> None: ...

    @property
    def decay_half_life(self) -> int: ...

    @decay_half_life.setter
    def decay_half_life(self, arg: int, /) -> None: ...

    @property
    def calc_period(self) -> int: ...

    @calc_period.setter
    def calc_period(self, arg: int, /) -> None: ...

    @property
    def first_calculation(self) -> float: ...

    @first_calculation.setter
    def first_calculation(self, arg: float, /) -> None: ...

    @property
    def usage_reset(self) -> SlurmUsageReset: ...

    @usage_reset.setter
    def usage_reset(self, arg: SlurmUsageReset, /) -> None: ...

    @property
    def damping(self) -> float: ...

    @damping.setter
    def damping(self, arg: float, /) -> None: ...

    @property
    def favor_small(self) -> bool: ...

    @favor_small.setter
    def favor_small(self, arg: bool, /) -> None: ...

    @property
    def accrue_always(self) -> bool: ...

    @accrue_always.setter
    def accrue_always(self, arg: bool, /) -> None: ...

    @property
    def calculate_running(self) -> bool: ...

    @calculate_running.setter
    def calculate_running(self, arg: bool, /) -> None: ...

    @property
    def depth_oblivious(self) -> bool: ...

    @depth_oblivious.setter
    def depth_oblivious(self, arg: bool, /) -> None: ...

    @property
    def fair_tree(self) -> bool: ...

    @fair_tree.setter
    def fair_tree(self, arg: bool, /) -> None: ...

    @property
    def incr_only(self) -> bool: ...

    @incr_only.setter
    def incr_only(self, arg: bool, /) -> None: ...

    @property
    def max_tres(self) -> bool: ...

    @max_tres.setter
    def max_tres(self, arg: bool, /) -> None: ...

    @property
    def no_normal_association(self) -> bool: ...

    @no_normal_association.setter
    def no_normal_association(self, arg: bool, /) -> None: ...

    @property
    def no_normal_partition(self) -> bool: ...

    @no_normal_partition.setter
    def no_normal_partition(self, arg: bool, /) -> None: ...

    @property
    def no_normal_qos(self) -> bool: ...

    @no_normal_qos.setter
    def no_normal_qos(self, arg: bool, /) -> None: ...

    @property
    def no_normal_tres(self) -> bool: ...

    @no_normal_tres.setter
    def no_normal_tres(self, arg: bool, /) -> None: ...

    @property
    def small_relative_to_time(self) -> bool: ...

    @small_relative_to_time.setter
    def small_relative_to_time(self, arg: bool, /) -> None: ...

    @property
    def billing_weights(self) -> list[list[float]]: ...

    @billing_weights.setter
    def billing_weights(self, arg: Sequence[Sequence[float]], /) -> None: ...

class SlurmSettings:
    """What a configuration says, by numbers."""

    def __init__(self) -> None: ...

    @property
    def epoch(self) -> int:
        """Date of the run's zero, in seconds of the epoch."""

    @epoch.setter
    def epoch(self, arg: int, /) -> None: ...

    @property
    def gres_kinds(self) -> list[str]: ...

    @gres_kinds.setter
    def gres_kinds(self, arg: Sequence[str], /) -> None: ...

    @property
    def priority(self) -> SlurmPriority: ...

    @priority.setter
    def priority(self, arg: SlurmPriority, /) -> None: ...

    @property
    def accounting(self) -> SlurmAccounting: ...

    @accounting.setter
    def accounting(self, arg: SlurmAccounting, /) -> None: ...

    @property
    def n_nodes(self) -> int: ...

    def add_node(self, numbers: Mapping[str, float], gres: Sequence[int]) -> None:
        """Add a node; all come before the first partition."""

    def add_partition(self, name: str, nodes: HostSet, numbers: Mapping[str, float]) -> None:
        """Add a partition of nodes."""

    def set_partition_qos(self, partition: int, qos: int) -> None:
        """Give a partition the limits of a QOS."""

    def add_license(self, name: str, total: int) -> None:
        """Add a kind of licence."""

    def add_constraint(self, nodes: HostSet) -> None:
        """Add the nodes that an expression over features allows."""

    def add_switch(self, nodes: HostSet, level: int, parent: int | None) -> None:
        """Add a switch."""

    def keep_on(self, nodes: HostSet, n: int) -> None:
        """Never switch off the first idle ones of nodes."""

    def set_parameters(self, numbers: Mapping[str, float]) -> None:
        """Set parameters of the schedulers by their names."""

class SlurmRequests:
    """What jobs ask for, in the workload's order."""

    def __init__(self, n_jobs: int) -> None: ...

    def set_column(self, name: str, values: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Set a field of all jobs."""

    def set_partitions(self, job: int, partitions: Sequence[int]) -> None:
        """Set the partitions of a job, in order."""

    def set_nodes(self, settings: SlurmSettings, job: int, required: HostSet, excluded: HostSet) -> None:
        """Set the nodes that a job must have and must not have."""

    def set_started_on(self, settings: SlurmSettings, job: int, nodes: HostSet) -> None:
        """Set the nodes of a job that ran already."""

    def add_gres(self, job: int, kind: int, per_node: int, per_job: int, per_task: int) -> None:
        """Add a generic resource that a job asks for."""

    def add_license(self, job: int, license: int, count: int) -> None:
        """Add licences that a job needs."""

    def add_dependency(self, job: int, kind: int, other: int, minutes: int) -> None:
        """Add something that a job waits for."""

class SlurmClocks:
    """When the schedulers run."""

    def __init__(self, numbers: Mapping[str, float], ticks: Sequence[float], looks: Sequence[float], limit_checks: Sequence[float], passes: Sequence[tuple[float, int]]) -> None: ...

def slurm_policy(settings: SlurmSettings, requests: SlurmRequests, clocks: SlurmClocks, keep_passes: bool = False, keep_reasons: bool = False) -> NativePolicy:
    """Return Slurm's schedulers as a policy."""

def slurm_statistics(policy: NativePolicy) -> dict[str, object]:
    """Return what the schedulers did, as sdiag tells it."""

def slurm_passes(policy: NativePolicy) -> list[tuple[float, int, int, int, int]]:
    """Return the passes: date, kind, jobs queued, tested and started."""

def slurm_reasons(policy: NativePolicy, job: int) -> list[tuple[float, int, int, str]]:
    """
    Return why a job was not started: date, kind of pass, reason and more about it.
    """

def slurm_started_by(policy: NativePolicy) -> list[int]:
    """
    Return who started each job: 0 nobody, 1 the main scheduler, 2 backfilling.
    """

def slurm_boots(policy: NativePolicy) -> dict[int, float]:
    """Return when jobs that had to wait for a boot were given their nodes."""

def slurm_killed(policy: NativePolicy) -> list[bool]:
    """Return which jobs were killed at their time limits."""
