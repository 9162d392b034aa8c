"""Workloads as Batsim's JSON workloads, one line a profile and one a job.

What is read back is the same: profiles with all their fields, users, groups, queues, dependencies,
delays, what `Job.extra` and the headers hold. Only the order of jobs submitted at the same time is
Batsim's own, by ids as text, which no file can change.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import numpy as np

from noctule.columns import KIND_DELAY
from noctule.errors import InputError
from noctule.formats.batsim_fields import leaf_fields, profile_fields
from noctule.formats.headers import hosts_told
from noctule.parts import REPEATED, Parts, plain
from noctule.profile_facts import amount_of, name_of, return_code_of
from noctule.workload import Compute, Delay, Profile, ReadingRule, Workload

_JOBS_AT_ONCE = 10_000
_TOLD_ELSEWHERE = frozenset(("id", "subtime", "res", "profile", "walltime", *REPEATED))


def batsim_text(
    workload: Workload, *, n_hosts: int | None = None, folder: str | None = None
) -> Iterator[str]:
    """Yield the text of a Batsim workload, in pieces.

    `nb_res` is `n_hosts`, else what the headers tell, else the size of the largest job. Files of
    traces are named from `folder`, where the text will be; None leaves their names as they were.
    """
    parts = Parts.of(workload)
    names, profiles = _profiles(parts, folder)
    headers = {**(parts.about.headers or {}), "nb_res": _hosts(parts, n_hosts)}
    yield "{\n"
    for name, value in headers.items():
        if name not in ("profiles", "jobs"):
            yield f"{_json(name)}: {_json(value)},\n"
    yield '"profiles": {'
    between = "\n"
    for name, fields in profiles.items():
        yield f"{between}{_json(name)}: {_json(fields)}"
        between = ",\n"
    yield '\n},\n"jobs": ['
    for first in range(0, len(parts), _JOBS_AT_ONCE):
        rows = range(first, min(first + _JOBS_AT_ONCE, len(parts)))
        yield ("" if first == 0 else ",") + "\n"
        yield ",\n".join(_json(_job(parts, row, names[row])) for row in rows)
    yield "\n]\n}\n"


def lost_in_batsim(workload: Workload) -> list[ReadingRule]:
    """Return what is read back differently, and how many jobs it touches."""
    submit, ids = workload.submit_time.tolist(), workload.job_ids.tolist()
    order = sorted(range(len(ids)), key=lambda i: (submit[i], str(ids[i])))
    moved = sum(i != k for k, i in enumerate(order))
    return [ReadingRule("order: at equal submit times by id as text", moved)] if moved else []


def _job(parts: Parts, row: int, profile_name: str) -> dict[str, Any]:
    job_id = parts.job_ids[row]
    fields: dict[str, Any] = {
        "id": job_id if isinstance(job_id, str) else int(job_id),
        "subtime": plain(float(parts.submit_time[row])),
        "res": int(parts.n_hosts[row]),
        "profile": profile_name,
    }
    walltime = float(parts.walltime[row])
    if math.isfinite(walltime):
        fields["walltime"] = plain(walltime)
    if isinstance(parts.extra, Mapping):
        kept = {name: column[row].item() for name, column in parts.extra.items()}
    else:
        kept = parts.extra[row]
    fields |= {name: value for name, value in kept.items() if name not in _TOLD_ELSEWHERE}
    return fields | parts.repeated(row)


def _profiles(parts: Parts, folder: str | None) -> tuple[list[str], dict[str, Mapping[str, Any]]]:
    """Return the name of each job's profile, and all profiles as a file has them."""
    if parts.profile_names is None:
        return _made_up_profiles(parts)
    known = dict(parts.about.profiles or {})
    # amounts in a file are work: the fields it had are right if they were that before
    raw = parts.about.raw_profiles if parts.speed == 1 else None
    profiles = profile_fields(known, raw or {}, speed=parts.speed, folder=folder)
    names = []
    for row, name in enumerate(parts.profile_names.tolist()):
        profile = known.get(name)
        if profile is None or not _is_profile_of(profile, parts, row):
            code = int(parts.failing[row]) if profile is None else return_code_of(profile)
            name = f"{name}:{plain(float(parts.amount[row]))}"  # noqa: PLW2901
            profiles.setdefault(name, _fields(parts, row, code))
        names.append(name)
    return names, profiles


def _made_up_profiles(parts: Parts) -> tuple[list[str], dict[str, Mapping[str, Any]]]:
    # Few amounts are many jobs': each is named once.
    keys = np.rec.fromarrays([parts.kind == KIND_DELAY, parts.amount, parts.failing > 0])
    _, rows, codes = np.unique(keys, return_index=True, return_inverse=True)
    names = []
    profiles: dict[str, Mapping[str, Any]] = {}
    for row in rows.tolist():
        code = int(parts.failing[row])
        profile = _profile(parts, row, code)
        names.append(name_of(profile))
        profiles[names[-1]] = leaf_fields(profile, parts.speed)
    return [names[code] for code in codes.tolist()], profiles


def _is_profile_of(profile: Profile, parts: Parts, row: int) -> bool:
    """Tell whether the named profile does what the job does: only amounts may differ."""
    if not isinstance(profile, Delay | Compute):
        return True
    return amount_of(profile, int(parts.n_hosts[row])) == float(parts.amount[row])


def _profile(parts: Parts, row: int, code: int) -> Delay | Compute:
    amount = float(parts.amount[row])
    return Delay(amount, code) if parts.kind[row] == KIND_DELAY else Compute(amount, code)


def _fields(parts: Parts, row: int, code: int) -> dict[str, Any]:
    return leaf_fields(_profile(parts, row, code), parts.speed)


def _hosts(parts: Parts, n_hosts: int | None) -> int:
    if n_hosts is not None:
        return n_hosts
    told = hosts_told(parts.about.headers or {})
    return told if told is not None else int(parts.n_hosts.max(initial=1))


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, UnicodeEncodeError) as error:
        raise InputError(
            f"workload: got {value!r}, expected what JSON can hold ({error})"
        ) from None
