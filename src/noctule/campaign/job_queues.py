"""Workers that are jobs of a job system, submitted and ended through dask-jobqueue."""

from __future__ import annotations

import inspect
import shlex
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec

from noctule.campaign.running import Progress
from noctule.errors import InputError

SYSTEMS = {
    "slurm": "SLURMCluster",
    "oar": "OARCluster",
    "pbs": "PBSCluster",
    "lsf": "LSFCluster",
    "htcondor": "HTCondorCluster",
    "sge": "SGECluster",
}
_NEEDED = {
    "cores": "how many cores a job gets, such as 4",
    "memory": "how much memory a job gets, such as 8GB",
    "interface": "the network by which jobs reach this machine, such as eth0 or ib0",
}
_LISTS = (
    "worker_extra_args",
    "job_extra_directives",
    "job_script_prologue",
    "job_directives_skip",
    "submit_command_extra",
    "cancel_command_extra",
)
_OURS = (
    *("self", "scheduler", "name", "n_workers", "job_cls", "loop", "asynchronous", "silence_logs"),
    *("scheduler_cls", "dashboard_address", "host", "base_class_kwargs", "job_kwargs"),
)
_OF_CLUSTERS = ("security", "protocol", "scheduler_options", "shared_temp_directory")
_OLD_NAMES = ("extra", "env_extra", "header_skip", "job_extra")
# who can connect can run code: nothing listens where nobody asked for it
_LOOPBACK = "127.0.0.1:0"
_RESUBMIT_EVERY_S = 15
_ROUNDS_TO_COME_BACK = 2
_CLOSE_S = 20
_BUSY = 10


class JobQueueWorkers:
    """So many jobs of a job system, each a worker with a thread a core."""

    def __init__(self, system: str, n_jobs: int, options: Mapping[str, str]) -> None:
        """Take the options of dask-jobqueue as text: queue, cores, memory, walltime and so on."""
        if system not in SYSTEMS:
            raise InputError(f"job system: got {system}, expected one of {', '.join(SYSTEMS)}")
        if n_jobs < 1:
            raise InputError(f"jobs: got {n_jobs}, expected a number >= 1")
        self._system = system
        self._n_jobs = n_jobs
        self._cluster_class = _cluster_class(system)
        self._options = _checked(system, self._cluster_class, options)
        _check_job(system, self._cluster_class.job_cls, self._options)

    def work(self, progress: Progress) -> None:
        """Submit the jobs, do all tasks on them, end the jobs."""
        from noctule.campaign.dask_session import quiet, work_on

        with quiet():
            jobs = _Jobs(self._system, self._cluster_class, self._options, self._n_jobs)
            try:
                work_on(jobs.address, progress, security=jobs.security, tend=jobs.tend)
            except BaseException:
                with suppress(InputError):
                    jobs.close()
                raise
            jobs.close()


class _Jobs:
    """The jobs of one campaign, and the scheduler that they report to."""

    def __init__(
        self, system: str, cluster_class: Any, options: Mapping[str, Any], n_jobs: int
    ) -> None:
        self._system = system
        self._n_jobs = n_jobs
        self._submissions = _Submissions()
        self._submitted_at = float("-inf")
        # of jobs that have had workers: rounds since there was none
        self._rounds_without: dict[str, int] = {}
        job_class = _watched(cluster_class.job_cls, self._submissions)
        try:
            self._cluster = cluster_class(job_cls=job_class, **options)
        except (ValueError, TypeError, RuntimeError, ImportError, OSError) as error:
            raise InputError(f"{system}: {_one_line(error)}") from None
        # a refused job is told by `tend`, not by a traceback
        self._cluster.loop.asyncio_loop.set_exception_handler(lambda *_: None)

    @property
    def address(self) -> str:
        """Where the scheduler listens."""
        return str(self._cluster.scheduler_address)

    @property
    def security(self) -> Any:
        """What a client needs to be let in."""
        return self._cluster.security

    def tend(self) -> None:
        """Submit jobs in place of those that are gone or were refused."""
        submissions = self._submissions
        if submissions.are_hopeless and not self._cluster.scheduler.workers:
            raise InputError(f"{self._system}: a job was refused: {submissions.refusal}")
        if time.monotonic() - self._submitted_at > _RESUBMIT_EVERY_S:
            self._submitted_at = time.monotonic()
            for name, job in list(self._cluster.workers.items()):
                if job.status.name == "failed" or self._is_gone(str(name)):
                    del self._cluster.workers[name]
            self._cluster.scale(jobs=self._n_jobs)

    def _is_gone(self, name: str) -> bool:
        """Tell whether a job had workers and has had none for two rounds, whatever Dask thinks."""
        workers = [str(state.name) for state in list(self._cluster.scheduler.workers.values())]
        if any(worker == name or worker.startswith(f"{name}-") for worker in workers):
            self._rounds_without[name] = 0
            return False
        if name not in self._rounds_without:
            return False
        self._rounds_without[name] += 1
        if self._rounds_without[name] < _ROUNDS_TO_COME_BACK:
            return False
        del self._rounds_without[name]
        return True

    def close(self) -> None:
        """End the jobs and the scheduler."""
        try:
            self._cluster.close(timeout=_CLOSE_S)
        except (RuntimeError, OSError, AssertionError) as error:
            raise InputError(
                f"{self._system}: jobs may be left, expected to end them: {_one_line(error)}"
            ) from None


@dataclass(slots=True)
class _Submissions:
    """What came of submitting jobs."""

    refusal: str = ""
    n_accepted: int = 0
    n_refused_lately: int = 0

    @property
    def are_hopeless(self) -> bool:
        """Whether it makes no sense to go on; systems that are busy refuse some at times."""
        return self.n_refused_lately > (_BUSY if self.n_accepted else 0)

    def accept(self) -> None:
        """Count a job that was accepted."""
        self.n_accepted += 1
        self.n_refused_lately = 0

    def refuse(self, reason: str) -> None:
        """Count a job that was refused."""
        self.refusal = reason
        self.n_refused_lately += 1


def _cluster_class(system: str) -> Any:
    try:
        import dask_jobqueue
    except ImportError:
        raise InputError(
            f"dask-jobqueue: not installed, expected it for {system}: pip install 'noctule[dask]'"
        ) from None
    return getattr(dask_jobqueue, SYSTEMS[system])


def _checked(system: str, cluster_class: Any, options: Mapping[str, str]) -> dict[str, Any]:
    import dask

    job_class = cluster_class.job_cls
    command = shlex.split(job_class.submit_command)[0]
    if shutil.which(command) is None:
        raise InputError(f"{system}: no command {command} here, expected a machine that has it")
    known = _option_names(cluster_class)
    for name in options:
        if name not in known:
            raise InputError(f"--option {name}: unknown, expected one of {', '.join(known)}")
    configured = dask.config.get(f"jobqueue.{job_class.config_name}", {})
    for name, what in _NEEDED.items():
        if name not in options and configured.get(name) is None:
            raise InputError(f"--option {name}=...: missing, expected {what}")
    found = {name: _value(name, text) for name, text in options.items()}
    if configured.get("processes") is None:
        # threads are enough: native runs do not hold Python's lock, others have their processes
        found.setdefault("processes", 1)
    told = found.get("scheduler_options", configured.get("scheduler-options")) or {}
    closed = {"dashboard": False, "dashboard_address": _LOOPBACK}
    found["scheduler_options"] = closed | told
    told = found.get("worker_extra_args", configured.get("worker-extra-args")) or []
    found["worker_extra_args"] = ["--dashboard-address", _LOOPBACK, *told]
    return found


def _check_job(system: str, job_class: Any, options: Mapping[str, Any]) -> None:
    """Make a job that is not submitted, to see whether its options will do."""
    own = {name: value for name, value in options.items() if name not in _OF_CLUSTERS}
    try:
        job_class("tcp://127.0.0.1:8786", name="0", **own)
    except (ValueError, TypeError, OSError) as error:
        raise InputError(f"{system}: {_one_line(error)}") from None


def _option_names(cluster_class: Any) -> list[str]:
    classes = [*cluster_class.__mro__, *cluster_class.job_cls.__mro__]
    ours = [one for one in classes if one.__module__.startswith("dask_jobqueue.")]
    names = {name for one in ours for name in inspect.signature(one.__init__).parameters}
    return sorted(names - {*_OURS, *_OLD_NAMES})


def _value(name: str, text: str) -> Any:
    """Numbers, truth values, arrays and tables are written as in JSON; all else is text."""
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        value = {"True": True, "False": False}.get(text, text)
    if value is None or isinstance(value, str):
        value = text
    return value if name not in _LISTS or isinstance(value, (list, dict)) else [text]


def _watched(job_class: Any, submissions: _Submissions) -> Any:
    """Make a class of jobs that tell what came of their submission."""
    from distributed import Status

    class WatchedJob(job_class):  # type: ignore[misc]
        async def start(self) -> None:
            try:
                await super().start()
            except Exception as error:
                self.status = Status.failed
                submissions.refuse(_one_line(error))
                raise
            submissions.accept()

    return WatchedJob


def _one_line(error: Exception) -> str:
    """Shorten what dask-jobqueue says; of a failed command, what the command said counts."""
    _, _, said = str(error).partition("stderr:\n")
    return " ".join((said.strip() or str(error)).split())
