"""Batsim's profiles, of versions 4 and 5 and under the names they had before.

Computation without communication becomes Compute, which runs in no time at all, wherever one
number says how long it takes on any hosts: all have the same amount. Profiles made of others are
read once those are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noctule.errors import InputError
from noctule.formats.json_object import JsonObject
from noctule.formats.rank_files import RankFiles, read_rank_files, usages_of
from noctule.profile import BRANCHES
from noctule.programs import MOST_RETURN_CODE
from noctule.workload import (
    Compute,
    DataStaging,
    Delay,
    HomogeneousTask,
    MpiTrace,
    ParallelTask,
    Profile,
    Receive,
    Send,
    Sequence,
    StorageTransfer,
    UnsupportedProfile,
    UsageTrace,
)

_SPREAD = "DefinedAmountsSpreadUniformly"
_SLEEP_SECONDS, _POLL_SECONDS = 1e-7, 0.005


@dataclass(frozen=True, slots=True)
class SizedProfile:
    """A profile, and how many hosts a job that runs it must ask for, where it says so."""

    profile: Profile
    size: int | None = None


def read_profiles(
    source: str, raw_profiles: Mapping[str, Any], *, workload: str = "w0"
) -> dict[str, SizedProfile]:
    """Read the profiles of a workload, by name; trace files are relative to the `source`."""
    profiles: dict[str, SizedProfile] = {}
    made_of: dict[str, _Whole] = {}
    for name, raw in raw_profiles.items():
        fields = JsonObject.of(source, f"profiles[{name!r}]", raw)
        kind = fields.text("type")
        if kind in _SEQUENCES or kind == "recv":
            parts = _sequence_parts(fields) if kind in _SEQUENCES else _branches(fields)
            known = {key: _known(fields, key, part, raw_profiles, workload) for key, part in parts}
            made_of[name] = _Whole(fields, known)
        else:
            profiles[name] = _READERS.get(kind, _unsupported)(fields)
    _put_together(source, profiles, made_of)
    return {name: profiles[name] for name in raw_profiles}


# Profiles made of others


@dataclass(frozen=True, slots=True)
class _Whole:
    """A profile that is made of others, and their names by the keys under which it has them."""

    fields: JsonObject
    parts: Mapping[str, str]


def _sequence_parts(fields: JsonObject) -> list[tuple[str, Any]]:
    parts = fields.fields.get("seq")
    if not isinstance(parts, list) or not parts:
        fields.refuse("seq", "an array of at least one name of a profile")
    return [(f"seq[{i}]", part) for i, part in enumerate(parts)]


def _branches(fields: JsonObject) -> list[tuple[str, Any]]:
    named = [(key, fields.fields.get(key, "")) for key in BRANCHES]
    return [(key, part) for key, part in named if part != ""]


def _known(
    fields: JsonObject, key: str, part: Any, profiles: Mapping[str, Any], workload: str
) -> str:
    """Return the name of a part; the name of the workload may stand before it, as in Batsim 5."""
    if isinstance(part, str):
        if part in profiles:
            return part
        match = re.fullmatch("([^!]+)!+([^!]+)", part)
        if match is not None and match[1] == workload and match[2] in profiles:
            return match[2]
    place = JsonObject(fields.source, fields.path, {key: part})
    return place.refuse(key, "the name of a profile")


def _put_together(
    source: str, profiles: dict[str, SizedProfile], wholes: Mapping[str, _Whole]
) -> None:
    """Make the profiles that are made of others, each once all its parts are there."""
    waiting: dict[str, list[str]] = {}
    missing = {
        name: {part for part in whole.parts.values() if part not in profiles}
        for name, whole in wholes.items()
    }
    for name, parts in missing.items():
        for part in parts:
            waiting.setdefault(part, []).append(name)
    ready = [name for name, parts in missing.items() if not parts]
    while ready:
        name = ready.pop()
        profiles[name] = _whole(wholes[name], profiles)
        for whole in waiting.get(name, ()):
            missing[whole].discard(name)
            if not missing[whole]:
                ready.append(whole)
    stuck = {name: parts for name, parts in missing.items() if parts}
    if stuck:
        ring = _ring(stuck, wholes)
        raise InputError(
            f"{source}: profiles[{ring[0]!r}]: contains itself: {' -> '.join((*ring, ring[0]))}"
        )


def _ring(stuck: Mapping[str, set[str]], wholes: Mapping[str, _Whole]) -> list[str]:
    """Return profiles of which each contains the next, and the last one the first."""
    name, path = next(iter(stuck)), list[str]()
    place: dict[str, int] = {}
    while name not in place:
        place[name] = len(path)
        path.append(name)
        name = next(part for part in wholes[name].parts.values() if part in stuck[name])
    return path[place[name] :]


def _whole(whole: _Whole, profiles: Mapping[str, SizedProfile]) -> SizedProfile:
    fields, code = whole.fields, _return_code(whole.fields)
    parts = {key: profiles[name] for key, name in whole.parts.items()}
    size = _common_size(whole, parts)
    made = {key: part.profile for key, part in parts.items()}
    if fields.text("type") != "recv":
        # before version 3 it was called nb
        repeats = "nb" if "nb" in fields and "repeat" not in fields else "repeat"
        repeat = fields.whole(repeats, least=1, default=1)
        return _placed(fields, size, lambda: Sequence(tuple(made.values()), repeat, code))
    pattern = fields.text("regex") if "regex" in fields else ".*"
    seconds = fields.positive("polltime") if "polltime" in fields else _POLL_SECONDS
    return _placed(
        fields,
        size,
        lambda: Receive(pattern, **made, poll_seconds=seconds, return_code=code),
    )


def _placed(fields: JsonObject, size: int | None, make: Callable[[], Profile]) -> SizedProfile:
    try:
        profile = make()
    except InputError as error:
        raise InputError(f"{fields.source}: {fields.path}: {error}") from None
    return SizedProfile(profile, size)


def _common_size(whole: _Whole, parts: Mapping[str, SizedProfile]) -> int | None:
    """Return for how many hosts all parts are; a computation may have lost its own size."""
    size: int | None = None
    for key, part in parts.items():
        if size is None:
            size = part.size
        elif part.size not in (None, size):
            where = f"{whole.fields.source}: {whole.fields.path}.{key}"
            raise InputError(
                f"{where}: got {whole.parts[key]!r}, a profile for {part.size} hosts, "
                f"expected one for {size}, as those before it"
            )
    return size


# Profiles of their own


def _delay(fields: JsonObject) -> SizedProfile:
    return SizedProfile(Delay(fields.positive("delay"), _return_code(fields)))


def _homogeneous(fields: JsonObject) -> SizedProfile:
    return _same_everywhere(fields, "each")


def _homogeneous_total(fields: JsonObject) -> SizedProfile:
    return _same_everywhere(fields, "spread_flops")


def _homogeneous_v5(fields: JsonObject) -> SizedProfile:
    return _same_everywhere(fields, "spread" if _is_spread(fields) else "each")


def _same_everywhere(fields: JsonObject, amounts: str) -> SizedProfile:
    work, traffic = fields.non_negative("cpu"), fields.non_negative("com")
    code = _return_code(fields)
    if traffic > 0:
        return SizedProfile(HomogeneousTask(work, traffic, amounts, code))
    return SizedProfile(Compute(work, code, spread=amounts != "each"))


def _parallel(fields: JsonObject) -> SizedProfile:
    return _task(fields, fields.amounts("cpu"), fields.amounts("com"))


def _parallel_v5(fields: JsonObject) -> SizedProfile:
    traffic = fields.amounts("com") if "com" in fields else []
    if "cpu" in fields:
        return _task(fields, fields.amounts("cpu"), traffic if "com" in fields else None)
    size = math.isqrt(len(traffic))
    if not traffic or size * size != len(traffic):
        fields.refuse("com", "the square of a number of hosts, as there is no cpu")
    return _task(fields, [0.0] * size, traffic)


def _task(fields: JsonObject, work: list[float], traffic: list[float] | None) -> SizedProfile:
    size = len(work)
    if size == 0:
        fields.refuse("cpu", "at least one number")
    if traffic is not None and len(traffic) != size * size:
        fields.refuse("com", f"{size * size} numbers, as there are {size} in cpu")
    code = _return_code(fields)
    sent = tuple(traffic) if traffic is not None and any(traffic) else ()
    if not sent and min(work) == max(work):
        return SizedProfile(Compute(work[0], code), size)
    return SizedProfile(ParallelTask(tuple(work), sent, code), size)


def _storage_transfer(fields: JsonObject) -> SizedProfile:
    if "bytes_to_read" not in fields and "bytes_to_write" not in fields:
        fields.refuse("bytes_to_read", "it or bytes_to_write")
    read = fields.non_negative("bytes_to_read", 0.0)
    written = fields.non_negative("bytes_to_write", 0.0)
    return SizedProfile(
        StorageTransfer(read, written, _storage(fields), _is_spread(fields), _return_code(fields))
    )


def _old_storage_transfer(fields: JsonObject) -> SizedProfile:
    """Read a transfer in one direction, as it was before version 3."""
    if "size" not in fields:
        return _storage_transfer(fields)
    amount, direction = fields.non_negative("size"), fields.fields.get("direction", "to_storage")
    code = _return_code(fields)
    if direction in ("to_storage", "from_node_to_storage"):
        return SizedProfile(StorageTransfer(0.0, amount, _storage(fields), return_code=code))
    if direction in ("from_storage", "from_storage_to_node"):
        return SizedProfile(StorageTransfer(amount, 0.0, _storage(fields), return_code=code))
    return fields.refuse("direction", "to_storage or from_storage")


def _data_staging(fields: JsonObject) -> SizedProfile:
    # before version 3 it was called size
    key = "size" if "size" in fields and "nb_bytes" not in fields else "nb_bytes"
    moved = fields.non_negative(key)
    labels = fields.text("from"), fields.text("to")
    return SizedProfile(DataStaging(moved, *labels, return_code=_return_code(fields)))


def _send(fields: JsonObject) -> SizedProfile:
    message = fields.fields.get("msg")
    if not isinstance(message, dict):
        fields.refuse("msg", "an object")
    seconds = fields.positive("sleeptime") if "sleeptime" in fields else _SLEEP_SECONDS
    return SizedProfile(Send(message, seconds, _return_code(fields)))


def _mpi_trace(fields: JsonObject) -> SizedProfile:
    path, files = _rank_files(fields)
    code = _return_code(fields)
    return SizedProfile(MpiTrace(files.texts, files.sources, path, code))


def _usage_trace(fields: JsonObject) -> SizedProfile:
    path, files = _rank_files(fields)
    return SizedProfile(UsageTrace(usages_of(files), path, _return_code(fields), files.sources))


def _trace_v5(fields: JsonObject) -> SizedProfile:
    match fields.fields.get("trace_type"):
        case "SMPI":
            return _mpi_trace(fields)
        case "FractionalComputation":
            return _usage_trace(fields)
    return fields.refuse("trace_type", "SMPI or FractionalComputation")


def _rank_files(fields: JsonObject) -> tuple[str, RankFiles]:
    key = "filename" if fields.text("type") == "TraceReplayProfile" else "trace"
    name = fields.text(key)
    path = Path(fields.source).parent / name
    files = read_rank_files(path, where=f"{fields.source}: {fields.path}.{key}")
    return str(path), files


def _unsupported(fields: JsonObject) -> SizedProfile:
    return SizedProfile(UnsupportedProfile(fields.text("type"), fields.fields))


def _storage(fields: JsonObject) -> str:
    key = "host" if "host" in fields and "storage" not in fields else "storage"
    return fields.text(key) if key in fields else "pfs"


def _is_spread(fields: JsonObject) -> bool:
    # As in Batsim, a strategy that is not known means the usual one.
    return fields.fields.get("generation_strategy") == _SPREAD


def _return_code(fields: JsonObject) -> int:
    code = fields.whole("ret", least=0, default=0)
    if code > MOST_RETURN_CODE:
        fields.refuse("ret", f"a whole number up to {MOST_RETURN_CODE}")
    return code


_SEQUENCES = ("composed", "SequentialCompositionProfile")
_READERS: Mapping[str, Callable[[JsonObject], SizedProfile]] = {
    "delay": _delay,
    "DelayProfile": _delay,
    "parallel": _parallel,
    "msg_par": _parallel,
    "ParallelTaskProfile": _parallel_v5,
    "parallel_homogeneous": _homogeneous,
    "msg_par_hg": _homogeneous,
    "parallel_homogeneous_total": _homogeneous_total,
    "msg_par_hg_tot": _homogeneous_total,
    "ParallelTaskHomogeneousProfile": _homogeneous_v5,
    "parallel_homogeneous_pfs": _storage_transfer,
    "ParallelTaskOnStorageHomogeneousProfile": _storage_transfer,
    "parallel_homogeneous_pfs_multiple_tiers": _old_storage_transfer,
    "msg_par_hg_pfs": _old_storage_transfer,
    "msg_par_hg_pfs0": _old_storage_transfer,
    "msg_par_hg_pfs_tiers": _old_storage_transfer,
    "data_staging": _data_staging,
    "ParallelTaskDataStagingBetweenStoragesProfile": _data_staging,
    "send": _send,
    "smpi": _mpi_trace,
    "usage_trace": _usage_trace,
    "TraceReplayProfile": _trace_v5,
}
