"""Sessions: stretches of a user's work, cut where she paused, and batches inside them.

Zakay and Feitelson, "On identifying user session boundaries in parallel workload logs", JSSPP 2012.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from noctule.columns import Floats, shown
from noctule.errors import InputError
from noctule.sessions.graph import SessionGraph, graph_of, running_maximum
from noctule.sessions.record import NOBODY, Indices, Record, nobody_last
from noctule.workload import Label, ReadingRule, Workload

# Dates that differ by less are the same: sums are rounded.
SAME_DATE = 1e-6

#: What the pause before a submission is counted from.
CUTS = {
    "arrival": "the user's previous submission",
    "last": "the end of the user's previous job",
    "max": "the latest end in the session",
}


@dataclass(frozen=True, slots=True, eq=False)
class Sessions:
    """The sessions of all users, as a graph; `cut` and `threshold` are None if not known."""

    record: Record
    graph: SessionGraph
    cut: str | None = None
    threshold: float | None = None

    def __len__(self) -> int:
        """Return the number of sessions."""
        return len(self.graph)

    @property
    def notes(self) -> tuple[ReadingRule, ...]:
        """What was done about the jobs of which something is not known."""
        return self.record.notes

    def of_user(self, user: Label) -> range:
        """Return the numbers of the sessions of one user; those of None are nobody's."""
        for position, groups in self.graph.by_user().items():
            if self.label(position) == user:
                return groups
        raise InputError(f"{self.record.source}: user {user!r}: no such user")

    def label(self, position: int) -> Label:
        """Return the user at a position; None is nobody, at -1."""
        return None if position == NOBODY else self.record.users[position]


@dataclass(frozen=True, slots=True, eq=False)
class Batches:
    """The batches of all sessions, as a graph of their own; `session` tells whose each is."""

    graph: SessionGraph
    session: Indices


def find_sessions(jobs: Workload | Record, *, threshold: float, cut: str = "arrival") -> Sessions:
    """Cut the jobs of each user into sessions, and tell which depend on which.

    Args:
        jobs: a log that tells users, waits and run times.
        threshold: seconds; a pause as long as that, or longer, ends a session.
        cut: what a pause is counted from: "arrival" (the previous submission; with a threshold of
            0 every job is a session), "last" (the end of the previous job) or "max" (the latest
            end in the session).
    """
    if cut not in CUTS:
        raise InputError(f"cut: got {cut!r}, expected one of {', '.join(CUTS)}")
    if not threshold >= 0:
        raise InputError(f"threshold: got {shown(threshold)}, expected seconds >= 0")
    record = jobs if isinstance(jobs, Record) else Record.of(jobs)
    record.demand_users()
    record.demand_finishes()
    rows = np.argsort(nobody_last(record.user, len(record.users)), kind="stable")
    user = record.user[rows]
    other = np.append(True, user[1:] != user[:-1]) | (user == NOBODY)
    new = other | np.append(True, _pauses(record, rows, cut) >= threshold)
    return Sessions(record, graph_of(record, rows, new), cut, float(threshold))


def find_batches(sessions: Sessions) -> Batches:
    """Cut each session into batches: jobs that overlap, from their submissions to their ends.

    A batch depends on an earlier one of its user, also of another session, as sessions do.
    """
    record, graph = sessions.record, sessions.graph
    record.demand_finishes()
    session = np.repeat(np.arange(len(graph)), graph.n_jobs)
    new = np.append(True, session[1:] != session[:-1])
    latest = running_maximum(record.end_time[graph.jobs], session)
    new[1:] |= record.submit_time[graph.jobs[1:]] >= latest[:-1]
    begins = np.flatnonzero(new)
    # The sessions of others may overlap: batches are sorted by their first submissions.
    user = nobody_last(graph.user, len(record.users))[session[begins]]
    order = np.lexsort((begins, record.submit_time[graph.jobs[begins]], user))
    lengths = np.diff(np.append(begins, len(session)))
    batch = np.repeat(np.argsort(order), lengths)
    place = np.argsort(batch, kind="stable")
    batch = batch[place]
    fresh = np.append(True, batch[1:] != batch[:-1])
    return Batches(graph_of(record, graph.jobs[place], fresh), session[begins][order])


def sessions_on(sessions: Sessions, workload: Workload) -> Sessions:
    """Return the sessions with rows that are those of a workload with the same jobs.

    Every job has to be in exactly one session, at the date at which the workload has it.
    """
    record = sessions.record
    rows = {str(job_id): row for row, job_id in enumerate(workload.job_ids.tolist())}
    found = [rows.get(str(job_id), -1) for job_id in record.job_ids.tolist()]
    new_row = np.array(found, dtype=np.int64)
    where = workload.source or f"workload {workload.name}"
    _demand_same_jobs(record, workload, new_row, where)
    order = np.argsort(new_row)
    own = Record.of(workload)
    finish = record.finish_time[order]
    on_workload = replace(
        own,
        users=record.users,
        user=record.user[order],
        finish_time=np.where(np.isfinite(finish), finish, own.finish_time),
    )
    _demand_same_dates(record, own, record.submit_time[order])
    graph = sessions.graph
    group = np.repeat(np.arange(len(graph)), graph.n_jobs)
    jobs = new_row[graph.jobs]
    return replace(
        sessions, record=on_workload, graph=replace(graph, jobs=jobs[np.lexsort((jobs, group))])
    )


def _pauses(record: Record, rows: Indices, cut: str) -> Floats:
    """Return the seconds before each submission but the first, since what the cut counts from."""
    submit = record.submit_time[rows]
    if cut == "arrival":
        return np.diff(submit)
    ends = record.end_time[rows]
    if cut == "max":
        # All that ended before a session began ended before its own first job does: the latest end
        # of the user is the latest of the session.
        ends = running_maximum(ends, nobody_last(record.user[rows], len(record.users)))
    pauses: Floats = submit[1:] - ends[:-1]
    return pauses


def _demand_same_jobs(record: Record, workload: Workload, new_row: Indices, where: str) -> None:
    missing = np.flatnonzero(new_row < 0)
    if len(missing):
        raise InputError(
            f"{record.source}: job {record.job_ids[missing[0]]} is in a session but not in {where} "
            f"(such jobs: {len(missing)}), expected the same log, read by the same rules"
        )
    if len(record) < len(workload):
        absent = np.setdiff1d(np.arange(len(workload)), new_row)
        raise InputError(
            f"{where}: job {workload.job_ids[absent[0]]} is in no session of {record.source} "
            f"(such jobs: {len(absent)}), expected each in one"
        )


def _demand_same_dates(record: Record, own: Record, submit_time: Floats) -> None:
    same = np.abs(own.submit_time - submit_time) <= SAME_DATE
    if not same.all():
        row = int(np.argmin(same))
        raise InputError(
            f"{record.source}: job {own.job_ids[row]}: submitted at {shown(submit_time[row])}, "
            f"expected {shown(own.submit_time[row])} as in {own.source}"
        )
