"""Jobs that a policy registers while a run goes on, beside those of the workload."""

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
from noctule.record import PlainJobs
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

    def __init__(self, workload: Workload, scale: float, *, runs_programs: bool) -> None:
        """Take the workload, and the work that a unit of its amounts stands for."""
        self._runs_programs = runs_programs
        self._workload = workload
        self._scale = scale
        self._registered: list[Job] = []
        self._profile_names: list[str] = []
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
        try:
            alone = Workload.from_jobs([job], source=f"RegisterJob(job_id={job.id})")
        except InputError as error:
            raise DecisionError(str(error)) from None
        table = alone.table
        self._ids.add(str(job.id))
        self._registered.append(job)
        self._profile_names.append(alone.profile_name(0))
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
        """Return the id of a registered job."""
        return self._registered[index - len(self._workload)].id

    def label(self, name: str, index: int) -> Label:
        """Return the user, group or queue of a job."""
        if index < len(self._workload):
            return self._workload.label(name, index)
        label: Label = getattr(self._registered[index - len(self._workload)], name)
        return label

    def extra(self, index: int) -> Mapping[str, Any]:
        """Return the fields of a job that nothing here uses."""
        if index < len(self._workload):
            return self._workload.extra(index)
        return self._registered[index - len(self._workload)].extra

    def as_table(self) -> PlainJobs | None:
        """Return the registered jobs as a Schedule wants them."""
        jobs = self._registered
        if not jobs:
            return None
        ids = id_column([job.id for job in jobs])
        return PlainJobs(
            name=self._workload.name,
            job_ids=ids if isinstance(ids, np.ndarray) else np.array(ids, dtype=object),
            n_hosts=np.array([job.request.n_hosts for job in jobs], dtype=np.uint32),
            walltime=np.array([job.walltime for job in jobs]),
            profile_names=self._profile_names,
            users=[job.user for job in jobs],
        )
