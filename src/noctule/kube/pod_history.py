"""What became of each Pod: a row for each time that one was created."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass

from noctule.policy import POLICY_FILE_NAMES
from noctule.workload import JobId

(PODS_FILE,) = POLICY_FILE_NAMES
_COLUMNS = ("job_id", "pod", "node", "created", "bound", "started", "ended", "outcome")


@dataclass(slots=True)
class PodRecord:
    """One life of a Pod; dates that did not come are NaN.

    Attributes:
        outcome: the state in which its job ended, or why the Pod was deleted.
    """

    job_id: JobId
    pod: str
    created: float
    node: str = ""
    bound: float = math.nan
    started: float = math.nan
    ended: float = math.nan
    outcome: str = ""


class PodHistory:
    """Rows in the order in which Pods were created."""

    def __init__(self) -> None:
        """Begin with none."""
        self.records: list[PodRecord] = []
        self._current: dict[str, PodRecord] = {}

    def created(self, job_id: JobId, pod: str, now: float) -> None:
        """Note a new Pod."""
        record = PodRecord(job_id, pod, now)
        self.records.append(record)
        self._current[pod] = record

    def bound(self, pod: str, node: str, now: float) -> None:
        """Note where it is."""
        record = self._current[pod]
        record.node, record.bound = node, now

    def started(self, pod: str, now: float) -> None:
        """Note that its job has started."""
        self._current[pod].started = now

    def ended(self, pod: str, now: float, outcome: str) -> None:
        """Note how it ended."""
        record = self._current.pop(pod, None)
        if record is not None:
            record.ended, record.outcome = now, outcome

    def text(self) -> Iterator[str]:
        """Yield the rows as CSV."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for record in self.records:
            writer.writerow(_written(getattr(record, name)) for name in _COLUMNS)
        yield buffer.getvalue()


def _written(value: object) -> object:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.15g}"
    return value
