"""Recorded runs of Batsim 4, message by message: what it told, and what Noctule tells instead.

The recorded replies are given to Noctule, which pays Batsim's own latency; all it says must be what
Batsim said, and so must the files that it writes. What is not compared, and why:

- the version, times of the clock on the wall, and the paths of `workloads`: those of a machine;
- the order of the keys of objects, which in Batsim is that of a hash table;
- `epower` of a row of consumed_energy.csv whose time is written as that of the row before: Batsim
  divides what it rounded by the nanosecond or less that passed, Noctule says NA;
- durations by less than two roundings of their dates: at 1e10 s that is 4 microseconds.
"""

from __future__ import annotations

import csv
import io
import json
import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from recorded_run import Recording

from noctule.batsim.arguments4 import BatsimRun, Verbosity, read_arguments
from noctule.batsim.log import BatsimLog
from noctule.batsim.session4 import run_batsim
from noctule.errors import NoctuleError

LEAST_TOLERANCE, TOLERANCE = 1.5e-6, 1e-6
# Only Batsim's own machine and clock know these.
EXEMPT_COLUMNS = ("batsim_version", "scheduling_time", "simulation_time")
FILES = ("jobs", "schedule", "machine_states", "pstate_changes", "consumed_energy")


class RecordingEndedError(NoctuleError):
    """There is no reply to the request."""


@dataclass
class RecordedPeer:
    """Gives the recorded replies, and keeps the requests."""

    replies: Iterator[bytes]
    requests: list[bytes] = field(default_factory=list)

    def __call__(self, request: bytes) -> bytes:
        self.requests.append(request)
        reply = next(self.replies, None)
        if reply is None:
            raise RecordingEndedError("there is no other reply")
        return reply


@dataclass
class MessageComparison:
    """What differs between a replayed run and the recorded one."""

    n_messages: int = 0
    n_events: int = 0
    n_rows: int = 0
    is_cut: bool = False
    end: str = ""
    why_not: str = ""
    difference: str = ""

    @property
    def is_out(self) -> bool:
        return bool(self.difference)

    def note(self, difference: str) -> None:
        self.difference = self.difference or difference

    def __str__(self) -> str:
        if self.why_not:
            return f"not compared: {self.why_not}"
        text = f"{self.n_messages} requests, {self.n_events} events, {self.n_rows} rows"
        if self.is_cut:
            text += ", up to its last message"
            text += f" (then: {self.end})" if self.end else ""
        return f"{text}  OUT: {self.difference}" if self.is_out else text


def compare_messages(folder: Path, inputs: Path) -> MessageComparison:
    """Replay the replies of a recorded run, and compare the requests and the files."""
    recording = Recording(folder, inputs)
    found = MessageComparison()
    lines = (recording.text("protocol.jsonl") or "").splitlines()
    if not lines:
        found.why_not = "no messages were recorded"
        return found
    messages = [json.loads(line) for line in lines]
    asked = [one["raw"] for one in messages if one["from"] == "batsim"]
    replies = [one["raw"].encode() for one in messages if one["from"] == "sched"]
    found.is_cut = '"SIMULATION_ENDS"' not in asked[-1]
    peer = RecordedPeer(iter(replies))
    with tempfile.TemporaryDirectory() as place:
        prefix = Path(place) / "out"
        failure = _replay(recording, peer, prefix)
        _compare_requests(found, asked, peer.requests)
        if found.is_cut:
            found.end = failure or "came to its end"
        elif failure:
            found.note(failure)
        else:
            _compare_files(found, recording, prefix)
    return found


def run_of(recording: Recording) -> BatsimRun:
    """Return what the recorded command asks for, with the inputs where they are now."""
    run = read_arguments(recording.command.words)
    return replace(
        run,
        platform=str(recording.find_input(run.platform)),
        workloads=tuple(str(recording.find_input(path)) for path in run.workloads),
        events=tuple(str(recording.find_input(path)) for path in run.events),
        latency=True,
    )


def _replay(recording: Recording, peer: RecordedPeer, prefix: Path) -> str:
    """Simulate with the recorded replies; return why it did not come to its end, if so."""
    try:
        run = replace(run_of(recording), export_prefix=str(prefix))
        run_batsim(run, BatsimLog(io.StringIO(), Verbosity.QUIET, run.master_host), peer)
    except NoctuleError as error:
        return str(error)
    return ""


def _compare_requests(
    found: MessageComparison, expected: Sequence[str], given: Sequence[bytes]
) -> None:
    for i, (theirs, ours) in enumerate(zip(expected, given, strict=False)):
        message = json.loads(theirs)
        difference = _difference("", message, json.loads(ours))
        if difference:
            found.note(f"request {i} (t={message['now']}){difference}")
            return
        found.n_messages += 1
        found.n_events += len(message["events"])
    if len(given) < len(expected) or (len(given) > len(expected) and not found.is_cut):
        found.note(f"{len(given)} requests, recorded {len(expected)}")


def _difference(where: str, theirs: Any, ours: Any) -> str:
    """Return the first difference of two JSON values, and where it is."""
    if where.endswith(".workloads"):
        return ""  # absolute paths of another machine
    if isinstance(theirs, dict) and isinstance(ours, dict):
        if theirs.keys() != ours.keys():
            return f"{where}: has {sorted(ours)}, recorded {sorted(theirs)}"
        pairs = ((f"{where}.{key}", theirs[key], ours[key]) for key in theirs)
    elif isinstance(theirs, list) and isinstance(ours, list):
        if len(theirs) != len(ours):
            return f"{where}: {_brief(ours)}, recorded {_brief(theirs)}"
        pairs = ((f"{where}[{i}]", a, b) for i, (a, b) in enumerate(zip(theirs, ours, strict=True)))
    else:
        return "" if _is_same(theirs, ours) else f"{where}: {ours!r}, recorded {theirs!r}"
    return next((one for one in (_difference(*pair) for pair in pairs) if one), "")


def _brief(events: Sequence[Any]) -> str:
    names = [f"{e['type']} {e['timestamp']}" if "type" in e else str(e) for e in events[:8]]
    return f"{len(events)} ({', '.join(names)})"


def _is_same(theirs: Any, ours: Any) -> bool:
    numbers = (int, float)
    if type(theirs) in numbers and type(ours) in numbers:
        return type(theirs) is type(ours) and is_near(theirs, ours)
    return type(theirs) is type(ours) and bool(theirs == ours)


def is_near(expected: float, found: float) -> bool:
    """Say whether two numbers are the same, as far as Batsim writes them."""
    return abs(expected - found) <= max(LEAST_TOLERANCE, TOLERANCE * abs(expected))


def _compare_files(found: MessageComparison, recording: Recording, prefix: Path) -> None:
    """Compare the tables row by row; whatever the recorded run wrote must be there."""
    for name in FILES:
        expected = recording.text(f"{recording.export_name}_{name}.csv")
        path = Path(f"{prefix}_{name}.csv")
        if expected is None:
            continue
        if not path.is_file():
            found.note(f"{name}.csv: not written")
            return
        theirs, ours = _rows(expected), _rows(path.read_text())
        difference = _table_difference(theirs, ours)
        if difference:
            found.note(f"{name}.csv: {difference}")
        found.n_rows += len(theirs) - 1


def _rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def _table_difference(theirs: list[list[str]], ours: list[list[str]]) -> str:
    if theirs[:1] != ours[:1]:
        return f"columns {ours[:1]}, recorded {theirs[:1]}"
    columns = theirs[0]
    before = ""
    for i, (expected, row) in enumerate(zip(theirs[1:], ours[1:], strict=False)):
        if len(expected) != len(row):
            return f"row {i}: {row}, recorded {expected}"
        exempt = set(EXEMPT_COLUMNS)
        if expected[0] == before:
            exempt.add("epower")
        before = expected[0]
        slack = _rounding(expected)
        for column, their_cell, our_cell in zip(columns, expected, row, strict=True):
            if column not in exempt and not _is_same_cell(their_cell, our_cell, slack):
                return f"row {i}: {column}: {our_cell!r}, recorded {their_cell!r}"
    return "" if len(theirs) == len(ours) else f"{len(ours) - 1} rows, recorded {len(theirs) - 1}"


def _rounding(row: Sequence[str]) -> float:
    """Return by how much differences of the dates of a row are rounded."""
    numbers = [_number(cell) for cell in row]
    return 2 * math.ulp(max((abs(x) for x in numbers if math.isfinite(x)), default=0.0))


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan


def _is_same_cell(theirs: str, ours: str, slack: float) -> bool:
    if theirs == ours:
        return True
    expected, found = _number(theirs), _number(ours)
    return is_near(expected, found) or abs(expected - found) <= slack
