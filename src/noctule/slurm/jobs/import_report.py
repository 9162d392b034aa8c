"""What became of a site's files: rows dropped and why, rules applied, what was not there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Tally:
    """How often something happened, and where for the first time."""

    count: int = 0
    first: str = ""


@dataclass(slots=True)
class ImportReport:
    """Filled while files are read.

    Attributes:
        n_rows: whole rows of the accounting log.
        n_jobs: jobs that were made of them.
        dropped: rows and jobs left out, by reason.
        rules: rules applied to jobs that were kept, by rule.
        absent: what is not known because no file tells it.
        notes: sentences about the configuration.
    """

    n_rows: int = 0
    n_jobs: int = 0
    dropped: dict[str, Tally] = field(default_factory=dict)
    rules: dict[str, Tally] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def drop(self, reason: str, source: str = "", line: int = 0) -> None:
        """Count a row or a job that is left out."""
        _enter(self.dropped, reason, source, line)

    def apply(self, rule: str, source: str = "", line: int = 0) -> None:
        """Count a rule that was applied to a job."""
        _enter(self.rules, rule, source, line)

    def count(self, rule: str, times: int) -> None:
        """Count a rule that was applied so many times; none is not told."""
        if times:
            self.rules[rule] = Tally(self.rules.get(rule, Tally()).count + times)

    @property
    def n_dropped(self) -> int:
        """How many rows and jobs were left out."""
        return sum(tally.count for tally in self.dropped.values())

    def lines(self) -> list[str]:
        """Return the report as lines of text, the most frequent first."""
        found = [f"{self.n_jobs} jobs from {self.n_rows} rows"]
        for title, tallies in (("dropped", self.dropped), ("rule", self.rules)):
            for reason, tally in _by_count(tallies):
                where = f" (first: {tally.first})" if tally.first else ""
                found.append(f"{title}: {reason}: {tally.count}{where}")
        found += [f"not known: {text}" for text in self.absent]
        return found + [f"note: {text}" for text in self.notes]

    def document(self) -> dict[str, Any]:
        """Return the report as a document for JSON."""
        return {
            "rows": self.n_rows,
            "jobs": self.n_jobs,
            "dropped": {reason: tally.count for reason, tally in _by_count(self.dropped)},
            "rules": {rule: tally.count for rule, tally in _by_count(self.rules)},
            "not_known": self.absent,
            "notes": self.notes,
        }


def _enter(tallies: dict[str, Tally], reason: str, source: str, line: int) -> None:
    tally = tallies.get(reason)
    if tally is None:
        where = f"{source}: line {line}" if line else source
        tally = tallies[reason] = Tally(0, where)
    tally.count += 1


def _by_count(tallies: dict[str, Tally]) -> list[tuple[str, Tally]]:
    return sorted(tallies.items(), key=lambda item: (-item[1].count, item[0]))
