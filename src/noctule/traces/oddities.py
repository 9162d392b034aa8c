"""What is odd about a trace: what cannot be, what is not known, and what is unusual.

Nothing is judged for the user: a log with oddities is read all the same, and the reading rules
say what is made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from noctule.columns import Floats, shown
from noctule.formats.headers import date_at, hosts_told, unix_start_time
from noctule.traces.flurries import find_flurries
from noctule.traces.raw import RawTrace

Booleans = npt.NDArray[np.bool_]

WRONG, MISSING, UNUSUAL = "wrong", "missing", "unusual"
_UNKNOWN = -1
_COMPLETED = 1
_DAY = 86_400.0
_WHOLE_FIELDS = (
    "job number",
    "allocated processors",
    "requested processors",
    "user",
    "group",
    "queue",
    "preceding job",
)


@dataclass(frozen=True, slots=True)
class OddityLimits:
    """From when on something is unusual.

    A flurry is more than `flurry_jobs` jobs of one user in `flurry_window` seconds, a silence
    `silence` seconds without a submission, a long job one that runs for `long_runtime` seconds.
    """

    flurry_jobs: int = 200
    flurry_window: float = 3600.0
    silence: float = 14 * _DAY
    long_runtime: float = 30 * _DAY
    n_examples: int = 3


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something odd: how many jobs have it, and some of them."""

    name: str
    kind: str
    description: str
    n_jobs: int
    examples: tuple[str, ...] = ()


def find_oddities(
    trace: RawTrace, *, n_hosts: int | None = None, limits: OddityLimits | None = None
) -> list[Oddity]:
    """Return all oddities of a trace, on a machine of `n_hosts`, by default the one it tells."""
    limits = limits or OddityLimits()
    n_hosts = hosts_told(trace.headers) if n_hosts is None else n_hosts
    look = _Look(trace, n_hosts, limits)
    found = list(_of_headers(trace))
    for name, kind, description, test in _TESTS:
        with np.errstate(over="ignore", invalid="ignore"):  # nobody has judged the numbers yet
            rows = np.flatnonzero(test(look))
        if len(rows):
            examples = tuple(trace.places[row] for row in rows[: limits.n_examples].tolist())
            found.append(Oddity(name, kind, description, len(rows), examples))
    found += _flurries(trace, limits)
    return found


@dataclass(frozen=True, slots=True)
class _Look:
    """What the tests look at."""

    trace: RawTrace
    n_hosts: int | None
    limits: OddityLimits

    def __getitem__(self, name: str) -> Floats:
        return self.trace.column(name)

    @property
    def size(self) -> Floats:
        """Allocated processors, or those requested where they are not known."""
        allocated = self["allocated processors"]
        return np.where(allocated > 0, allocated, self["requested processors"])

    @property
    def nothing(self) -> Booleans:
        return np.full(len(self.trace), False)


def _not_whole(look: _Look) -> Booleans:
    odd = look.nothing
    for name in _WHOLE_FIELDS:
        odd |= look[name] != np.floor(look[name])
    return odd


def _out_of_order(look: _Look) -> Booleans:
    submit = look["submit time"]
    return submit < np.maximum.accumulate(submit)


def _used_twice(look: _Look) -> Booleans:
    return _repeated(look["job number"])


def _repeated(values: Floats) -> Booleans:
    """Tell which values, or rows, were there before."""
    _, first = np.unique(values, axis=0, return_index=True)
    again = np.full(len(values), True)
    again[first] = False
    return again


def _identical(look: _Look) -> Booleans:
    return _repeated(np.ascontiguousarray(look.trace.log.cells[:, 1:]))


def _larger_than_machine(look: _Look) -> Booleans:
    if look.n_hosts is None:
        return look.nothing
    larger = [look[f"{which} processors"] > look.n_hosts for which in ("requested", "allocated")]
    return larger[0] | larger[1]


def _overfull(look: _Look) -> Booleans:
    """Tell which jobs started while more processors were held than there are."""
    if look.n_hosts is None:
        return look.nothing
    wait, runtime, size = look["wait time"], look["run time"], look.size
    known = np.flatnonzero((wait >= 0) & (runtime > 0) & (size > 0))
    began = look["submit time"][known] + wait[known]
    dates = np.concatenate([began + runtime[known], began])  # at equal times ends come first
    change = np.concatenate([-size[known], size[known]])
    order = np.argsort(dates, kind="stable")
    held = np.empty(len(dates))
    held[order] = np.cumsum(change[order])
    odd = look.nothing
    odd[known[held[len(known) :] > look.n_hosts]] = True
    return odd


def _bad_preceding(look: _Look) -> Booleans:
    preceding, ids = look["preceding job"], look["job number"]
    known = preceding >= 0
    if not known.any():
        return look.nothing
    order = np.argsort(ids, kind="stable")
    place = np.clip(np.searchsorted(ids[order], preceding), 0, len(ids) - 1)
    there = ids[order][place] == preceding
    later = look["submit time"][order][place] > look["submit time"]
    odd: Booleans = known & (~there | later | (preceding == ids))
    return odd


def _after_silence(look: _Look) -> Booleans:
    submit = look["submit time"]
    odd = look.nothing
    odd[1:] = np.diff(np.maximum.accumulate(submit)) > look.limits.silence
    return odd


def _between(name: str) -> Callable[[_Look], Booleans]:
    """Tell where a field is negative but not -1, which is how logs say that it is not known."""
    return lambda look: (look[name] < 0) & (look[name] != _UNKNOWN)


def _unknown(name: str) -> Callable[[_Look], Booleans]:
    return lambda look: look[name] == _UNKNOWN


_Test = tuple[str, str, str, Callable[[_Look], Booleans]]
_TESTS: tuple[_Test, ...] = (
    (
        "fractions",
        WRONG,
        "an id, a label or a number of processors that is not whole",
        _not_whole,
    ),
    ("job-twice", WRONG, "a job number that another job has already", _used_twice),
    ("same-line", UNUSUAL, "all but the job number is as in an earlier job", _identical),
    (
        "submit-negative",
        WRONG,
        "submitted before time 0",
        lambda look: look["submit time"] < 0,
    ),
    ("submit-order", WRONG, "submitted before a job in front of it", _out_of_order),
    ("wait-negative", WRONG, "started before its submission", _between("wait time")),
    ("run-negative", WRONG, "ended before its start", _between("run time")),
    (
        "completed-unrun",
        WRONG,
        "completed, but its run time is not positive",
        lambda look: (look["status"] == _COMPLETED) & (look["run time"] <= 0),
    ),
    (
        "cpu-time",
        WRONG,
        "used more CPU time on each processor than it ran",
        lambda look: (look["run time"] > 0) & (look["average CPU time"] > look["run time"]),
    ),
    ("too-large", WRONG, "more processors than the machine has", _larger_than_machine),
    ("overfull", WRONG, "started while more processors were held than there are", _overfull),
    ("preceding", WRONG, "its preceding job is unknown, itself or submitted later", _bad_preceding),
    ("run-unknown", MISSING, "run time not known", _unknown("run time")),
    ("wait-unknown", MISSING, "wait time not known", _unknown("wait time")),
    (
        "size-unknown",
        MISSING,
        "neither requested nor allocated processors known",
        lambda look: look.size <= 0,
    ),
    (
        "request-unknown",
        MISSING,
        "requested time not known",
        lambda look: look["requested time"] <= 0,
    ),
    ("user-unknown", MISSING, "user not known", lambda look: look["user"] < 0),
    ("run-zero", UNUSUAL, "a run time of zero", lambda look: look["run time"] == 0),
    (
        "run-long",
        UNUSUAL,
        "a very long run time",
        lambda look: look["run time"] > look.limits.long_runtime,
    ),
    (
        "over-request",
        UNUSUAL,
        "ran longer than requested",
        lambda look: (look["requested time"] > 0) & (look["run time"] > look["requested time"]),
    ),
    (
        "over-allocated",
        UNUSUAL,
        "got more processors than requested",
        lambda look: (
            (look["requested processors"] > 0)
            & (look["allocated processors"] > look["requested processors"])
        ),
    ),
    ("silence", UNUSUAL, "the first submission after a long silence", _after_silence),
)


def _flurries(trace: RawTrace, limits: OddityLimits) -> Iterator[Oddity]:
    flurries = find_flurries(
        trace.column("user"),
        trace.column("submit time"),
        n_jobs=limits.flurry_jobs,
        window=limits.flurry_window,
    )
    if not flurries:
        return
    largest = sorted(flurries, key=lambda flurry: (-len(flurry.rows), flurry.start))
    examples = []
    for flurry in largest[: limits.n_examples]:
        begin, end = (
            date_at(trace.headers, time) or f"time {shown(time)}"
            for time in (flurry.start, flurry.end)
        )
        examples.append(f"user {flurry.user}: {len(flurry.rows)} jobs from {begin} to {end}")
    what = f"more than {limits.flurry_jobs} jobs of a user in {shown(limits.flurry_window)} s"
    n_jobs = sum(len(flurry.rows) for flurry in flurries)
    yield Oddity("flurry", UNUSUAL, f"{what}, {len(flurries)} times", n_jobs, tuple(examples))


def _of_headers(trace: RawTrace) -> Iterator[Oddity]:
    n = len(trace)
    told = str(trace.headers.get("MaxRecords", "")).strip()
    if told.isascii() and told.isdigit() and int(told) != n:
        text = f"header MaxRecords tells {told} jobs, there are {n}"
        yield Oddity("header-jobs", WRONG, text, 0)
    if hosts_told(trace.headers) is None:
        text = "no header MaxProcs, MaxNodes or nb_res tells the size of the machine"
        yield Oddity("header-hosts", MISSING, text, 0)
    if unix_start_time(trace.headers) is None:
        yield Oddity("header-date", MISSING, "no header UnixStartTime tells a date", 0)
