"""Jobs that appear while a run goes on, beside those of the workload.

A policy registers some; others are further attempts of jobs that a failure has ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from noctule import _core
from noctule.columns import KIND_DELAY, KIND_PROGRAM, KIND_UNSUPPORTED, id_column
from noctule.errors import DecisionError, InputError
from noctule.profile_facts import kind_of, type_of
from noctule.programs import NO_PROGRAM, Programs, check_size
from noctule.record import PlainJobs, is_attempt
from noctule.workload import Job, JobId, Label, Profile, Workload


@dataclass(frozen=True, slots=True)
class Registration:
    """A registered job as the core takes it."""

    id: JobId
    submit_time: float
    walltime: float
    amount: float
    n_hosts: int
    kind: int
    failing: bool
    cancel_time: float
    launch_delay: float
    epilogue_delay: float
    program: int
    programs: _core.ProgramTable | None
    rank_hosts: tuple[int, ...]


class RunJobs:
    """What a view must know of jobs beside the engine: the workload's, then those registered."""

    def __init__(
        self,
        engine: _core.Engine,
        workload: Workload,
        scale: float,
        *,
        runs_programs: bool,
        resubmits: bool,
    ) -> None:
        """Take the workload, and the work that a unit of its amounts stands for."""
        if resubmits:
            _refuse_attempts(workload)
        self._engine = engine
        self._resubmits = resubmits
        self._runs_programs = runs_programs
        self._workload = workload
        self._scale = scale
        self._registered: dict[int, Job] = {}  # by position
        self._profile_names: dict[int, str] = {}
        self._ids: set[str] = set()
        self._programs: Programs | None = None

    def register(self, job: object) -> Registration:
        """Check a job that the policy adds, and keep it."""
        if not isinstance(job, Job):
            raise DecisionError(f"RegisterJob: got {job!r}, expected a Job")
        if job.dependencies:
            raise DecisionError(
                f"RegisterJob(job_id={job.id}): a registered job cannot have dependencies; "
                "register it when they have ended"
            )
        kind = kind_of(job.profile)
        if kind == KIND_UNSUPPORTED or (kind == KIND_PROGRAM and not self._runs_programs):
            raise DecisionError(
                f"RegisterJob(job_id={job.id}): profile type {type_of(job.profile)} cannot be "
                + (
                    "simulated"
                    if kind == KIND_UNSUPPORTED
                    else "run without a machine; the option `machine` makes one"
                )
            )
        if not self._ids:
            self._ids.update(map(str, self._workload.job_ids.tolist()))
        if str(job.id) in self._ids:
            raise DecisionError(f"RegisterJob(job_id={job.id}): the id is taken")
        if self._resubmits and is_attempt(job.id):
            raise DecisionError(
                f"RegisterJob(job_id={job.id}): the id ends as those of further attempts do"
            )
        try:
            alone = Workload.from_jobs([job], source=f"RegisterJob(job_id={job.id})")
        except InputError as error:
            raise DecisionError(str(error)) from None
        table = alone.table
        self._ids.add(str(job.id))
        position = self._engine.n_jobs
        self._registered[position] = job
        self._profile_names[position] = alone.profile_name(0)
        kind = int(table.kind[0])
        programs = self._with_programs() if kind == KIND_PROGRAM else None
        return Registration(
            id=job.id,
            submit_time=job.submit_time,
            walltime=job.walltime,
            amount=float(table.amount[0]) / (1.0 if kind == KIND_DELAY else self._scale),
            n_hosts=job.request.n_hosts,
            kind=kind,
            failing=bool(table.failing[0]),
            cancel_time=job.cancel_time,
            launch_delay=job.launch_delay,
            epilogue_delay=job.epilogue_delay,
            program=NO_PROGRAM if programs is None else programs.add(job.profile),
            programs=None if programs is None else programs.table,
            rank_hosts=job.rank_hosts,
        )

    def program_of(
        self, where: str, profile: object, n_executors: int
    ) -> tuple[int, _core.ProgramTable]:
        """Check a profile that a job is started with, and enter it among the programs."""
        if not isinstance(profile, get_args(Profile)):
            raise DecisionError(f"{where}: got the profile {profile!r}, expected a Profile")
        if not self._runs_programs or kind_of(profile) == KIND_UNSUPPORTED:
            raise DecisionError(
                f"{where}: profile type {type_of(profile)} cannot be "
                + ("simulated" if self._runs_programs else "run without a machine")
            )
        try:
            check_size(where, profile, n_executors)
        except InputError as error:
            raise DecisionError(str(error)) from None
        programs = self._with_programs()
        return programs.add(profile), programs.table

    def _with_programs(self) -> Programs:
        """Return the programs of the run: the workload's, and those registered behind them."""
        if self._programs is None:
            workload = self._workload
            known = workload.table.programs()
            self._programs = Programs("RegisterJob", workload.profiles, known, unit=self._scale)
        return self._programs

    def job_id(self, index: int) -> JobId:
        """Return the id of a job: a further attempt has that of its first one, and a number."""
        job = self._registered.get(index)
        return self._engine.job_id(index) if job is None else job.id

    def label(self, name: str, index: int) -> Label:
        """Return the user, group or queue of a job."""
        origin, _ = self._engine.attempt(index)
        if origin < len(self._workload):
            return self._workload.label(name, origin)
        label: Label = getattr(self._registered[origin], name)
        return label

    def extra(self, index: int) -> Mapping[str, Any]:
        """Return the fields of a job that nothing here uses."""
        origin, _ = self._engine.attempt(index)
        if origin < len(self._workload):
            return self._workload.extra(origin)
        return self._registered[origin].extra

    def as_table(self) -> PlainJobs | None:
        """Return registered jobs and further attempts as a Schedule wants them."""
        positions = range(len(self._workload), self._engine.n_jobs)
        if not positions:
            return None
        ids = id_column([self.job_id(position) for position in positions])
        origins = [self._engine.attempt(position)[0] for position in positions]
        asked = [self._asked(origin) for origin in origins]
        return PlainJobs(
            name=self._workload.name,
            job_ids=ids if isinstance(ids, np.ndarray) else np.array(ids, dtype=object),
            n_hosts=np.array([n_hosts for n_hosts, _, _ in asked], dtype=np.uint32),
            walltime=np.array([walltime for _, walltime, _ in asked]),
            profile_names=[name for _, _, name in asked],
            users=[self.label("user", position) for position in positions],
        )

    def _asked(self, origin: int) -> tuple[int, float, str]:
        """Return the hosts, the walltime and the name of the profile of a first attempt."""
        if origin < len(self._workload):
            workload = self._workload
            n_hosts, walltime = workload.n_hosts[origin], workload.walltime[origin]
            return int(n_hosts), float(walltime), workload.profile_name(origin)
        job = self._registered[origin]
        return job.request.n_hosts, job.walltime, self._profile_names[origin]


def _refuse_attempts(workload: Workload) -> None:
    """Refuse jobs whose ids could be mistaken for those of further attempts."""
    ids = workload.job_ids
    for job_id in () if ids.dtype.kind in "iu" else ids.tolist():
        if is_attempt(job_id):
            raise InputError(
                f"{workload.source or workload.name}: job {job_id}: on_failure: got an id that "
                "ends as those of further attempts do, expected another"
            )
