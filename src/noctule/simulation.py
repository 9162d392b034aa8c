"""One run: a platform, a workload and a policy become a Schedule.

`simulate` does a run in one call. A `Simulation` can be stepped, looked at and stopped.
"""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from noctule import _core
from noctule.columns import KIND_DELAY, KIND_PROGRAM
from noctule.errors import DeadlockError, DecisionError, InputError, NoctuleError
from noctule.external_events import KINDS, ExternalEvents
from noctule.hierarchy import groups_of
from noctule.machine import (
    BILLINGS,
    SOLVERS,
    has_availabilities,
    machine_plan,
    refuse_unknown_power,
)
from noctule.platform import Platform
from noctule.policies import make_policy
from noctule.policy import OutsidePolicy, Policy, PolicySpec, View
from noctule.record import Floats, JobsLike
from noctule.registration import RunJobs
from noctule.replay import make_replay
from noctule.schedule import Schedule
from noctule.simulation_options import Options, OptionValues
from noctule.windows import Maintenance, Windows
from noctule.workload import JobId, Workload

__all__ = ["OptionValues", "Options", "Progress", "Simulation", "simulate"]

# A run is cut into slices: long enough to cost nothing, short enough for progress and Ctrl-C.
_FIRST_SLICE, _FIRST_NATIVE_SLICE = 64, 2048
_SECONDS_A_SLICE = 0.1


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come."""

    now: float
    n_ended: int
    n_jobs: int


ProgressReport = Callable[[Progress], object]


class Simulation:
    """One run that can be stepped, looked at and stopped."""

    def __init__(
        self,
        platform: Platform,
        workload: Workload,
        policy: str | PolicySpec | type | Policy,
        external_events: ExternalEvents | Sequence[ExternalEvents] | None = None,
        *,
        windows: Windows | None = None,
        submitters: Sequence[Sequence[JobId]] | None = None,
        **options: Unpack[OptionValues],
    ) -> None:
        """Prepare a run; see Options for the keywords.

        Args:
            platform: hosts and network.
            workload: jobs.
            policy: who decides.
            external_events: what happens from outside; several lists are submitted one by one.
            windows: maintenances and reservations that are known beforehand.
            submitters: with batsim_latency, the ids of the jobs that each submitter submits; one
                submits all of them if nothing is said.
            options: see Options.
        """
        self.platform = platform
        self.options = Options(**options)
        self._replay = make_replay(self.options.replay)
        replayed = self._replay.applied_to(workload)
        self.workload = workload = replayed.workload
        self.external_events = _as_lists(external_events)
        self.windows = (windows or Windows()).on(platform.n_hosts)
        self._policy = make_policy(policy)
        self._outside = self._policy if isinstance(self._policy, OutsidePolicy) else OutsidePolicy()
        self._shares_hosts = self.options.share_hosts or self._outside.shares_hosts
        self._refuse_unsupported()
        self.moves_submissions = replayed.users is not None
        if self.moves_submissions and submitters is not None:
            raise InputError("replay: got submitters as well, expected one or the other")
        scale = workload.reference_speed
        if scale is None:
            scale = platform.reference_speed
        machine = self._machine_setup()
        positions = _positions(workload, submitters)
        self._engine = self._make_engine(scale, machine, positions, replayed.users)
        self._jobs = RunJobs(
            self._engine,
            workload,
            scale,
            runs_programs=machine is not None and not machine.is_book,
            resubmits=self.options.on_failure == "resubmit" or self._replay.resubmit > 0,
        )
        self.view = View(self._engine, self._jobs, self.options.clairvoyant)
        self._ended = False
        self._stepping = False
        self._outside.prepare(platform, workload)
        self._schedule: Schedule | None = None

    @property
    def now(self) -> float:
        """Simulated date."""
        return self._engine.now

    @property
    def is_native(self) -> bool:
        """Whether the policy runs without Python."""
        return isinstance(self._policy, _core.NativePolicy)

    @property
    def may_interrupt_jobs(self) -> bool:
        """Whether jobs may be ended from outside, or take steps against it: what is lost counts."""
        options = self.options
        return (
            self._has_failures
            or any(isinstance(one, Maintenance) and one.kills for one in self.windows)
            or options.on_failure == "resubmit"
            or options.checkpoint_every < math.inf
            or options.restart_cost > 0
            or self._replay.resubmit > 0
        )

    @property
    def _has_failures(self) -> bool:
        return any("failed" in events.kinds for events in self.external_events)

    @property
    def _native_parts(self) -> tuple[_core.Engine, _core.NativePolicy]:
        """What a batch of native runs is made of; the run ends there."""
        if not isinstance(self._policy, _core.NativePolicy):
            raise InputError("simulation: got a policy in Python, expected a native one")
        self._ended = True
        return self._engine, self._policy

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self._ended

    @property
    def progress(self) -> Progress:
        """How far the run has come."""
        return Progress(self._engine.now, self._engine.n_ended, self._engine.n_jobs)

    def step(self, n_calls: int = 1) -> bool:
        """Call the policy so many times, once an instant; False once the run has ended."""
        if self._ended:
            return False
        if self._stepping:
            raise InputError(
                "simulation: got a step while it is running, expected neither its policy nor "
                "another thread to go on with it"
            )
        self._stepping = True
        try:
            if isinstance(self._policy, _core.NativePolicy):
                self._ended = not self._engine.run(self._policy, n_calls)
            else:
                self._ended = not _core.run_python(
                    self.view, self._policy.decide, n_calls, self._policy
                )
        except DeadlockError as error:
            self._ended = True
            why = self._outside.explain_deadlock()
            raise DeadlockError(f"{error}; {why}" if why else str(error)) from None
        except (Exception, SystemExit) as error:
            self._ended = True
            if isinstance(error, NoctuleError):
                raise
            raise DecisionError(self._complaint(error)) from error
        except BaseException:
            # Ctrl-C may fall into the middle of a call: there is no going on from there.
            self._ended = True
            raise
        finally:
            self._stepping = False
            if self._ended:
                self._outside.close()
        return not self._ended

    def run(self, progress: ProgressReport | None = None) -> Schedule:
        """Go on to the end; `progress` is called a few times a second."""
        n_calls = _FIRST_NATIVE_SLICE if self.is_native else _FIRST_SLICE
        began = time.monotonic()
        while self.step(n_calls):
            now = time.monotonic()
            n_calls = max(1, n_calls // 2 if now - began > _SECONDS_A_SLICE else n_calls * 2)
            began = now
            if progress is not None:
                progress(self.progress)
        return self.schedule()

    def stop(self) -> None:
        """End the run here; jobs that run or wait stay so in the schedule."""
        self._ended = True
        self._outside.close()

    def schedule(self) -> Schedule:
        """Return what has happened so far."""
        if self._schedule is not None:
            return self._schedule
        engine = self._engine
        registered = self._jobs.as_table()
        tables: list[JobsLike] = [self.workload]
        if registered is not None:
            tables.append(registered)
        schedule = Schedule(
            self.platform,
            tables,
            engine.record(final=self._ended),
            # of a run that goes on, as they are now; otherwise only if somebody asks
            spent=engine.spent if self._ended and self._counts_energy else engine.spent(),
            end=engine.now,
            notes=[*engine.warnings(), *self._policy_warnings()],
            recorded=self.workload.submit_time if self.moves_submissions else None,
            held=self._held(tables),
        )
        if self._ended:
            self._schedule = schedule
        return schedule

    def policy_files(self) -> Mapping[str, str]:
        """Return what the policy has to add to the folder of the run: texts by file name."""
        return self._outside.files()

    def _held(self, tables: Sequence[JobsLike]) -> Floats | None:
        held = self._outside.held()
        if not held:
            return None
        ids = [job_id for table in tables for job_id in table.job_ids.tolist()]
        return np.array([held.get(job_id, 0.0) for job_id in ids])

    @property
    def _counts_energy(self) -> bool:
        return self.options.energy != "off"

    def _policy_warnings(self) -> Sequence[str]:
        """Return what the policy has found odd about the run, if it tells such things."""
        warnings = getattr(self._policy, "warnings", None)
        return [str(told) for told in warnings()] if callable(warnings) else ()

    def _make_engine(
        self,
        reference_speed: float,
        machine: _core.MachineSetup | None,
        submitters: Sequence[Sequence[int]],
        users: _core.GroupPlan | None,
    ) -> _core.Engine:
        platform, workload = self.platform, self.workload
        alike = platform.is_homogeneous
        return _core.Engine(
            platform.n_hosts,
            workload.table,
            speed=platform.speed if alike else platform.reference_speed,
            speeds=[] if alike else platform.speeds.tolist(),
            groups=groups_of(platform).tolist(),
            reference_speed=reference_speed,
            enforce_walltime=self.options.enforce_walltime,
            # several parts of a job may fit on one host
            reject_oversized=self.options.reject_oversized and not self._outside.shares_hosts,
            wait_for_timers=self.options.wait_for_timers,
            launch_delay=self.options.launch_delay,
            epilogue_delay=self.options.epilogue_delay,
            until=self.options.until,
            share_hosts=self._shares_hosts,
            share_storages=self.options.share_storages,
            wake_for_jobs=self._wakes_hosts(),
            batsim_events=self.options.batsim_events,
            open_registration=self.options.open_registration,
            acknowledge_registered=self.options.acknowledge_registered,
            attempts=self._attempts(),
            windows=self.windows.as_core(),
            reservations=self.windows.reservations_of(workload),
            submitters=submitters,
            external_events=[_core_events(events) for events in self.external_events],
            machine=machine,
            users=users,
        )

    def _machine_setup(self) -> _core.MachineSetup | None:
        """Return the machine that the run needs, if timers are not enough for it."""
        options, platform = self.options, self.platform
        programs = bool((self.workload.table.kind == KIND_PROGRAM).any())
        # Delays on shared hosts do not slow each other: they keep their timers.
        shares = self._shares_hosts and bool((self.workload.table.kind != KIND_DELAY).any())
        wanted = programs or options.machine or shares or options.batsim_latency
        wanted = wanted or has_availabilities(platform)
        # Jobs that have their hosts to themselves need no machine to have their joules counted.
        # Hosts that fail are switched off, which only a machine can do; nor can a book keep two
        # parts of a job apart that are on one host.
        is_book = options.energy == "exact" and not (
            wanted or platform.storages or self._has_failures or self._outside.shares_hosts
        )
        if not (wanted or self._counts_energy):
            return None
        if self._counts_energy:
            refuse_unknown_power(platform)
        if options.batsim_latency and platform.master is None:
            raise InputError(
                f"{platform.source or 'platform'}: batsim_latency: "
                "the platform has no master host, expected one to and from which messages are sent"
            )
        return _core.MachineSetup(
            machine_plan(platform),
            len(platform.storages),
            SOLVERS.index(options.solver),
            BILLINGS.index(options.energy),
            report_ranks=options.report_ranks or options.batsim_latency,
            batsim_latency=options.batsim_latency,
            is_book=is_book,
        )

    def _wakes_hosts(self) -> bool:
        wanted = self.options.wake_for_jobs
        return bool(getattr(self._policy, "wakes_hosts", False)) if wanted is None else wanted

    def _attempts(self) -> _core.AttemptOptions:
        options = self.options
        most = 2**32 - 1 if options.max_attempts is None else options.max_attempts
        return _core.AttemptOptions(
            options.on_failure == "resubmit",
            most,
            options.checkpoint_every,
            options.checkpoint_cost,
            options.restart_cost,
            self._replay.resubmit,
        )

    def _refuse_unsupported(self) -> None:
        if self.options.batsim_latency and (self._has_failures or len(self.windows)):
            raise InputError(
                f"batsim_latency: got {'windows' if len(self.windows) else 'hosts that fail'}, "
                "which Batsim does not know, expected one without the other"
            )
        for name in ("share_hosts", "batsim_latency"):
            is_on = self._shares_hosts if name == "share_hosts" else self.options.batsim_latency
            if is_on and self._wakes_hosts():
                asked = self.options.wake_for_jobs is not None
                told = "got true" if asked else "the policy wakes hosts"
                raise InputError(f"wake_for_jobs: {told}, expected it without {name}")
        unsupported = self.workload.unsupported()
        if unsupported:
            job_id, kind = unsupported[0]
            raise InputError(
                f"{self.workload.source or self.workload.name}: job {job_id}: "
                f"profile type {kind} cannot be simulated ({len(unsupported)} such jobs)"
            )

    def _complaint(self, error: BaseException) -> str:
        frames = traceback.extract_tb(error.__traceback__)
        where = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
        name = type(self._policy).__name__
        return (
            f"t={self._engine.now:.15g} policy {name} raised {type(error).__name__}: {error}{where}"
        )


def simulate(
    platform: Platform,
    workload: Workload,
    policy: str | PolicySpec | type | Policy,
    external_events: ExternalEvents | Sequence[ExternalEvents] | None = None,
    *,
    windows: Windows | None = None,
    submitters: Sequence[Sequence[JobId]] | None = None,
    progress: ProgressReport | None = None,
    **options: Unpack[OptionValues],
) -> Schedule:
    """Run a policy on a workload and return what happened; see Simulation for the keywords."""
    simulation = Simulation(
        platform,
        workload,
        policy,
        external_events,
        windows=windows,
        submitters=submitters,
        **options,
    )
    return simulation.run(progress)


def _as_lists(
    events: ExternalEvents | Sequence[ExternalEvents] | None,
) -> tuple[ExternalEvents, ...]:
    if events is None:
        return ()
    return (events,) if isinstance(events, ExternalEvents) else tuple(events)


def _core_events(events: ExternalEvents) -> list[_core.ExternalEvent]:
    return [
        _core.ExternalEvent(
            event.time, KINDS.index(event.kind), event.hosts or _core.HostSet(), event.data or ""
        )
        for event in events
    ]


def _positions(workload: Workload, submitters: Sequence[Sequence[JobId]] | None) -> list[list[int]]:
    """Return the positions of the jobs that each submitter submits, in the workload's order."""
    if submitters is None:
        return []
    position_of = {job_id: i for i, job_id in enumerate(workload.job_ids.tolist())}
    found = []
    for job_ids in submitters:
        try:
            found.append(sorted(position_of.pop(job_id) for job_id in job_ids))
        except KeyError as error:
            raise InputError(
                f"submitters: got job {error.args[0]!r}, expected each job of the workload once"
            ) from None
    if position_of:
        raise InputError(
            f"submitters: got none of job {next(iter(position_of))!r}, expected one of each job"
        )
    return found
