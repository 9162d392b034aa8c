"""Sessions as files, one a user, in JSON: what is documented in docs/reference/sessions.md."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import numpy as np

from noctule.columns import Floats
from noctule.errors import InputError
from noctule.output_file import check_folder, write_folder
from noctule.parts import plain
from noctule.sessions.partition import Sessions
from noctule.workload import Label

FORMAT = 1
NOBODYS_FILE = "nobody.json"
_OURS = re.compile(r"user-.*\.json|nobody\.json")


def save_sessions(
    sessions: Sessions, folder: str | os.PathLike[str], *, force: bool = False
) -> list[str]:
    """Write the sessions as a folder of files, whole or not at all; return their names.

    A folder that is there is only replaced by `force`, and only if it holds sessions alone.
    """
    users = {sessions.label(i): groups for i, groups in sessions.graph.by_user().items()}
    names: dict[str, Label] = {}
    for user in users:
        other = names.setdefault(file_name(user), user)
        if other is not user:
            raise InputError(
                f"{os.fspath(folder)}: users {other!r} and {user!r} have one file name"
            )
    contents = (b"".join(_pieces(sessions, *item)) for item in users.items())
    files = zip(names, contents, strict=True)
    write_folder(folder, files, replaceable=_is_ours, force=force)
    return list(names)


def check_sessions_folder(folder: str | os.PathLike[str], *, force: bool = False) -> None:
    """Refuse a folder that sessions must not be written to, before they are found."""
    check_folder(folder, replaceable=_is_ours, force=force)


def file_name(user: Label) -> str:
    """Return the name of a user's file; whatever the user is called, it has no folder in it."""
    return NOBODYS_FILE if user is None else f"user-{quote(str(user), safe='')}.json"


def _is_ours(path: Path) -> bool:
    return path.is_file() and _OURS.fullmatch(path.name) is not None


def _pieces(sessions: Sessions, user: Label, mine: range) -> Iterator[bytes]:
    """Yield the text of a user's file, a line a session."""
    head = {
        "noctule_sessions": FORMAT,
        "user": user,
        "cut": sessions.cut,
        "threshold": _plain(sessions.threshold),
    }
    yield msgspec.json.encode(head)[:-1] + b',"sessions":[\n'
    separator = b""
    for session in _documents(sessions, mine):
        yield separator + msgspec.json.encode(session)
        separator = b",\n"
    yield b"\n]}\n"


def _documents(sessions: Sessions, mine: range) -> Iterator[dict[str, Any]]:
    """Yield the sessions of a user; they are numbered from 1."""
    graph, record = sessions.graph, sessions.record
    first_job = graph.first_job[mine.start : mine.stop + 1]
    first_edge = graph.first_dependency[mine.start : mine.stop + 1]
    rows = graph.jobs[first_job[0] : first_job[-1]]
    edges = slice(first_edge[0], first_edge[-1])
    begins = (first_job - first_job[0]).tolist()
    edge_begins = (first_edge - first_edge[0]).tolist()
    start = graph.start_time[mine.start : mine.stop]
    preceding = (graph.dependency[edges] - (mine.start - 1)).tolist()
    think = _numbers(graph.think_time[edges])
    ids = record.job_ids[rows].tolist()
    offset = _numbers(record.submit_time[rows] - np.repeat(start, np.diff(first_job)))
    finish = _numbers(record.finish_time[rows])
    for i, begin in enumerate(_numbers(start)):
        jobs = slice(begins[i], begins[i + 1])
        own_edges = slice(edge_begins[i], edge_begins[i + 1])
        yield {
            "id": i + 1,
            "first_submit_time": begin,
            "preceding_sessions": preceding[own_edges],
            "thinking_time_after_preceding_session": think[own_edges],
            "nb_jobs": jobs.stop - jobs.start,
            "jobs": [
                {"id": job_id, "subtime": after, "finish_time": end}
                for job_id, after, end in zip(ids[jobs], offset[jobs], finish[jobs], strict=True)
            ],
        }


def _numbers(values: Floats) -> list[int | float | None]:
    """Return numbers as JSON has them: whole ones without a point, infinite ones as null."""
    if bool((values == np.floor(values)).all()) and bool((np.abs(values) < 2.0**53).all()):
        whole: list[int | float | None] = values.astype(np.int64).tolist()
        return whole
    return [_plain(value) for value in values.tolist()]


def _plain(value: float | None) -> int | float | None:
    return None if value is None or math.isinf(value) else plain(value)
