"""The readers of Noctule, each as a function of a file: it returns, or raises what goes wrong.

A file that is read is used a little, too: simulated if it is small, written, and read once more.
Which of several ways is taken depends on the content of the file only.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from mutations import SEEDS
from slurm_targets import bsc_trace, sacct, slurm_conf, slurm_dump, slurm_hosts

from noctule import Platform, Schedule, load_platform, load_workload, metrics, simulate, synthetic
from noctule.batsim.arguments4 import execution_context, read_arguments, refuse_unreadable
from noctule.batsim.arguments5 import (
    execution_context5,
    read_arguments5,
    refuse_unreadable5,
)
from noctule.errors import NoctuleError
from noctule.external_events import ExternalEvents
from noctule.formats.batsim import read_batsim_file
from noctule.formats.batsim_events import read_batsim_events
from noctule.formats.dax import read_dax
from noctule.formats.event_files import event_lines, load_events, read_events
from noctule.formats.platforms import save_platform
from noctule.formats.rates import load_rate
from noctule.formats.saving import save_workload
from noctule.formats.windows_toml import load_windows
from noctule.platform import Host, HostKind, Hosts, Role, SleepState
from noctule.policies import make_policy
from noctule.policies.native import NATIVE_POLICIES
from noctule.policy import PolicySpec
from noctule.printing.platforms import platform_result
from noctule.remote.batsim4_replies import ReplyReader
from noctule.remote.batsim4_writing import BatsimSetup
from noctule.remote.batsim5 import EdcScheduler, EdcSetup, Features, read_hello
from noctule.remote.batsim_registry import Registry
from noctule.remote.batsim_workload import BatsimWorkload
from noctule.remote.serving import PolicyServer, make_served
from noctule.run import read_manifest, rerun
from noctule.sessions import (
    Sessions,
    find_batches,
    find_sessions,
    fit_think_times,
    load_sessions,
    save_sessions,
    session_stats,
    weekly_activity,
)
from noctule.simulation import Simulation
from noctule.testing.invariants import check_schedule
from noctule.traces import find_oddities, load_raw, load_trace, trace_stats
from noctule.workload import Workload

FEW_JOBS, FEW_HOSTS = 60, 5_000

# Numbers near the largest one may add up to infinity; only readers must not let them pass.
_LARGE_NUMBERS = np.errstate(over="ignore", invalid="ignore")
_READINGS: tuple[dict[str, Any], ...] = (
    {},
    {"processors": "allocated", "walltime_factor": None},
    {"profiles": "delay", "walltime_factor": 2},
    {"dependencies": True, "reference_speed": 1e9},
)
_CUTS = ("arrival", "last", "max")
_POLICIES = ("easy", "fcfs", "conservative", "filler(order=sjf)", "replanning(order=wfp3)")


@dataclass(frozen=True)
class Reader:
    """A reader: the name of its folder of texts, the ending of its files, and what it does."""

    name: str
    ending: str
    read: Callable[[Path, int], None]

    def __call__(self, path: Path, data: bytes) -> None:
        """Read a file of this content."""
        path.write_bytes(data)
        self.read(path, zlib.crc32(data))


class UnreadableError(Exception):
    """A file that Noctule wrote is one that it refuses."""


def _read_again(load: Callable[[Path], object], path: Path) -> None:
    try:
        load(path)
    except NoctuleError as error:
        raise UnreadableError(str(error)) from None


def _swf(path: Path, choice: int) -> None:
    if choice % 8 < 4:
        _use(load_workload(path, **_READINGS[choice % 4]), path, choice // 8)
    elif choice % 8 < 7:
        _use_trace(load_trace(path), path, choice // 8)
    else:
        find_oddities(load_raw(path))


def _batsim(path: Path, choice: int) -> None:
    if choice % 4 < 3:
        _use(load_workload(path), path, choice // 4)
    else:
        _use_trace(load_trace(path), path, choice // 4)


def _batsim_programs(path: Path, choice: int) -> None:
    workload = load_trace(path)
    target = path.with_name("again.json")
    save_workload(workload, target, force=True)
    _read_again(load_trace, target)


@_LARGE_NUMBERS
def _use(workload: Workload, path: Path, choice: int) -> None:
    n_hosts = max(workload.n_hosts, default=1)
    if len(workload) > FEW_JOBS or n_hosts > FEW_HOSTS:
        return
    if choice % 2:
        _use_trace(workload, path, choice // 2)
        return
    policy = _POLICIES[choice // 2 % len(_POLICIES)]
    schedule = simulate(Platform.homogeneous(int(n_hosts)), workload, policy)
    metrics.summary(schedule)


@_LARGE_NUMBERS
def _use_trace(workload: Workload, path: Path, choice: int) -> None:
    if not 0 < len(workload) <= FEW_JOBS:
        return
    match choice % 4:
        case 0:
            trace_stats(workload)
            with suppress(NoctuleError):  # it may tell no users, or no ends
                _use_sessions(find_sessions(workload, threshold=60, cut=_CUTS[choice % 3]), path)
        case 1:
            target = path.with_name("again.json")
            save_workload(workload, target, force=True)
            _read_again(load_trace, target)
        case _:
            target = path.with_name("again.swf")
            save_workload(workload, target, force=True, speed=1.0)
            _read_again(load_trace, target)


def _sessions(path: Path, _: int) -> None:
    sessions = load_sessions(path)
    if len(sessions) <= FEW_JOBS:
        _use_sessions(sessions, path)


@_LARGE_NUMBERS
def _use_sessions(sessions: Sessions, path: Path) -> None:
    session_stats(sessions)
    weekly_activity(sessions.record)
    target = path.with_name("users")
    save_sessions(sessions, target, force=True)
    _read_again(load_sessions, target)
    with suppress(NoctuleError):  # it may tell no ends, or too few think times
        fit_think_times(find_batches(sessions).graph)


def _platform(path: Path, choice: int) -> None:
    order = "lexicographic" if choice % 4 == 0 else "natural"
    platform = load_platform(path, host_order=order)
    if platform.n_hosts > FEW_HOSTS:
        return
    if choice % 2:
        platform_result(platform)
        return
    target = path.with_name("again" + (".xml", ".toml", ".json")[choice // 4 % 3])
    save_platform(platform, target, force=True)
    _read_again(load_platform, target)


def _jobs_csv(path: Path, choice: int) -> None:
    _use_schedule(Schedule.from_jobs_csv(path, 8), choice)


def _folder(path: Path, choice: int, *, name: str) -> None:
    """Read a folder of a run in which one file is the input."""
    folder = path.with_name(f"run {name}")
    if not folder.is_dir():
        folder.mkdir()
        for file, seed in _RUN_FILES.items():
            (folder / file).write_bytes((SEEDS / seed).read_bytes())
    path.replace(folder / name)
    _use_schedule(Schedule.load(folder), choice)


@_LARGE_NUMBERS
def _use_schedule(schedule: Schedule, choice: int) -> None:
    if len(schedule) > FEW_JOBS:
        return
    match choice % 3:
        case 0:
            check_schedule(schedule, policy=("easy", "fcfs", "conservative", None)[choice // 3 % 4])
        case 1:
            metrics.summary(schedule)
            _ = schedule.jobs
            _ = schedule.power_states
        case _:
            schedule._totals = None if choice % 2 else schedule._totals
            for _, pieces in schedule.texts():
                "".join(pieces)


_RUN_FILES = {
    "jobs.csv": "jobs_csv/batsim.csv",
    "schedule.csv": "schedule_csv/schedule.csv",
    "machine_states.csv": "host_states_csv/machine_states.csv",
    "consumed_energy.csv": "energy_csv/consumed_energy.csv",
    "pstate_changes.csv": "power_states_csv/pstate_changes.csv",
    "power.csv": "power_csv/power.csv",
}


@_LARGE_NUMBERS
def _rate(path: Path, choice: int) -> None:
    what = "carbon" if choice % 2 else "price"
    rate = load_rate(path, what, {"UnixStartTime": "1709200000", "TimeZoneString": "Europe/Berlin"})
    first = max(rate.start, -1e6)
    last = min(rate.end, first + 1e6)
    rate.means([first], [last])
    rate.changes(first, last, 100)


def _policy(path: Path, choice: int) -> None:
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    spec = PolicySpec.parse(text)
    _read_again(lambda _: PolicySpec.parse(str(spec)), path)
    if ":" in spec.name:  # what it names would be imported
        return
    if spec.name not in NATIVE_POLICIES:
        if choice % 64 == 0:  # other packages are looked through, which is slow
            make_policy(text)
        spec = PolicySpec("easy", spec.parameters)
    policy = make_policy(spec)
    if choice % 8 == 0:
        simulate(Platform.homogeneous(4), load_workload(SEEDS / "swf" / "plain.swf"), policy)


def _generator(path: Path, choice: int) -> None:
    log = path.with_name("log.swf")
    if not log.is_file():
        log.write_bytes((SEEDS / "swf" / "plain.swf").read_bytes())
    n_hosts = 64 if choice % 2 else None
    _use(synthetic.independent(path, 20, seed=choice, n_hosts=n_hosts), path, choice // 2)


def _coefficients(path: Path, choice: int) -> None:
    n_hosts = 64 if choice % 2 else None
    _use(synthetic.cirne(20, seed=choice, coefficients=path, n_hosts=n_hosts), path, choice // 2)


def _programs(path: Path, choice: int) -> None:
    programs = synthetic.read_programs(path)
    _use(synthetic.batsim2016(5, seed=choice, runtimes=programs, n_hosts=8), path, choice)


def _manifest(path: Path, _: int) -> None:
    options = read_manifest(path).options
    # only what is surely small and our own is run: a manifest may name any file and any module
    if PolicySpec.parse(options.policy).name not in NATIVE_POLICIES:
        return
    if options.workload == "log.swf" and 0 < (options.platform.n_hosts or 0) <= FEW_HOSTS:
        log = path.with_name("log.swf")
        log.write_bytes((SEEDS / "swf" / "plain.swf").read_bytes())
        rerun(path)


def _batsim_reply(path: Path, choice: int) -> None:
    hosts = Hosts.alike(["h0", "h1", "h2", "h3"], HostKind())
    platform = Platform(hosts, storages=(Host(4, "nas", HostKind(role=Role.STORAGE)),))
    profiles = {"each": {"type": "parallel_homogeneous", "cpu": 1e6, "com": 0}}
    jobs = {f"w0!{i}": {"id": i, "subtime": 0, "res": 2, "profile": "each"} for i in (1, 2, 3)}
    setup = BatsimSetup(
        platform=platform,
        workloads=[BatsimWorkload("w0", "w0.json", jobs, profiles)],
        dynamic_jobs=True,
        energy=True,
        exact_dates=choice % 2 == 0,
    )
    reader = ReplyReader(setup, Registry(setup.workloads, keeps_names=False), [])
    reader.jobs.update({job_id: job_id for job_id in jobs})
    reader.read(path.read_bytes(), 10.0)


_EDC_WORKLOAD = b"""{"nb_res": 4, "profiles": {
    "each": {"type": "ParallelTaskHomogeneousProfile", "cpu": 1e6, "com": 0},
    "pair": {"type": "ParallelTaskProfile", "cpu": [1, 2], "com": [0, 0, 0, 0]},
    "both": {"type": "SequentialCompositionProfile", "seq": ["each", "pair"]}
}, "jobs": [
    {"id": 1, "subtime": 0, "res": 2, "profile": "each"},
    {"id": 2, "subtime": 0, "res": 2, "profile": "pair"},
    {"id": 3, "subtime": 0, "res": 2, "profile": "both"}
]}"""


def _batsim5_reply(path: Path, choice: int) -> None:
    """Carry out what a decision component replies to the first message."""
    text = path.read_bytes()
    if choice % 4 == 0:
        with suppress(NoctuleError):
            read_hello(text)
    kind = HostKind(speeds=(1e9, 2e9, 1.0, 0.5), sleep_states=(SleepState(1, 2, 3),), cores=4)
    hosts = Hosts.alike(["h0", "h1", "h2", "h3"], kind)
    platform = Platform(hosts, storages=(Host(4, "nas", HostKind(role=Role.STORAGE)),))
    file = read_batsim_file(_EDC_WORKLOAD, source="w0.json", full_names=True)
    jobs = {str(job.id): raw for job, raw in zip(file.jobs, file.raw_jobs, strict=True)}
    told = BatsimWorkload("w0", "w0.json", jobs, file.raw_profiles)
    setup = EdcSetup(platform=platform, workloads=[told], energy=True)
    scheduler = EdcScheduler(setup, Features(dynamic_registration=True), lambda _: text)
    simulation = Simulation(
        platform,
        Workload.from_jobs(file.jobs, profiles=file.profiles),
        scheduler,
        machine=True,
        share_hosts=True,
        batsim_events=True,
        wait_for_timers=True,
        reject_oversized=False,
        open_registration=True,
    )
    simulation.step()


def _batsim5_words(path: Path, _: int) -> None:
    words = path.read_bytes().decode("utf-8", "surrogateescape").splitlines()
    run = read_arguments5(words)
    execution_context5(run)
    with suppress(NoctuleError):  # none of its files is there
        refuse_unreadable5(run)


def _batsim_requests(path: Path, choice: int) -> None:
    """Read requests of a simulator, one a line."""
    server = PolicyServer(make_served(("easy", "conservative", "filler")[choice % 3]))
    for line in path.read_bytes().splitlines():
        server.answer(line)


def _dax(path: Path, _: int) -> None:
    workflow = read_dax(path.read_bytes(), source="flow.dax")
    assert len(workflow.first) > 0 or not workflow.tasks


def _batsim_events(path: Path, _: int) -> None:
    events = read_batsim_events(path.read_bytes(), source="events", forward_unknown=True)
    ExternalEvents.from_events(events, source="events")


def _events(path: Path, _: int) -> None:
    events = load_events(path)
    again = read_events("".join(event_lines(events)).encode(), source="again")
    assert [event.time for event in again] == [event.time for event in events]


def _windows(path: Path, _: int) -> None:
    windows = load_windows(path)
    with suppress(NoctuleError):
        windows.on(8).as_core()


def _batsim_words(path: Path, _: int) -> None:
    words = path.read_bytes().decode("utf-8", "surrogateescape").splitlines()
    run = read_arguments(words)
    execution_context(run)
    with suppress(NoctuleError):  # none of its files is there
        refuse_unreadable(run)


READERS = {
    reader.name: reader
    for reader in (
        Reader("swf", ".swf", _swf),
        Reader("batsim", ".json", _batsim),
        Reader("batsim_programs", ".json", _batsim_programs),
        Reader("batsim_reply", ".json", _batsim_reply),
        Reader("batsim5_reply", ".json", _batsim5_reply),
        Reader("batsim5_words", ".txt", _batsim5_words),
        Reader("batsim_requests", ".jsonl", _batsim_requests),
        Reader("batsim_events", ".txt", _batsim_events),
        Reader("events", ".jsonl", _events),
        Reader("windows", ".toml", _windows),
        Reader("batsim_words", ".txt", _batsim_words),
        Reader("dax", ".dax", _dax),
        Reader("simgrid", ".xml", _platform),
        Reader("platform_toml", ".toml", _platform),
        Reader("platform_json", ".json", _platform),
        Reader("jobs_csv", ".csv", _jobs_csv),
        Reader("schedule_csv", ".csv", partial(_folder, name="schedule.csv")),
        Reader("host_states_csv", ".csv", partial(_folder, name="machine_states.csv")),
        Reader("energy_csv", ".csv", partial(_folder, name="consumed_energy.csv")),
        Reader("power_states_csv", ".csv", partial(_folder, name="pstate_changes.csv")),
        Reader("power_csv", ".csv", partial(_folder, name="power.csv")),
        Reader("rate_csv", ".csv", _rate),
        Reader("policy", ".txt", _policy),
        Reader("generator", ".toml", _generator),
        Reader("coefficients", ".toml", _coefficients),
        Reader("programs", ".txt", _programs),
        Reader("manifest", ".json", _manifest),
        Reader("sessions", ".json", _sessions),
        Reader("slurm_conf", ".conf", slurm_conf),
        Reader("slurm_hosts", ".txt", slurm_hosts),
        Reader("sacct", ".txt", sacct),
        Reader("slurm_dump", ".txt", slurm_dump),
        Reader("bsc_trace", ".sim", bsc_trace),
    )
}
