"""One run of a campaign, from its spec to its numbers: the same in a thread, or anywhere else."""

from __future__ import annotations

import math
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from noctule.batch import Measure, run_batch
from noctule.campaign.bounds import fitting, unlimited
from noctule.campaign.inputs import InputFiles
from noctule.campaign.specs import FileRef, PlatformSpec, RunSpec, WorkloadSpec, workload_key
from noctule.errors import NoctuleError
from noctule.formats import load_workload
from noctule.formats.event_files import load_events
from noctule.formats.platforms import load_platform
from noctule.formats.rates import load_rates
from noctule.formats.swf import SwfRules
from noctule.formats.windows_toml import load_windows
from noctule.metrics import Numbers, offline, summary
from noctule.platform import Platform
from noctule.policy import PolicySpec
from noctule.rates import NO_RATES, Rates
from noctule.run import hosts_told_by
from noctule.simulation import Simulation
from noctule.traces import exact_walltimes, extract, load_trace, scale_load, select, shake

if TYPE_CHECKING:
    from noctule.schedule import Schedule
    from noctule.workload import Workload

Result = TypeVar("Result")

TRIMMED = "trimmed_"
# so many jobs are kept in memory, as workloads that the next runs may need
_KEPT_JOBS = 2_000_000


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came out of a run; there is an error or there are metrics."""

    metrics: dict[str, float | int | None] = {}
    error: str = ""
    jobs: bytes = b""
    seconds: float = 0.0


class Stopped(Exception):  # noqa: N818  (it is no error: somebody asked for it)
    """The campaign is stopped while a run is under way."""


class Runner:
    """Does runs one after the other, also from several threads; keeps what they share."""

    def __init__(
        self, inputs: InputFiles | None = None, *, is_stopped: Callable[[], bool] = bool
    ) -> None:
        """Take the input files, and what to ask whether to go on."""
        self._inputs = inputs or InputFiles()
        self._is_stopped = is_stopped
        self._workloads = WorkloadCache()
        self._platforms: dict[PlatformSpec, Platform] = {}

    def execute(self, spec: RunSpec) -> Outcome:
        """Do a run; what goes wrong in it is an outcome, too."""
        return self.execute_all([spec])[0]

    def execute_all(self, specs: Sequence[RunSpec]) -> list[Outcome]:
        """Do runs that are measured alike; native ones all together, without Python in between."""
        began = time.perf_counter()
        prepared = [_tried(self._simulation, spec) for spec in specs]
        native = [one for one in prepared if isinstance(one, Simulation) and _is_batched(one)]
        batch = run_batch(native, _measures(specs[0]), self._go_on)
        outcomes = [
            _tried(self._outcome, spec, one, batch) if isinstance(one, Simulation) else one
            for spec, one in zip(specs, prepared, strict=True)
        ]
        seconds = (time.perf_counter() - began) / len(specs)
        return [msgspec.structs.replace(outcome, seconds=seconds) for outcome in outcomes]

    def _outcome(
        self, spec: RunSpec, simulation: Simulation, batch: Iterator[list[Numbers] | str]
    ) -> Outcome:
        """Do a run, or take the next one of the batch."""
        if _is_batched(simulation):
            found = next(batch)
            if isinstance(found, str):
                return Outcome(error=found)
        else:
            schedule = simulation.run(lambda _: self._go_on())
            rates = self._rates(spec) if schedule.counts_energy else NO_RATES
            found = [
                summary(schedule, warm_up=up, cool_down=down, threshold=threshold, rates=rates)
                for up, down, threshold in _measures(spec)
            ]
            if spec.measures.offline and schedule.counts_energy:
                for numbers, (up, down, _) in zip(found, _measures(spec), strict=True):
                    numbers.update(offline(schedule, warm_up=up, cool_down=down))
        metrics = {
            f"{prefix}{name}": value if math.isfinite(value) else None
            for prefix, numbers in zip(("", TRIMMED), found, strict=False)
            for name, value in numbers.items()
        }
        jobs = _jobs_table(simulation.schedule()) if spec.keep_jobs else b""
        return Outcome(metrics=metrics, jobs=jobs)

    def workload(self, spec: WorkloadSpec) -> Workload:
        """Return a workload, read or drawn unless it is at hand."""
        return self._workloads.get(workload_key(spec), lambda: self._make(spec))

    def _rates(self, spec: RunSpec) -> Rates:
        """Return what a kilowatt-hour emits and costs, at the dates of the run's workload."""
        if not spec.measures.has_rates:
            return NO_RATES
        given = (spec.measures.carbon, spec.measures.price)
        carbon, price = (
            self._inputs.path_of(one) if isinstance(one, FileRef) else one for one in given
        )
        return load_rates(carbon, price, self.workload(spec.workload).headers)

    def _simulation(self, spec: RunSpec) -> Simulation:
        workload = self.workload(spec.workload)
        platform = self._platform(spec.platform, workload)
        if spec.platform.unlimited:
            workload = fitting(workload, platform.n_hosts)
            delay = spec.options.launch_delay + spec.options.epilogue_delay
            platform = unlimited(workload, platform, delay)
        policy = PolicySpec.parse(spec.policy)
        if spec.policy_file is not None:
            path = self._inputs.path_of(spec.policy_file)
            policy = PolicySpec(f"{path}:{policy.name.rpartition(':')[2]}", policy.parameters)
        options = spec.options
        if spec.platform.unlimited:  # what hosts draw that are not there means nothing
            options = msgspec.structs.replace(options, energy="off")
        events = None if spec.events is None else load_events(self._inputs.path_of(spec.events))
        windows = None if spec.windows is None else load_windows(self._inputs.path_of(spec.windows))
        return Simulation(
            platform, workload, policy, events, windows=windows, **options.as_keywords()
        )

    def _go_on(self) -> None:
        if self._is_stopped():
            raise Stopped

    def _make(self, spec: WorkloadSpec) -> Workload:
        if spec.exact_walltimes:
            told = msgspec.structs.replace(spec, exact_walltimes=False)
            return exact_walltimes(self.workload(told))
        if spec.shake is not None:
            assert spec.seed is not None
            seed = None if spec.model is None else spec.seed
            calm = self.workload(msgspec.structs.replace(spec, shake=None, seed=seed))
            return shake(calm, spec.shake, seed=spec.seed)
        if spec.first_jobs is not None:
            whole = self.workload(msgspec.structs.replace(spec, first_jobs=None))
            return select(whole, positions=slice(spec.first_jobs))
        if spec.in_time:
            return select(self.workload(msgspec.structs.replace(spec, in_time=False)), in_time=True)
        if spec.load != 1.0:
            return scale_load(self.workload(msgspec.structs.replace(spec, load=1.0)), spec.load)
        return self._source(spec)

    def _source(self, spec: WorkloadSpec) -> Workload:
        if spec.model is None:
            assert spec.file is not None
            reading = msgspec.structs.asdict(spec.reading)
            path = self._inputs.path_of(spec.file, spec.beside)
            if spec.start is None or spec.length is None:
                return load_workload(path, **reading)
            trace = load_trace(path, rules=SwfRules(**reading, keep_dates=True))
            return extract(trace, spec.start, spec.length, at_the_start=spec.at_the_start)
        from noctule.synthetic.named import LOGS, draw

        assert spec.seed is not None
        files = {
            name: self.workload(WorkloadSpec(file=ref))
            if name in LOGS
            else self._inputs.path_of(ref)
            for name, ref in spec.files.items()
        }
        return draw(f"model {spec.model}", spec.model, spec.parameters | files, seed=spec.seed)

    def _platform(self, spec: PlatformSpec, workload: Workload) -> Platform:
        if spec.file is None and spec.n_hosts is None:
            spec = msgspec.structs.replace(spec, n_hosts=hosts_told_by(workload)[0])
        spec = msgspec.structs.replace(spec, unlimited=False)
        if spec not in self._platforms:
            self._platforms[spec] = self._read_platform(spec)
        return self._platforms[spec]

    def _read_platform(self, spec: PlatformSpec) -> Platform:
        if spec.file is None:
            assert spec.n_hosts is not None
            return Platform.homogeneous(spec.n_hosts, spec.speed)
        path = self._inputs.path_of(spec.file, spec.beside)
        return load_platform(path, host_order=spec.host_order)


class WorkloadCache:
    """Workloads that were made lately, each made once, also if several threads ask for it."""

    def __init__(self, n_jobs: int = _KEPT_JOBS) -> None:
        self._n_jobs = n_jobs
        self._kept: OrderedDict[str, Workload] = OrderedDict()
        self._making: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: str, make: Callable[[], Workload]) -> Workload:
        """Return the workload of a key; make it if it is not at hand."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._kept:
                    return self._kept[key]
            workload = make()
            with self._lock:
                self._kept[key] = workload
                self._making.pop(key, None)
                self._forget()
        return workload

    def _forget(self) -> None:
        n_jobs = sum(len(workload) for workload in self._kept.values())
        while n_jobs > self._n_jobs and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            n_jobs -= len(oldest)


def _tried(call: Callable[..., Result], *arguments: Any) -> Result | Outcome:
    """Return what a part of a run gives, or its failure."""
    try:
        return call(*arguments)
    except NoctuleError as error:
        return Outcome(error=str(error))
    except MemoryError:
        return Outcome(error="out of memory")


def _is_batched(simulation: Simulation) -> bool:
    """Tell whether a run needs no Python, neither for its decisions nor for its numbers."""
    return (
        simulation.is_native
        and simulation.options.energy == "off"
        and not simulation.moves_submissions
        and not simulation.may_interrupt_jobs
    )


def _measures(spec: RunSpec) -> list[Measure]:
    """Return how a schedule is measured: as a whole and, if asked, trimmed."""
    asked = spec.measures
    whole = (0.0, 0.0, asked.threshold)
    return [whole, (asked.warm_up, asked.cool_down, asked.threshold)] if asked.trims else [whole]


def _jobs_table(schedule: Schedule) -> bytes:
    with tempfile.TemporaryDirectory(prefix="noctule-") as folder:
        schedule.save(folder, parquet=True)
        return (Path(folder) / "jobs.parquet").read_bytes()
