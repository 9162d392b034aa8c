"""Several traces as one: jobs in order of submission, ids made unique."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from noctule.columns import shown
from noctule.errors import InputError
from noctule.formats.headers import Headers, moved, noted, recounted, unix_start_time
from noctule.parts import Column, Parts, objects
from noctule.traces.selection import from_zero
from noctule.workload import Dependency, Workload

ALIGNMENTS = ("recorded", "start", "dates")
_UNKNOWN = -1
_MAX_EXACT = 2.0**53
# Recorded numbers that name something of one machine, as labels do.
_NAMES = ("executable", "partition")


def merge(
    workloads: Sequence[Workload],
    *,
    apart: bool = True,
    align: str | None = None,
    name: str = "w0",
) -> Workload:
    """Return the jobs of several workloads as one.

    Ids are kept if no two jobs have the same, else all jobs are numbered from 1.

    Args:
        workloads: at least one.
        apart: users, groups, queues, executables and partitions of different workloads are
            different ones; otherwise the same number or name means the same one.
        align: "recorded" keeps times as they are, "start" begins all at time 0, "dates" puts jobs
            at their dates, by the headers UnixStartTime. Without it times are kept, if all
            workloads begin at the same date or none tells.
        name: name of the result.
    """
    if not workloads:
        raise InputError("merge: got no workload, expected at least one")
    aligned, headers = _aligned(workloads, align)
    all_parts = [Parts.of(workload) for workload in aligned]
    speeds = {parts.about.reference_speed for parts in all_parts}
    if len(speeds) > 1:
        got = " and ".join(sorted(map(str, speeds)))
        raise InputError(f"merge: reference_speed: got {got}, expected the same in all workloads")
    if apart:
        all_parts = _kept_apart(all_parts)
    joined = _joined(_with_unique_ids(_with_unique_profiles(all_parts)))
    note = f"{len(workloads)} traces merged by noctule"
    return joined.told(
        name=name, headers=noted(recounted(headers, len(joined)), note), reading=(), source=None
    ).workload()


def _aligned(
    workloads: Sequence[Workload], align: str | None
) -> tuple[list[Workload], dict[str, Any]]:
    """Return the workloads in one time, and the headers of all."""
    starts = [unix_start_time(workload.headers) for workload in workloads]
    if align is None:
        if len(set(starts)) > 1:
            raise InputError(
                "merge: the traces begin at different dates (UnixStartTime), "
                "expected align: recorded, start or dates"
            )
        align = "recorded"
    if align not in ALIGNMENTS:
        raise InputError(f"align: got {align!r}, expected {', '.join(ALIGNMENTS)}")
    common = _common([workload.headers for workload in workloads])
    if align == "recorded":
        return list(workloads), common
    if align == "start":
        common = {k: v for k, v in moved(common, 0).items() if k != "UnixStartTime"}
        return [from_zero(workload) for workload in workloads], common
    known = [start for start in starts if start is not None]
    if len(known) < len(starts):
        untold = workloads[starts.index(None)]
        raise InputError(
            f"{untold.source or untold.name}: no header UnixStartTime, "
            "expected one in every trace that is put at its dates"
        )
    earliest = min(known)
    shifted = [
        from_zero(workload, time=earliest - start)
        for workload, start in zip(workloads, known, strict=True)
    ]
    return shifted, {**moved(common, 0), "UnixStartTime": shifted[0].headers["UnixStartTime"]}


def _common(all_headers: Sequence[Headers]) -> dict[str, Any]:
    first, *others = all_headers
    return {
        name: value
        for name, value in first.items()
        if all(name in headers and headers[name] == value for headers in others)
    }


def _kept_apart(all_parts: Sequence[Parts]) -> list[Parts]:
    """Give labels of different workloads different numbers, or texts with a number in front."""
    apart: list[Parts] = []
    offsets: dict[str, int] = {}
    for k, parts in enumerate(all_parts):
        labels = {
            name: _shifted_labels(column, name, k, offsets) for name, column in parts.labels.items()
        }
        changes = {}
        for name in _NAMES:
            column = parts.recorded(name)
            if column is not None:
                _refuse_huge(parts, name, column)
                changes[name] = _shifted(column, name, offsets)
        apart.append(replace(parts, labels=labels).with_extra(changes))
    return apart


def _shifted_labels(column: Column, name: str, k: int, offsets: dict[str, int]) -> Column:
    if column.dtype.kind == "i":
        return _shifted(column, name, offsets)
    return objects([None if value is None else f"{k + 1}:{value}" for value in column.tolist()])


def _refuse_huge(parts: Parts, name: str, column: Column) -> None:
    largest = float(column.max(initial=0))
    if largest > _MAX_EXACT:
        raise InputError(
            f"{parts.where}: {name}: got {shown(largest)}, "
            f"expected at most {int(_MAX_EXACT)}, so that they can be kept apart"
        )


def _shifted(column: Column, name: str, offsets: dict[str, int]) -> Column:
    offset = offsets.get(name, 0)
    shifted: Column = np.where(column >= 0, column + offset, _UNKNOWN)
    offsets[name] = max(offset, int(shifted.max(initial=_UNKNOWN)) + 1)
    return shifted


def _with_unique_ids(all_parts: Sequence[Parts]) -> list[Parts]:
    ids = [str(job_id) for parts in all_parts for job_id in parts.job_ids.tolist()]
    if len(set(ids)) == len(ids):
        return list(all_parts)
    submit = np.concatenate([parts.submit_time for parts in all_parts])
    numbers = np.empty(len(submit), dtype=np.int64)
    numbers[np.argsort(submit, kind="stable")] = np.arange(1, len(submit) + 1)
    renamed, first = [], 0
    for parts in all_parts:
        renamed.append(parts.with_ids(numbers[first : first + len(parts)]))
        first += len(parts)
    return renamed


def _with_unique_profiles(all_parts: Sequence[Parts]) -> list[Parts]:
    """Rename the profiles of a name that means different ones in different workloads."""
    seen: dict[str, Any] = {}
    renamed = []
    for k, parts in enumerate(all_parts):
        about = parts.about
        profiles = dict(about.profiles or {})
        new = {}
        for profile_name, profile in profiles.items():
            raw = (about.raw_profiles or {}).get(profile_name)
            if seen.setdefault(profile_name, (profile, raw)) != (profile, raw):
                new[profile_name] = f"{k + 1}:{profile_name}"
        renamed.append(_with_profile_names(parts, new) if new else parts)
    return renamed


def _with_profile_names(parts: Parts, new: Mapping[str, str]) -> Parts:
    assert parts.profile_names is not None
    names = objects([new.get(name, name) for name in parts.profile_names.tolist()])
    about = replace(
        parts.about,
        profiles={new.get(k, k): v for k, v in (parts.about.profiles or {}).items()},
        raw_profiles={new.get(k, k): v for k, v in (parts.about.raw_profiles or {}).items()},
    )
    return replace(parts, profile_names=names, about=about)


def _joined(all_parts: Sequence[Parts]) -> Parts:
    first = all_parts[0]
    if len(all_parts) == 1:
        return first
    dependencies: dict[int, Sequence[Dependency]] = {}
    rank_hosts: dict[int, Sequence[int]] = {}
    profiles: dict[str, Any] = {}
    raw_profiles: dict[str, Any] = {}
    offset = 0
    for parts in all_parts:
        dependencies |= {offset + row: wanted for row, wanted in parts.dependencies.items()}
        rank_hosts |= {offset + row: hosts for row, hosts in parts.rank_hosts.items()}
        profiles |= parts.about.profiles or {}
        raw_profiles |= parts.about.raw_profiles or {}
        offset += len(parts)
    names = None
    if any(parts.profile_names is not None for parts in all_parts):
        names = np.concatenate([_profile_names(parts) for parts in all_parts])

    def column(get: Callable[[Parts], Column]) -> Column:
        return np.concatenate([get(parts) for parts in all_parts])

    return Parts(
        job_ids=_joined_ids([parts.job_ids for parts in all_parts]),
        submit_time=column(lambda parts: parts.submit_time),
        n_hosts=column(lambda parts: parts.n_hosts),
        amount=column(lambda parts: parts.amount),
        walltime=column(lambda parts: parts.walltime),
        kind=column(lambda parts: parts.kind),
        failing=column(lambda parts: parts.failing),
        cancel_time=column(lambda parts: parts.cancel_time),
        launch_delay=column(lambda parts: parts.launch_delay),
        epilogue_delay=column(lambda parts: parts.epilogue_delay),
        labels=_joined_labels(all_parts),
        extra=_joined_extra(all_parts),
        profile_names=names,
        dependencies=dependencies,
        rank_hosts=rank_hosts,
        about=replace(first.about, profiles=profiles, raw_profiles=raw_profiles),
    )


def _joined_ids(columns: Sequence[Column]) -> Column:
    if all(column.dtype.kind == "i" for column in columns):
        return np.concatenate(columns)
    return objects([str(job_id) for column in columns for job_id in column.tolist()])


def _joined_labels(all_parts: Sequence[Parts]) -> dict[str, Column]:
    names = dict.fromkeys(name for parts in all_parts for name in parts.labels)
    joined = {}
    for name in names:
        columns = [parts.labels.get(name) for parts in all_parts]
        if all(column is None or column.dtype.kind == "i" for column in columns):
            joined[name] = np.concatenate(
                [
                    np.full(len(parts), _UNKNOWN) if column is None else column
                    for parts, column in zip(all_parts, columns, strict=True)
                ]
            )
        else:
            values: list[Any] = []
            for parts, column in zip(all_parts, columns, strict=True):
                values += [None] * len(parts) if column is None else _known(column)
            joined[name] = objects(values)
    return joined


def _known(column: Column) -> list[Any]:
    values: list[Any] = column.tolist()
    if column.dtype.kind != "i":
        return values
    return [None if value < 0 else value for value in values]


def _joined_extra(all_parts: Sequence[Parts]) -> Mapping[str, Column] | Column:
    if all(isinstance(parts.extra, Mapping) for parts in all_parts):
        names = dict.fromkeys(name for parts in all_parts for name in parts.extra)
        return {
            name: np.concatenate(
                [
                    np.asarray(parts.extra[name])
                    if name in parts.extra
                    else np.full(len(parts), _UNKNOWN)
                    for parts in all_parts
                ]
            )
            for name in names
        }
    return objects([fields for parts in all_parts for fields in _mappings(parts)])


def _mappings(parts: Parts) -> list[Mapping[str, Any]]:
    if not isinstance(parts.extra, Mapping):
        mappings: list[Mapping[str, Any]] = parts.extra.tolist()
        return mappings
    columns = {name: column.tolist() for name, column in parts.extra.items()}
    return [{name: values[row] for name, values in columns.items()} for row in range(len(parts))]


def _profile_names(parts: Parts) -> Column:
    if parts.profile_names is not None:
        return parts.profile_names
    return objects(list(parts.workload().profile_names))
