"""Schedules of replays built by hand: jobs of users, with recorded and simulated submissions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from built_schedules import Row, a_schedule

import noctule as nt
from noctule.record import PlainJobs


def a_replay(
    rows: Sequence[Row], recorded: Sequence[float] | None, users: Sequence[object] | None = None
) -> nt.Schedule:
    """Make the Schedule of a replay; without recorded dates it is one that moved nothing."""
    plain = a_schedule(rows)
    (table,) = plain.tables
    labels = [1] * len(rows) if users is None else list(users)
    with_users = PlainJobs(
        table.name, table.job_ids, table.n_hosts, table.walltime, table.profile_names, labels
    )
    dates = None if recorded is None else np.array(recorded, dtype=float)
    return nt.Schedule(plain.platform, [with_users], plain.record, recorded=dates)
