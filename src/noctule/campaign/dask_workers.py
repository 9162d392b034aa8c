"""Workers of a cluster: one that is there, or one whose workers are jobs of a job system."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from noctule.campaign.job_queues import SYSTEMS, JobQueueWorkers
from noctule.campaign.running import Progress, Workers
from noctule.errors import InputError

__all__ = ["DaskWorkers", "JobQueueWorkers", "workers_for"]


class DaskWorkers:
    """All workers of the Dask scheduler at an address; they may come and go."""

    def __init__(self, address: str) -> None:
        if find_spec("distributed") is None:
            raise InputError(
                "distributed: not installed, expected it for Dask: pip install 'noctule[dask]'"
            )
        self._address = address

    def work(self, progress: Progress) -> None:
        """Do all tasks; Ctrl-C stops the runs that are under way and leaves the others done."""
        from noctule.campaign.dask_session import work_on

        work_on(self._address, progress)


def workers_for(target: str, n_jobs: int | None, options: Mapping[str, str]) -> Workers:
    """Take the address of a scheduler, or the name of a job system and what it needs to know."""
    if target in SYSTEMS:
        if n_jobs is None:
            raise InputError(f"--jobs: missing, expected how many jobs to submit to {target}")
        return JobQueueWorkers(target, n_jobs, options)
    if "://" not in target:
        raise InputError(
            f"--dask: got {target}, expected an address such as tcp://host:8786, or one of "
            f"{', '.join(SYSTEMS)}"
        )
    if n_jobs is not None or options:
        raise InputError(
            f"--dask: got jobs and options for {target}, expected them with one of "
            f"{', '.join(SYSTEMS)} only"
        )
    return DaskWorkers(target)
