"""Profiles as protocol 5 has them, and as files have them: other words for the same fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from noctule.errors import InputError
from noctule.formats.json_object import shown_json

_EACH, _SPREAD = "DefinedAmountsUsedForEachValue", "DefinedAmountsSpreadUniformly"
_HOMOGENEOUS = "ParallelTaskHomogeneousProfile"
_ON_STORAGE = "ParallelTaskOnStorageHomogeneousProfile"
_STAGING = "ParallelTaskDataStagingBetweenStoragesProfile"
_SEQUENCE, _TRACE = "SequentialCompositionProfile", "TraceReplayProfile"

# by type: fields of the protocol, the words of files for them, and what they are if not given
_FIELDS: Mapping[str, tuple[tuple[str, str, Any], ...]] = {
    "DelayProfile": (("delay", "delay", 0.0),),
    "ParallelTaskProfile": (
        ("computation_vector", "cpu", None),
        ("communication_matrix", "com", None),
    ),
    _HOMOGENEOUS: (
        ("computation_amount", "cpu", 0.0),
        ("communication_amount", "com", 0.0),
        ("generation_strategy", "generation_strategy", _EACH),
    ),
    _SEQUENCE: (("repetition_count", "repeat", 1), ("profile_ids", "seq", None)),
    _ON_STORAGE: (
        ("storage_name", "storage", "pfs"),
        ("bytes_to_read", "bytes_to_read", 0.0),
        ("bytes_to_write", "bytes_to_write", 0.0),
        ("generation_strategy", "generation_strategy", _EACH),
    ),
    _STAGING: (
        ("bytes_to_transfer", "nb_bytes", 0.0),
        ("emitter_storage_name", "from", None),
        ("receiver_storage_name", "to", None),
    ),
    _TRACE: (("trace_type", "trace_type", "SMPI"), ("filename", "filename", None)),
}
# what files of Batsim 4 call it, and what they say without words
_OLD_NAMES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "delay": ("DelayProfile", {}),
    "parallel": ("ParallelTaskProfile", {}),
    "parallel_homogeneous": (_HOMOGENEOUS, {}),
    "parallel_homogeneous_total": (_HOMOGENEOUS, {"generation_strategy": _SPREAD}),
    "composed": (_SEQUENCE, {}),
    "parallel_homogeneous_pfs": (_ON_STORAGE, {}),
    "data_staging": (_STAGING, {}),
    "smpi": (_TRACE, {"trace_type": "SMPI"}),
    "usage_trace": (_TRACE, {"trace_type": "FractionalComputation"}),
}
_OLD_WORDS = {"storage": "host", "filename": "trace"}


def as_told(workload: str, name: str, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a profile of a file as the protocol has it: its full id, its type, its fields."""
    kind = str(raw.get("type"))
    implied: Mapping[str, Any] = {}
    if kind in _OLD_NAMES:
        kind, implied = _OLD_NAMES[kind]
    if kind not in _FIELDS:
        raise InputError(
            f"profile {workload}!{name}: got the type {shown_json(kind)}, which Batsim 5 does not "
            f"have, expected one of {', '.join(_FIELDS)}"
        )
    fields = {}
    for told, word, default in _FIELDS[kind]:
        old = _OLD_WORDS.get(word, word)
        value = raw.get(word, raw.get(old, implied.get(word, default)))
        if value is not None:
            fields[told] = value
    if kind == _SEQUENCE:
        fields["profile_ids"] = [
            part if "!" in part else f"{workload}!{part}" for part in fields["profile_ids"]
        ]
    profile = {"id": f"{workload}!{name}", "profile_type": kind, "profile": fields}
    extra = extra_data_text(raw, f"profile {workload}!{name}")
    return profile if extra is None else {**profile, "extra_data": extra}


def as_in_files(kind: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """Return a profile of a message as files have it; unknown fields are left out."""
    if kind not in _FIELDS:
        raise InputError(
            f"profile_type: got {shown_json(kind)}, expected one of {', '.join(_FIELDS)}"
        )
    fields: dict[str, Any] = {"type": kind}
    for word, ours, default in _FIELDS[kind]:
        value = told.get(word, default)
        if value is not None:
            fields[ours] = value
    if kind == "ParallelTaskProfile":
        # an empty vector is one that was not given
        fields = {key: value for key, value in fields.items() if value != []}
    return fields


def extra_data_text(raw: Mapping[str, Any], where: str) -> str | None:
    """Return the extra_data of a job or profile, which objects and arrays are written for."""
    value = raw.get("extra_data")
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        return msgspec.json.encode(value).decode()
    raise InputError(
        f"{where}: extra_data: got {shown_json(value)}, expected a string, an object or an array"
    )
