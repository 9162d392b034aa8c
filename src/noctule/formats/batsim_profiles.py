"""Batsim's profiles: delays and pure computation become Noctule's own, all others are kept.

A parallel task without communication ends when its largest amount is computed, whatever its other
hosts do; so one number says how long it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from noctule.formats.json_object import JsonObject
from noctule.workload import Compute, Delay, Profile, UnsupportedProfile


@dataclass(frozen=True, slots=True)
class SizedProfile:
    """A profile, and how many hosts a job that runs it must ask for, where it says so."""

    profile: Profile
    size: int | None = None


def read_profiles(source: str, raw_profiles: Mapping[str, Any]) -> dict[str, SizedProfile]:
    """Read the profiles of a workload, by name."""
    profiles = {}
    for name, raw in raw_profiles.items():
        fields = JsonObject.of(source, f"profiles[{name!r}]", raw)
        reader = _READERS.get(fields.text("type"), _unsupported)
        profiles[name] = reader(fields)
    return profiles


def _delay(fields: JsonObject) -> SizedProfile:
    return SizedProfile(Delay(fields.positive("delay"), _return_code(fields)))


def _homogeneous(fields: JsonObject) -> SizedProfile:
    return _same_everywhere(fields, spread=False)


def _homogeneous_total(fields: JsonObject) -> SizedProfile:
    return _same_everywhere(fields, spread=True)


def _homogeneous_v5(fields: JsonObject) -> SizedProfile:
    # As in Batsim, a strategy that is not known means the usual one.
    strategy = fields.fields.get("generation_strategy")
    return _same_everywhere(fields, spread=strategy == "DefinedAmountsSpreadUniformly")


def _same_everywhere(fields: JsonObject, *, spread: bool) -> SizedProfile:
    work, traffic = fields.non_negative("cpu"), fields.non_negative("com")
    code = _return_code(fields)
    if traffic > 0:
        return _unsupported(fields)
    return SizedProfile(Compute(work, code, spread=spread))


def _parallel(fields: JsonObject) -> SizedProfile:
    return _task(fields, fields.amounts("cpu"), fields.amounts("com"))


def _parallel_v5(fields: JsonObject) -> SizedProfile:
    if "cpu" not in fields:
        return _unsupported(fields)
    return _task(fields, fields.amounts("cpu"), fields.amounts("com") if "com" in fields else None)


def _task(fields: JsonObject, work: list[float], traffic: list[float] | None) -> SizedProfile:
    size = len(work)
    if size == 0:
        fields.refuse("cpu", "at least one number")
    if traffic is not None and len(traffic) != size * size:
        fields.refuse("com", f"{size * size} numbers, as there are {size} in cpu")
    code = _return_code(fields)
    if traffic is not None and any(traffic):
        return SizedProfile(_unsupported(fields).profile, size)
    return SizedProfile(Compute(max(work), code), size)


def _unsupported(fields: JsonObject) -> SizedProfile:
    return SizedProfile(UnsupportedProfile(fields.text("type"), fields.fields))


def _return_code(fields: JsonObject) -> int:
    return fields.whole("ret", least=0, default=0)


_READERS: Mapping[str, Callable[[JsonObject], SizedProfile]] = {
    "delay": _delay,
    "DelayProfile": _delay,
    "parallel": _parallel,
    "ParallelTaskProfile": _parallel_v5,
    "parallel_homogeneous": _homogeneous,
    "parallel_homogeneous_total": _homogeneous_total,
    "ParallelTaskHomogeneousProfile": _homogeneous_v5,
}
