"""The model of Slurm against what a real one did, in ways that share nothing but the jobs.

- decisions: passes and cycles at the dates of the log, so that only what they decide is tested;
  nodes come back after jobs when they did, where the log tells;
- triggers: the ticks of the background loop and the wake-ups of the backfill thread are those of
  the log, and nodes come back as above, but whether a tick runs a pass, and which, is the
  model's;
- first instants: the same with nothing but the first tick, cycle and full pass, and a period;
- ensemble: free runs; ticks, backfill thread and full passes begin at phases drawn from
  U[0, 1 s), U[0, bf_interval) and U[0, sched_interval), tests of time limits from U[0, 30 s),
  computations of priorities from U[0, PriorityCalcPeriod).
"""

from __future__ import annotations

import bisect
import math
import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from noctule.errors import InputError
from noctule.profile import Delay
from noctule.record import attempted_id
from noctule.schedule import Schedule
from noctule.slurm.conf.associations import Associations, read_associations, read_qos
from noctule.slurm.conf.hostlist import compress_hosts, expand_hosts
from noctule.slurm.conf.settings import SlurmSettings, read_settings
from noctule.slurm.conf.topology import Topology, read_topology
from noctule.slurm.jobs.requests import Request, Requests, with_nodes_for_tasks
from noctule.slurm.model.clocks import KILL_LATENCY, Clocks, PassKind
from noctule.slurm.model.native_settings import hosts_of_nodes
from noctule.slurm.model.policy import COMPLETION_DELAY, simulate_slurm
from noctule.slurm.truth.controller_log import ControllerLog
from noctule.slurm.truth.fidelity import SimulatedStart, Starts
from noctule.slurm.truth.sets import Truth, TruthJob
from noctule.slurm.truth.submissions import asked_fields
from noctule.slurm.truth.tick_grid import LONGEST_KILL, passes_at_once, tick_grid
from noctule.workload import Job, Workload
from noctule.workload import Request as HostRequest

_AFTER, _MOST_AFTER = 3, 20_000  # seconds between passes after those of a log, and how many
_LIMIT_INTERVAL = 30  # seconds between tests of time limits
_CALC_PERIOD = 300  # seconds between computations of priorities
_NAMED = 5  # jobs that a sentence names
_RESOLUTION = 0.001  # seconds of a log: what asks for a pass is logged with it
_OVERTIME = 3600.0  # seconds that a job would run after its limit, where nothing tells


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the model makes of a set, with its jobs in order of their numbers."""

    truth: Truth
    decisions: Starts
    triggers: Starts
    first_instants: Starts
    ensemble: tuple[Starts, ...]
    notes: tuple[str, ...]


def compare_with_truth(truth: Truth, *, n_phases: int = 24, seed: int = 1) -> Comparison:
    """Simulate a set in every way; the seed is that of the phases."""
    case = Case(truth, read_settings(truth.conf))
    return Comparison(
        truth,
        decisions=case.starts(case.given_passes()),
        triggers=case.starts(case.given_ticks()),
        first_instants=case.starts(case.first_instants()),
        ensemble=tuple(map(case.starts, case.free_clocks(n_phases, seed))),
        notes=case.notes(),
    )


def bsc_starts(truth: Truth) -> Starts:
    """Simulate a set as BSC's simulator would: steps of whole seconds, and no phases."""
    return Case(truth, read_settings(truth.conf)).starts(Clocks.bsc())


class Case:
    """A set as the model takes it: a workload with requests, and the clocks of its log.

    The run's zero is a whole second before everything that is in the set.
    """

    def __init__(self, truth: Truth, settings: SlurmSettings) -> None:
        self.truth = truth
        self.settings = settings
        log = self._log = _in_seconds_of_slurm(truth.log)
        jobs = (*truth.jobs, *truth.cancelled)
        first = min(
            [job.submit_date for job in jobs]
            + [one.date for one in log.passes[:1]]
            + log.cycles[:1]
        )
        self.epoch = math.floor(first)
        # the order of submission is that of the numbers, also within a millisecond
        self._jobs = sorted(jobs, key=lambda job: (job.submit_date, job.job_id))
        self._cancelled = {job.job_id for job in truth.cancelled}
        self._uses = _passes_of_nodes(truth, log)
        self._at_once = passes_at_once(
            log.passes, kills=self._kills(), spacing=settings.scheduling.batch_sched_delay
        )
        self._requests = Requests.of(self._request(job) for job in self._jobs)
        self._node_of_host = [
            node.name
            for node, hosts in zip(settings.nodes, hosts_of_nodes(settings), strict=True)
            for _ in hosts
        ]
        self._topology, self._associations = _read_extras(truth, settings)
        self._told: tuple[str, ...] = ()
        self._never: set[int] = set()

    def notes(self) -> tuple[str, ...]:
        """Return what the configuration asks for and the model does not, and jobs never started."""
        return (*self.settings.notes, *self._told, *self._never_started())

    def _never_started(self) -> Iterator[str]:
        numbers = sorted(self._never)
        if numbers:
            more = f" and {len(numbers) - _NAMED} more" if len(numbers) > _NAMED else ""
            named = ", ".join(map(str, numbers[:_NAMED]))
            yield f"the model never starts some jobs, with this slurm.conf: {named}{more}"

    def given_passes(self) -> Clocks:
        """Return the passes and cycles of the log."""
        log = self._log
        passes: list[tuple[float, PassKind]] = [
            (one.date - self.epoch, "full" if one.is_full else "quick") for one in log.passes
        ]
        passes += [(date - self.epoch, "backfill") for date in log.cycles]
        passes.sort()
        given = Clocks.given([*passes, *self._passes_after(passes[-1][0])])
        return replace(given, first_calculation=self._first_calculation())

    def _first_calculation(self) -> float:
        """Return when priorities were last computed before the run, as far as the log tells.

        A controller computes them when it starts, and then each period; where the log has none of
        these dates, its full passes count from the same second.
        """
        log = self._log
        full = [math.floor(one.date) for one in log.passes if one.is_full]
        known = log.calculations or full
        period = self._calculation_period()
        return ((known[0] - self.epoch) % period if known else 0) - float(period)

    def _passes_after(self, date: float) -> Iterator[tuple[float, PassKind]]:
        """Yield passes after the log, for jobs that the model has not started by its end."""
        longest = sum(job.runtime for job in self._jobs) + len(self._jobs)
        step = max(float(_AFTER), longest / _MOST_AFTER)
        for i in range(1, math.ceil(longest / step) + 1):
            yield date + i * step, "full"

    def _calculation_period(self) -> int:
        return self.settings.priority.calc_period or _CALC_PERIOD

    def given_ticks(self) -> Clocks:
        """Return the ticks and cycles of the log, and its first full pass."""
        return self._clocks(all_instants=True)

    def first_instants(self) -> Clocks:
        """Return the first tick, cycle and full pass of the log, and the mean period of ticks."""
        return self._clocks(all_instants=False)

    def _kills(self) -> list[float]:
        return sorted({*self._log.time_limits.values()})

    def _clocks(self, *, all_instants: bool) -> Clocks:
        log = self._log
        spacing = self.settings.scheduling.batch_sched_delay
        grid = tick_grid(log.passes, kills=self._kills(), spacing=spacing)
        ticks = [date - self.epoch for date in self._open_ticks(grid.dates)]
        cycles = [date - self.epoch for date in log.cycles]
        full = [one.date - self.epoch for one in log.passes if one.is_full]
        # without any in the log they come no sooner than its end
        last = ticks[-1]
        checks = [date - self.epoch for date in self._kills()]
        return Clocks(
            ticks=ticks if all_instants else (),
            first_tick=ticks[0],
            tick_period=grid.period,
            looks=cycles if all_instants else (),
            first_backfill=cycles[0] if cycles else last,
            first_full=math.floor(full[0]) if full else last,
            first_limit_check=self._first_check([*checks, *full]),
            limit_checks=checks if all_instants else (),
            kill_latency=0.0 if all_instants else KILL_LATENCY,
            first_calculation=self._first_calculation(),
        )

    def _first_check(self, dates: Sequence[float]) -> float:
        """Return when limits were first tested: at a kill, or as full passes, from the same second.

        Both count from the start of the controller; where intervals are no multiples of each other
        full passes do not tell.
        """
        over = self.settings.scheduling.sched_interval % _LIMIT_INTERVAL
        is_told = dates and (self._log.time_limits or over == 0)
        return math.floor(dates[0]) % _LIMIT_INTERVAL if is_told else 0.0

    def _open_ticks(self, dates: Sequence[float]) -> list[float]:
        """Leave out ticks that are too close to the last pass before there were jobs."""
        first = self._jobs[0].submit_date
        before = [one.date for one in self._log.passes if one.date < first]
        ready = math.floor(before[-1]) + self.settings.scheduling.batch_sched_delay if before else 0
        return [date for date in dates if date < first or math.floor(date) >= ready] or [*dates]

    def free_clocks(self, n: int, seed: int) -> list[Clocks]:
        """Draw the phases of n runs: each is uniform, and together they leave no large gaps.

        Each clock's range is cut into n equal parts, and every run gets a date of another part, in
        an order drawn for each clock (Latin hypercube sampling): the ensemble's mean is then less a
        matter of luck than with independent draws. The clocks begin with the first submission: a
        backfill thread that finds nothing to do before it looks each second, and keeps no phase.
        """
        rng = random.Random(seed)
        scheduling = self.settings.scheduling
        begin = math.floor(self._jobs[0].submit_date) - self.epoch
        period = self._calculation_period()
        lengths = (1, scheduling.bf_interval, scheduling.sched_interval, _LIMIT_INTERVAL, period)
        columns = [_spread_phases(rng, n, max(1, length)) for length in lengths]
        return [
            Clocks(
                first_tick=begin + tick,
                first_backfill=begin + backfill,
                first_full=begin + full,
                first_limit_check=begin + check,
                first_calculation=begin + calculation - period,
            )
            for tick, backfill, full, check, calculation in zip(*columns, strict=True)
        ]

    def starts(self, clocks: Clocks) -> Starts:
        """Simulate the set; return the starts in order of job numbers."""
        workload = self._workload(clocks)
        # where clocks are those of the log, jobs have their own, as it was
        options: dict[str, Any] = {"epilogue_delay": 0.0} if _is_logged(clocks) else {}
        schedule, model = simulate_slurm(
            workload,
            self.settings,
            self._requests,
            clocks=clocks,
            epoch=self.epoch,
            topology=self._topology,
            associations=self._associations,
            **options,
        )
        self._told = model.notes
        return self._found(schedule)

    def _workload(self, clocks: Clocks) -> Workload:
        """Return the jobs; where the clocks end them at their limits, with what they would run."""
        jobs = [
            Job(
                id=job.job_id,
                submit_time=self._date(job.submit_date, clocks),
                request=HostRequest(self._n_hosts(job)),
                profile=Delay(self._duration(job, clocks)),
                cancel_time=self._date(job.end_date, clocks)
                if job.job_id in self._cancelled
                else math.inf,
                epilogue_delay=self._completion_delay(job) if _is_logged(clocks) else 0.0,
            )
            for job in self._jobs
        ]
        return Workload.from_jobs(jobs)

    def _completion_delay(self, job: TruthJob) -> float:
        """Return how long its nodes stayed unusable after a job, as far as is known.

        They were back before the pass that gave one of them to another job: Slurm leaves nodes
        alone, also shared ones, while a job completes there.
        """
        nodes = expand_hosts(job.nodes) if job.nodes else []
        release = self._log.release(job.job_id, nodes, job.end_date)
        if release is None and job.is_timed_out:
            release = self._end_of_kill(job.end_date)
        delay = COMPLETION_DELAY
        if release is not None:
            delay = max(0.0, release - _RESOLUTION - job.end_date)
        uses = [date - job.end_date for node in nodes for date in self._uses.get(node, ())]
        return min([delay, *(use / 2 for use in uses if 0 <= use < delay)])

    def _end_of_kill(self, date: float) -> float:
        """Return when a job that was killed then was over: it asks for a pass at once."""
        i = bisect.bisect_right(self._at_once, date)
        found = self._at_once[i] if i < len(self._at_once) else math.inf
        return found if found < date + LONGEST_KILL else date + KILL_LATENCY

    def _date(self, date: float, clocks: Clocks) -> float:
        """Return a date of the run; BSC's simulator has whole seconds, as accounting does."""
        return (math.floor(date) if clocks.mode == "bsc" else date) - self.epoch

    def _duration(self, job: TruthJob, clocks: Clocks) -> float:
        if clocks.mode == "bsc" and not job.is_timed_out:
            return max(1, job.end - job.start)
        return _runtime(job) if clocks.enforces_limits else job.runtime

    def _n_hosts(self, job: TruthJob) -> int:
        return max(1, job.n_nodes or job.n_cpus)

    def _request(self, job: TruthJob) -> Request:
        for name in job.partitions:
            if self.settings.partition(name) is None:
                raise InputError(
                    f"{self.truth.path}.csv: job {job.job_id}: partition {name!r} is not in "
                    f"{self.truth.conf}"
                )
        request = Request(
            partitions=job.partitions,
            min_nodes=max(1, job.n_nodes),
            max_nodes=0 if job.n_nodes else None,
            tasks=job.n_cpus,
            limit=job.limit_minutes,
            name=job.name,
            user=job.user,
            account=job.account,
            qos=job.qos,
            priority=self._priority(job),
        )
        return with_nodes_for_tasks(replace(request, **asked_fields(job.options)))

    def _priority(self, job: TruthJob) -> int | None:
        """Return its number where they are counted: refused submissions, in no set, have some."""
        is_counted = self.settings.priority.priority_type == "priority/basic"
        return job.priority if is_counted else None

    def _found(self, schedule: Schedule) -> Starts:
        names = ("job_id", "start_time", "finish_time", "hosts")
        rows = zip(*(schedule.column(name).tolist() for name in names), strict=True)
        # of a job that was requeued the last attempt, as a set has it
        last = {int(attempted_id(job_id)): row for job_id, *row in rows}
        found = [
            self._start(schedule, job_id, *row)
            for job_id, row in last.items()
            if job_id not in self._cancelled
        ]
        return sorted(found, key=lambda one: one.job_id)

    def _start(
        self, schedule: Schedule, job_id: int, start: float, end: float, hosts: Collection[int]
    ) -> SimulatedStart:
        if not hosts:
            # one that the model refuses waits as long as there is anything
            self._never.add(job_id)
            start = end = schedule.end
        nodes = dict.fromkeys(self._node_of_host[host] for host in hosts)
        return SimulatedStart(job_id, self.epoch + start, self.epoch + end, compress_hosts(nodes))


def _is_logged(clocks: Clocks) -> bool:
    """Whether passes or ticks are those of a log."""
    return clocks.mode == "passes" or len(clocks.ticks) > 0


def _in_seconds_of_slurm(log: ControllerLog) -> ControllerLog:
    """Return a log whose passes are in the seconds that Slurm itself counted them in.

    The clock of its schedulers is a little behind that of its log: passes of the first millisecond
    of a second started their jobs in the one before.
    """

    def counted(date: float) -> float:
        return date - _RESOLUTION if date % 1.0 < _RESOLUTION / 2 else date

    passes = [replace(one, date=counted(one.date)) for one in log.passes]
    return replace(log, passes=passes, cycles=[counted(date) for date in log.cycles])


def _passes_of_nodes(truth: Truth, log: ControllerLog) -> dict[str, list[float]]:
    """Return the dates of passes that gave each node to a job."""
    dates = sorted([*(one.date for one in log.passes), *log.cycles])
    found: dict[str, list[float]] = {}
    for job in truth.jobs:
        i = bisect.bisect_right(dates, job.start_date)
        for node in expand_hosts(job.nodes) if job.nodes and i else []:
            found.setdefault(node, []).append(dates[i - 1])
    return found


def _spread_phases(rng: random.Random, n: int, length: float) -> list[float]:
    parts = list(range(n))
    rng.shuffle(parts)
    return [(part + rng.random()) / n * length for part in parts]


def _read_extras(
    truth: Truth, settings: SlurmSettings
) -> tuple[Topology | None, Associations | None]:
    """Read the switches and accounts of a set, where they are told."""
    switches = truth.beside(".topology.conf")
    accounts, qos = truth.beside(".associations.txt"), truth.beside(".qos.txt")
    topology = None if switches is None else read_topology(switches, settings.node_table)
    associations = None if accounts is None else read_associations(accounts)
    if associations is not None and qos is not None:
        associations = associations.with_qos(read_qos(qos))
    return topology, associations


def _runtime(job: TruthJob) -> float:
    """Return how long a job would run if nobody ended it."""
    if not job.is_timed_out:
        return job.runtime
    return max(job.runtime + _OVERTIME if job.sleep is None else job.sleep, job.runtime)
