"""What the core, names and sizes need to know of a profile."""

from __future__ import annotations

from collections.abc import Iterator

from noctule.columns import KIND_COMPUTE, KIND_DELAY, KIND_PROGRAM, KIND_UNSUPPORTED
from noctule.profile import (
    Compute,
    Delay,
    MpiTrace,
    Profile,
    Traits,
    UnsupportedProfile,
    UsageTrace,
    parts_of,
)


def kind_of(profile: Profile) -> int:
    """Return the core's number for a kind of profile."""
    match profile:
        case Delay():
            return KIND_DELAY
        case Compute():
            return KIND_COMPUTE
        case _:
            return KIND_PROGRAM if Traits.of(profile).is_supported else KIND_UNSUPPORTED


def type_of(profile: Profile) -> str:
    """Return what messages call the kind of a profile: of the part that cannot run, if one is."""
    for one in within(profile):
        if isinstance(one, UnsupportedProfile):
            return one.type
    return type(profile).__name__


def size_of(profile: Profile) -> int | None:
    """Return for how many hosts a profile is; None if for any number."""
    return Traits.of(profile).size


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
        case _:
            name = type(profile).__name__
    code = return_code_of(profile)
    return f"{name}:ret={code}" if code else name


def same_but_for_amount(one: Profile, other: Profile) -> bool:
    """Tell whether jobs of one profile name may have these two."""
    if isinstance(one, Delay | Compute) and isinstance(other, Delay | Compute):
        return type(one) is type(other) and one.return_code == other.return_code
    return one is other or one == other


def within(profile: Profile, seen: set[int] | None = None) -> Iterator[Profile]:
    """Yield all profiles of which one is made, and itself: parts first, each object once."""
    seen = set() if seen is None else seen
    if id(profile) in seen:
        return
    seen.add(id(profile))
    for part in parts_of(profile):
        yield from within(part, seen)
    yield profile


def rank_counts(profile: Profile) -> set[int]:
    """Return the numbers of ranks of the traces in a profile."""
    return {len(one.ranks) for one in within(profile) if isinstance(one, UsageTrace | MpiTrace)}
