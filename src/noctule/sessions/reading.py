"""Session files read back, our own and those of others: what they say is checked, and sorted."""

from __future__ import annotations

import heapq
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from noctule.columns import check_id, id_column
from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.formats.json_object import JsonObject, shown_json
from noctule.parts import objects
from noctule.sessions.graph import SessionGraph, offsets
from noctule.sessions.partition import CUTS, SAME_DATE, Sessions, sessions_on
from noctule.sessions.record import NOBODY, Record, user_order
from noctule.sessions.writing import FORMAT
from noctule.workload import JobId, Label, Workload


@dataclass(frozen=True, slots=True)
class _Session:
    """One session of a file; dependencies are ids of other sessions of the file."""

    path: str
    id: int
    start: float
    dependencies: Sequence[int]
    think_times: Sequence[float]
    job_ids: Sequence[JobId]
    submit_times: Sequence[float]
    finish_times: Sequence[float]


@dataclass(frozen=True, slots=True)
class _File:
    """The sessions of one user, each after all that it depends on."""

    source: str
    user: Label
    cut: str | None
    threshold: float | None
    sessions: Sequence[_Session]


def load_sessions(path: str | os.PathLike[str], workload: Workload | None = None) -> Sessions:
    """Read the session files of a folder, or one of them.

    With a workload, the sessions are those of its jobs, each of which has to be in one; the
    dependencies and think times stay those of the files.
    """
    files = [_read_file(name) for name in session_paths(path)]
    files.sort(key=lambda file: user_order(file.user))
    _refuse_twice(files)
    sessions = _assembled(os.fspath(path), files)
    return sessions if workload is None else sessions_on(sessions, workload)


def session_paths(path: str | os.PathLike[str]) -> list[Path]:
    """Return the session files of a folder, or the one file."""
    folder = Path(path)
    if not folder.is_dir():
        return [folder]
    names = sorted(name for name in folder.iterdir() if name.suffix == ".json")
    if not names:
        raise InputError(
            f"{folder}: got no .json file, expected one with the sessions of each user"
        )
    return names


def _read_file(path: Path) -> _File:
    source = os.fspath(path)
    try:
        document = msgspec.json.decode(read_bytes(path))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{source}: not valid JSON: {error}") from None
    if not isinstance(document, dict):
        raise InputError(f"{source}: got {shown_json(document)}, expected an object")
    top = JsonObject(source, "", document)
    cut, threshold = _origin(top)
    listed = _array(top, "sessions")
    if not listed:
        top.refuse("sessions", "at least one session")
    sessions = [
        _read_session(JsonObject.of(source, f"sessions[{i}]", value))
        for i, value in enumerate(listed)
    ]
    return _File(source, _user(top, path), cut, threshold, _in_order(source, sessions))


def _user(top: JsonObject, path: Path) -> Label:
    """Return the user that a file is about; by default, the file has her name."""
    user = top.fields.get("user", int(path.stem) if path.stem.isdecimal() else path.stem)
    good = user is None or (isinstance(user, str) and user) or (type(user) is int and user >= 0)
    if not good:
        top.refuse("user", "a number >= 0, a name, or null")
    found: Label = user
    return found


def _origin(top: JsonObject) -> tuple[str | None, float | None]:
    """Return how the sessions of one of our own files were found, where it tells."""
    if "noctule_sessions" not in top:
        return None, None
    if top.fields["noctule_sessions"] != FORMAT:
        top.refuse("noctule_sessions", f"{FORMAT}, the format that is known here")
    cut = top.fields.get("cut")
    if cut is not None and cut not in list(CUTS):
        top.refuse("cut", f"one of {', '.join(CUTS)}, or null")
    known = top.fields.get("threshold") is not None
    return cut, top.non_negative("threshold") if known else None


def _read_session(fields: JsonObject) -> _Session:
    start = fields.non_negative("first_submit_time")
    dependencies = _array(fields, "preceding_sessions")
    if not all(type(other) is int for other in dependencies):
        fields.refuse("preceding_sessions", "an array of ids of sessions")
    if len(set(dependencies)) < len(dependencies):
        fields.refuse("preceding_sessions", "each session once")
    think_times = fields.amounts("thinking_time_after_preceding_session")
    if len(think_times) != len(dependencies):
        fields.refuse(
            "thinking_time_after_preceding_session",
            f"{len(dependencies)} values, as there are preceding_sessions",
        )
    jobs = _array(fields, "jobs")
    if not jobs:
        fields.refuse("jobs", "at least one job")
    if "nb_jobs" in fields and fields.fields["nb_jobs"] != len(jobs):
        fields.refuse("nb_jobs", f"{len(jobs)}, as there are jobs")
    rows = [
        _read_job(JsonObject.of(fields.source, f"{fields.path}.jobs[{i}]", job), start)
        for i, job in enumerate(jobs)
    ]
    rows.sort(key=lambda row: row[1])
    ids, submit_times, finish_times = zip(*rows, strict=True)
    if submit_times[0] != start:
        fields.refuse("jobs", "a first subtime of 0: they are seconds after first_submit_time")
    return _Session(
        path=fields.path,
        id=fields.whole("id", least=0),
        start=start,
        dependencies=dependencies,
        think_times=think_times,
        job_ids=ids,
        submit_times=submit_times,
        finish_times=finish_times,
    )


def _read_job(fields: JsonObject, start: float) -> tuple[JobId, float, float]:
    submit = start + fields.non_negative("subtime")
    if not math.isfinite(submit):
        fields.refuse("subtime", "seconds that can be added to first_submit_time")
    if fields.fields.get("finish_time") is None:
        return _job_id(fields), submit, math.inf
    finish = fields.non_negative("finish_time")
    if finish < submit - SAME_DATE:
        fields.refuse("finish_time", "a date that is not before the submission")
    return _job_id(fields), submit, finish


def _job_id(fields: JsonObject) -> JobId:
    try:
        check_id(fields.fields.get("id"))
    except InputError:
        fields.refuse("id", "a whole number or a text")
    found: JobId = fields.fields["id"]
    return found


def _array(fields: JsonObject, key: str) -> list[Any]:
    value = fields.fields.get(key)
    if not isinstance(value, list):
        fields.refuse(key, "an array")
    return value


def _in_order(source: str, sessions: Sequence[_Session]) -> list[_Session]:
    """Return the sessions by start, but each after all that it depends on; refuse circles."""
    place: dict[int, int] = {}
    for i, session in enumerate(sessions):
        if session.id in place:
            raise InputError(
                f"{source}: {session.path}.id: got {session.id}, "
                f"which is the id of {sessions[place[session.id]].path}"
            )
        place[session.id] = i
    dependents: list[list[int]] = [[] for _ in sessions]
    missing = [len(session.dependencies) for session in sessions]
    for i, session in enumerate(sessions):
        for other in session.dependencies:
            if other not in place:
                raise InputError(
                    f"{source}: {session.path}.preceding_sessions: got {other}, "
                    "expected the id of a session of the file"
                )
            dependents[place[other]].append(i)
    ready = [(session.start, i) for i, session in enumerate(sessions) if not missing[i]]
    heapq.heapify(ready)
    ordered = []
    while ready:
        _, i = heapq.heappop(ready)
        ordered.append(sessions[i])
        for j in dependents[i]:
            missing[j] -= 1
            if not missing[j]:
                heapq.heappush(ready, (sessions[j].start, j))
    if len(ordered) < len(sessions):
        _refuse_circle(source, sessions, place, missing)
    return ordered


def _refuse_circle(
    source: str, sessions: Sequence[_Session], place: Mapping[int, int], missing: Sequence[int]
) -> None:
    """Name a circle: from a session that is left, go to one that is left and that it waits for."""
    i = next(i for i, n in enumerate(missing) if n)
    way: list[int] = []
    while i not in way:
        way.append(i)
        i = next(place[k] for k in sessions[i].dependencies if missing[place[k]])
    circle = [sessions[k].id for k in [*way[way.index(i) :], i]]
    names = " -> ".join(map(str, circle if len(circle) <= 10 else [*circle[:9], "..."]))
    raise InputError(
        f"{source}: {sessions[i].path}.preceding_sessions: "
        f"sessions wait for each other in a circle: {names}"
    )


def _refuse_twice(files: Sequence[_File]) -> None:
    """Refuse users and jobs that are there twice."""
    users: dict[Label, str] = {}
    jobs: dict[str, str] = {}
    for file in files:
        if file.user in users:
            raise InputError(
                f"{file.source}: user {file.user!r} is also that of {users[file.user]}"
            )
        users[file.user] = file.source
        for session in file.sessions:
            for job_id in map(str, session.job_ids):
                here = f"{file.source}: {session.path}"
                if job_id in jobs:
                    raise InputError(f"{here}: job {job_id} is also in {jobs[job_id]}")
                jobs[job_id] = here


def _assembled(source: str, files: Sequence[_File]) -> Sessions:
    """Put the sessions of all users into columns; rows are in order of submission."""
    sessions = [session for file in files for session in file.sessions]
    users = [file.user for file in files if file.user is not None]
    n_jobs = [len(session.job_ids) for session in sessions]
    position = np.concatenate(
        [np.full(len(f.sessions), NOBODY if f.user is None else i) for i, f in enumerate(files)]
    )
    ids = id_column([job_id for session in sessions for job_id in session.job_ids])
    submit = np.array([date for session in sessions for date in session.submit_times])
    finish = np.array([date for session in sessions for date in session.finish_times])
    order = np.argsort(submit, kind="stable")
    owner = np.repeat(position, n_jobs)
    record = Record(
        source=source,
        job_ids=(ids if isinstance(ids, np.ndarray) else objects(ids))[order],
        users=tuple(users),
        user=owner[order],
        submit_time=submit[order],
        finish_time=finish[order],
        headers={},
    )
    first_job = offsets(np.array(n_jobs))
    return Sessions(
        record,
        SessionGraph(
            user=position,
            start_time=np.array([session.start for session in sessions]),
            end_time=np.maximum.reduceat(finish, first_job[:-1]),
            first_job=first_job,
            jobs=np.argsort(order).astype(np.int64),
            first_dependency=offsets(np.array([len(s.dependencies) for s in sessions])),
            dependency=_dependencies(files),
            think_time=np.array([t for s in sessions for t in s.think_times], dtype=float),
        ),
        _common([file.cut for file in files]),
        _common([file.threshold for file in files]),
    )


def _dependencies(files: Sequence[_File]) -> Any:
    found: list[int] = []
    before = 0
    for file in files:
        place = {session.id: before + i for i, session in enumerate(file.sessions)}
        found += [place[other] for session in file.sessions for other in session.dependencies]
        before += len(file.sessions)
    return np.array(found, dtype=np.int64)


def _common(values: Sequence[Any]) -> Any:
    """Return what all files tell, or None."""
    return values[0] if all(value == values[0] for value in values) else None
