"""What a job does once started: wait, compute, or something that no simulation can run yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from noctule.columns import KIND_COMPUTE, KIND_DELAY, KIND_UNSUPPORTED


@dataclass(frozen=True, slots=True)
class Delay:
    """Occupies the hosts for a fixed time, whatever their speed."""

    duration: float
    return_code: int = 0


@dataclass(frozen=True, slots=True)
class Compute:
    """Computes `work` on every host: work / speed seconds.

    With `spread`, `work` is a total: a job on n hosts computes work / n on each.
    """

    work: float
    return_code: int = 0
    spread: bool = False


@dataclass(frozen=True, slots=True)
class UnsupportedProfile:
    """A profile that is kept as it was read, and refused when a simulation would have to run it."""

    type: str
    fields: Mapping[str, Any]


#: What a job does once started.
Profile = Delay | Compute | UnsupportedProfile


def kind_of(profile: Profile) -> int:
    """Return the core's number for a kind of profile."""
    match profile:
        case Delay():
            return KIND_DELAY
        case Compute():
            return KIND_COMPUTE
        case _:
            return KIND_UNSUPPORTED


def amount_of(profile: Profile, n_hosts: int) -> float:
    """Return the seconds of a delay, or the work per host of a computation."""
    match profile:
        case Compute(work=total, spread=True):
            return total / max(n_hosts, 1)
        case Delay(duration=amount) | Compute(work=amount):
            return amount
        case _:
            return 0.0


def return_code_of(profile: Profile) -> int:
    """Return the code with which a profile ends."""
    return 0 if isinstance(profile, UnsupportedProfile) else profile.return_code


def name_of(profile: Profile) -> str:
    """Make up a name from what a profile does."""
    match profile:
        case Delay(duration=amount):
            name = f"delay:{amount!r}"
        case Compute(work=amount):
            name = f"compute:{amount!r}"
        case UnsupportedProfile(type=kind):
            name = kind
    code = return_code_of(profile)
    return f"{name}:ret={code}" if code else name


def same_but_for_amount(one: Profile, other: Profile) -> bool:
    """Tell whether jobs of one profile name may have these two."""
    if one is other:
        return True
    if isinstance(one, UnsupportedProfile) or isinstance(other, UnsupportedProfile):
        return one == other
    return type(one) is type(other) and one.return_code == other.return_code
