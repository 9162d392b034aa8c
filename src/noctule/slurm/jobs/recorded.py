"""What a real Slurm did with jobs: when each started and ended, where, and who started it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Recorded:
    """Columns by job, in the order of a workload; dates are seconds of its clock.

    Attributes:
        start: of the first attempt; None where it never started.
        end: of the last attempt; None where it had not ended.
        state: the last one, as Slurm names it.
        nodes: where the last attempt ran, as a list of hosts.
        scheduler: Main, Backfill or Submit; "" where it is not known.
        priority: the last one; None where it is not known.
        eligible: when it could first have started; None where it never could.
        n_attempts: how often it started.
    """

    start: Sequence[float | None]
    end: Sequence[float | None]
    state: Sequence[str]
    nodes: Sequence[str]
    scheduler: Sequence[str]
    priority: Sequence[int | None]
    eligible: Sequence[float | None]
    n_attempts: Sequence[int]

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.start)

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return all columns by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def take(self, positions: Sequence[int]) -> Recorded:
        """Return the record of some jobs, in the order given."""
        columns = {name: [c[i] for i in positions] for name, c in self.columns().items()}
        return Recorded(**columns)
