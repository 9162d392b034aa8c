"""The decision boundary: what a policy is, what it sees, and how one is named in text.

A policy is anything with `decide(view, events)` that returns or yields decisions. It is called
once an instant, with everything that happened; its decisions are applied in the order given.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from noctule import _core
from noctule.errors import InputError
from noctule.messages import Decision, Event
from noctule.platform import Platform
from noctule.workload import JobId, Workload

__all__ = [
    "JobList",
    "OutsidePolicy",
    "Policy",
    "PolicySpec",
    "Timeline",
    "View",
    "ViewJob",
    "ViewWindow",
]

#: What a policy may add to the folder of a run: `pods.csv` by schedulers of Kubernetes.
POLICY_FILE_NAMES = ("pods.csv",)

Parameter = str | float | int | bool
JobList = _core.JobList
ViewJob = _core.ViewJob
ViewWindow = _core.ViewWindow


@runtime_checkable
class Policy(Protocol):
    """The decision maker."""

    def decide(self, view: View, events: Sequence[Event]) -> Iterable[Decision] | None:
        """Return or yield what to do now."""


class OutsidePolicy:
    """A policy whose decisions are made outside, by something that begins and ends with the run.

    Attributes:
        shares_hosts: whether jobs may be put on hosts that others run on, as with the option.
    """

    shares_hosts = False

    def prepare(self, platform: Platform, workload: Workload) -> None:
        """Take what the run is about, before its first instant."""

    def explain_deadlock(self) -> str:
        """Say why nothing more will happen, as far as that can be told from here."""
        return ""

    def files(self) -> Mapping[str, str]:
        """Return what is to be in the folder of the run besides: texts by POLICY_FILE_NAMES."""
        return {}

    def held(self) -> Mapping[JobId, float]:
        """Return the host-seconds that jobs have held before they started, where any have."""
        return {}

    def close(self) -> None:
        """Give up all that was started for the run, which has ended or failed; may come twice."""


class View(_core.View):
    """The policy's read-only picture of the platform and its jobs."""

    def timeline(self) -> Timeline:
        """Return the hosts that will be free if running jobs end at their walltimes."""
        timeline = Timeline(self.now, self.n_free)
        for time, n_hosts in self.releases():
            timeline.give(n_hosts, max(time, self.now))
        return timeline


class Timeline:
    """Numbers of free hosts over future time, which a policy may plan on."""

    def __init__(self, now: float, n_free: int) -> None:
        """Begin with hosts that are free from now on."""
        self._times = [now]
        self._free = [n_free]

    def advance(self, now: float) -> None:
        """Forget what lies before this instant."""
        if now > self._times[0]:
            current = bisect_right(self._times, now) - 1
            del self._times[:current], self._free[:current]
            self._times[0] = now

    def give(self, n_hosts: int, start: float, end: float = float("inf")) -> None:
        """Free hosts from start to end; the part before the beginning is left out."""
        start = max(start, self._times[0])
        if start >= end:
            return
        first = self._step_at(start)
        last = len(self._times) if end == float("inf") else self._step_at(end)
        for i in range(first, last):
            self._free[i] += n_hosts

    def take(self, n_hosts: int, start: float, end: float) -> None:
        """Occupy hosts from start to end."""
        self.give(-n_hosts, start, end)

    def n_free_at(self, time: float) -> int:
        """Return the hosts free at an instant, everything that is released then counted."""
        return self._free[max(bisect_right(self._times, time) - 1, 0)]

    def earliest(self, n_hosts: int, duration: float) -> float:
        """Return the first instant from which so many hosts are free for so long."""
        start = self._times[0]
        for i, n_free in enumerate(self._free):
            end = self._times[i + 1] if i + 1 < len(self._times) else float("inf")
            if n_free < n_hosts:
                start = end
            elif end >= start + duration:
                break
        return start

    def _step_at(self, time: float) -> int:
        i = bisect_right(self._times, time) - 1
        if self._times[i] == time:
            return i
        self._times.insert(i + 1, time)
        self._free.insert(i + 1, self._free[i])
        return i + 1


_SPEC = re.compile(r"\s*(?P<name>[^()\s][^()]*?)\s*(?:\((?P<parameters>.*)\)\s*)?", re.DOTALL)
_PARAMETER = re.compile(
    r"""\s*(?P<name>[A-Za-z_]\w*)\s*=\s*
        (?: "(?P<double>[^"]*)" | '(?P<single>[^']*)'
          | (?P<bare>(?:[^,()]|\((?:[^()]|\([^()]*\))*\))+?) )
        \s*(?:,|$)""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class PolicySpec:
    """A policy in text: `easy`, `easy(order=sjf, allocation=contiguous)`, `mine.py:Mine(x=2)`."""

    name: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> PolicySpec:
        """Read a name and its parameters; values are numbers, true, false or texts."""
        match = _SPEC.fullmatch(text)
        if match is None:
            raise InputError(f"policy: got {text!r}, expected name(parameter=value, ...)")
        body = match["parameters"] or ""
        parameters: dict[str, Parameter] = {}
        at = 0
        while at < len(body) and body[at:].strip():
            found = _PARAMETER.match(body, at)
            if found is None:
                raise InputError(
                    f"policy {match['name']}: got {body[at:].strip()!r}, expected parameter=value"
                )
            if found["name"] in parameters:
                raise InputError(f"policy {match['name']}: parameter {found['name']} given twice")
            quoted = found["double"] if found["double"] is not None else found["single"]
            parameters[found["name"]] = quoted if quoted is not None else _value(found["bare"])
            at = found.end()
        return cls(match["name"], parameters)

    def with_option(self, text: str) -> PolicySpec:
        """Add a parameter that is written NAME=VALUE."""
        name, equals, value = text.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise InputError(f"policy {self.name}: got {text!r}, expected parameter=value")
        if name in self.parameters:
            raise InputError(f"policy {self.name}: parameter {name} given twice")
        return PolicySpec(self.name, {**self.parameters, name: _value(value)})

    def __str__(self) -> str:
        """Write the spec so that parse() reads the same one."""
        if not self.parameters:
            return self.name
        inside = ", ".join(f"{name}={_text(value)}" for name, value in self.parameters.items())
        return f"{self.name}({inside})"


def _value(text: str) -> Parameter:
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text


def _text(value: Parameter) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    plain = re.fullmatch(r"[A-Za-z_]\w*", value) and isinstance(_value(value), str)
    quote = "'" if '"' in value else '"'
    return value if plain else f"{quote}{value}{quote}"
