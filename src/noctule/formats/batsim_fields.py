"""Profiles as Batsim's JSON has them, under the names of version 4 where it has the type."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

from noctule.errors import InputError
from noctule.parts import plain
from noctule.profile import BRANCHES, branches_of
from noctule.profile_facts import within
from noctule.programs import Naming
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

# Batsim 4 wants a matrix also where nothing is sent, which for many hosts is most of a file.
_LARGEST_EMPTY_MATRIX = 100
_SPREAD = {"generation_strategy": "DefinedAmountsSpreadUniformly"}


def profile_fields(
    profiles: Mapping[str, Profile],
    raw: Mapping[str, Mapping[str, Any]],
    *,
    speed: float,
    folder: str | None,
) -> dict[str, Mapping[str, Any]]:
    """Return the fields of all profiles and of their parts, by name.

    `raw` are fields that they had in a file: those are kept, but for names of parts and files.
    """
    naming = Naming(profiles)
    for profile in profiles.values():
        for one in within(profile):
            naming.of(one)
    return {
        name: {
            **(raw.get(name) or leaf_fields(profile, speed)),
            **_references(name, profile, raw.get(name, {}), naming, folder),
        }
        for name, profile in naming.profiles.items()
    }


def leaf_fields(profile: Profile, speed: float) -> dict[str, Any]:
    """Return the fields of a profile, without names of other profiles and of files."""
    fields = _delay_or_work(profile, speed) or _others(profile)
    if not isinstance(profile, UnsupportedProfile) and profile.return_code:
        fields["ret"] = profile.return_code
    return fields


def _delay_or_work(profile: Profile, speed: float) -> dict[str, Any]:
    match profile:
        case Delay(duration=duration) if duration > 0:
            return {"type": "delay", "delay": plain(float(duration))}
        case Delay():
            # Batsim has no delay of 0 s; no work takes no time at any speed
            return {"type": "parallel_homogeneous", "cpu": 0, "com": 0}
        case Compute(work=work, spread=spread):
            kind = "parallel_homogeneous_total" if spread else "parallel_homogeneous"
            cpu = float(work) * speed
            if not math.isfinite(cpu):
                raise InputError(
                    f"workload: got a computation of {work:g} s at speed {speed:g}, "
                    "expected work that a number can hold"
                )
            return {"type": kind, "cpu": plain(cpu), "com": 0}
        case _:
            return {}


def _others(profile: Profile) -> dict[str, Any]:
    match profile:
        case UnsupportedProfile(type=kind, fields=kept):
            return {"type": kind, **kept}
        case ParallelTask(flops=flops, bytes=sent):
            return _parallel(flops, sent)
        case HomogeneousTask():
            return _homogeneous(profile)
        case StorageTransfer(read_bytes=read, written_bytes=written, storage=label):
            kind = "ParallelTaskOnStorageHomogeneousProfile"
            return {
                "type": kind if profile.spread else "parallel_homogeneous_pfs",
                "bytes_to_read": plain(read),
                "bytes_to_write": plain(written),
                "storage": label,
                **(_SPREAD if profile.spread else {}),
            }
        case DataStaging(bytes=moved, from_storage=from_label, to_storage=to_label):
            fields = {"nb_bytes": plain(moved), "from": from_label, "to": to_label}
            return {"type": "data_staging", **fields}
        case _:
            return _told(profile)


def _parallel(flops: tuple[float, ...], sent: tuple[float, ...]) -> dict[str, Any]:
    cpu = [plain(one) for one in flops]
    if not sent and len(flops) > _LARGEST_EMPTY_MATRIX:
        return {"type": "ParallelTaskProfile", "cpu": cpu}
    matrix = sent or (0,) * len(flops) ** 2
    return {"type": "parallel", "cpu": cpu, "com": [plain(one) for one in matrix]}


def _homogeneous(profile: HomogeneousTask) -> dict[str, Any]:
    amounts = {"cpu": plain(profile.flops), "com": plain(profile.bytes)}
    match profile.amounts:
        case "each":
            return {"type": "parallel_homogeneous", **amounts}
        case "spread_flops":
            return {"type": "parallel_homogeneous_total", **amounts}
        case _:
            return {"type": "ParallelTaskHomogeneousProfile", **amounts, **_SPREAD}


def _told(profile: Profile) -> dict[str, Any]:
    match profile:
        case Send(message=message, seconds=seconds):
            return {"type": "send", "msg": message, "sleeptime": plain(seconds)}
        case Sequence(repeat=repeat):
            return {"type": "composed", "repeat": repeat}
        case Receive(pattern=pattern, poll_seconds=seconds):
            return {"type": "recv", "regex": pattern, "polltime": plain(seconds)}
        case UsageTrace():
            return {"type": "usage_trace"}
        case _:
            return {"type": "smpi"}


def _references(
    name: str, profile: Profile, raw: Mapping[str, Any], naming: Naming, folder: str | None
) -> dict[str, Any]:
    """Return the fields that name other profiles and files."""
    match profile:
        case Sequence(parts=parts):
            return {"seq": [naming.of(part) for part in parts]}
        case Receive():
            named = zip(BRANCHES, branches_of(profile), strict=True)
            return {key: naming.of(part) for key, part in named if part is not None}
        case UsageTrace(path=None) | MpiTrace(path=None):
            raise InputError(
                f"profile {name!r}: got a trace that is in no file, "
                "expected one that was read from files, which a workload can name"
            )
        case UsageTrace(path=str(path)) | MpiTrace(path=str(path)):
            key = "filename" if "filename" in raw else "trace"
            if folder is None and key in raw:
                return {}
            return {key: path if folder is None else os.path.relpath(path, folder or os.curdir)}
        case _:
            return {}
