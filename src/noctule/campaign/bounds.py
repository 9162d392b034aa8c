"""Bounds that no policy can pass: a machine on which nobody waits for hosts."""

from __future__ import annotations

import numpy as np

from noctule.columns import KIND_DELAY
from noctule.errors import InputError
from noctule.platform import MAX_HOSTS, Platform
from noctule.traces import select
from noctule.workload import Workload


def fitting(workload: Workload, n_hosts: int) -> Workload:
    """Return the jobs that a platform of this size does not reject."""
    fits = np.asarray(workload.n_hosts) <= n_hosts
    if bool(fits.all()):
        return workload
    return select(workload, jobs=np.asarray(workload.job_ids)[fits].tolist())


def unlimited(workload: Workload, platform: Platform, delay: float) -> Platform:
    """Return hosts as fast as the platform's, as many as are wanted at a time if no job waits.

    `delay` is for how long hosts are held beside each job's own time.
    """
    speed = platform.reference_speed
    table = workload.table
    wanted = table.n_hosts.astype(np.int64)
    if workload.has_dependencies:
        most = int(wanted.sum())  # when a job comes is not known
    else:
        pace = (workload.reference_speed or speed) / speed
        lasting = np.where(table.kind == KIND_DELAY, table.amount, table.amount * pace) + delay
        lasting += [table.launch_delay(i) + table.epilogue_delay(i) for i in range(len(workload))]
        dates = np.concatenate([table.submit_time, table.submit_time + lasting])
        changes = np.concatenate([wanted, -wanted])
        # at equal dates jobs that come are counted before those that go
        order = np.lexsort((-changes, dates))
        most = int(np.cumsum(changes[order]).max(initial=1))
    if most > MAX_HOSTS:
        raise InputError(f"unlimited platform: {most} hosts are wanted, expected <= {MAX_HOSTS}")
    return Platform.homogeneous(max(most, 1), speed)
