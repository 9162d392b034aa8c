"""Workloads of Batsim as they are told: objects of their files by name, and what these refer to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: The name of a profile, the part that it is in, and how much of it is done.
Level = tuple[str, int, float]

_SEQUENCES = ("composed", "SequentialCompositionProfile")


@dataclass(frozen=True, slots=True)
class BatsimWorkload:
    """A workload as its scheduler is told of it.

    Attributes:
        name: what stands before the `!` of its jobs' ids, such as w0.
        path: the absolute path of its file.
        jobs: objects of the file by full id (`w0!1`), with all their fields; one without `subtime`
            gets the date of its submission.
        profiles: objects of the file by name, with all their fields.
    """

    name: str
    path: str
    jobs: Mapping[str, Mapping[str, Any]]
    profiles: Mapping[str, Mapping[str, Any]]


def referenced_profiles(workload: BatsimWorkload) -> dict[str, Any]:
    """Return the profiles that a job or a sequence names, by name: Batsim forgets the others."""
    named = {bare_name(job["profile"]) for job in workload.jobs.values()}
    for profile in workload.profiles.values():
        named.update(map(bare_name, parts_of(profile)))
    return {name: dict(raw) for name, raw in workload.profiles.items() if name in named}


def parts_of(profile: Mapping[str, Any]) -> Sequence[str]:
    """Return the names of the profiles that a sequence is made of."""
    parts = profile.get("seq") if profile.get("type") in _SEQUENCES else None
    return [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []


def bare_name(name: str) -> str:
    """Return the name of a profile without that of its workload."""
    return name.rpartition("!")[2]


def named_levels(
    levels: Sequence[Level], name: str, profiles: Mapping[str, Mapping[str, Any]]
) -> Iterator[Level]:
    """Yield how far a job has come in its profile, its part and so on, by the workload's names.

    `name` is that of the job's profile; a job that has not begun has come nowhere in it.
    """
    for own, part, done in levels or [("", 0, 0.0)]:
        name = bare_name(own) if bare_name(own) in profiles else name
        yield name, part, done
        parts = parts_of(profiles.get(name, {}))
        if parts and part >= 0:
            name = bare_name(parts[part % len(parts)])
