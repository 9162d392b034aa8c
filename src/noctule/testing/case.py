"""A conformance case: a small workload, the policy it is for, and the only right schedule.

A case holds plain numbers, so that it can be given to any simulator: as SWF text, or as JSON.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class CaseJob(NamedTuple):
    """One job of a case, in the order in which its users would read it."""

    id: str
    submit_time: float
    n_hosts: int
    runtime: float
    walltime: float


Starts = Mapping[str, float]


def rows(
    *jobs: tuple[str, float, int, float] | tuple[str, float, int, float, float],
) -> tuple[CaseJob, ...]:
    """Return jobs from rows (id, submit, hosts, runtime[, walltime]); no walltime means exact."""
    return tuple(CaseJob(*row[:4], row[4] if len(row) == 5 else row[3]) for row in jobs)


@dataclass(frozen=True, slots=True)
class Case:
    """A workload worked out by hand, and the mistake it is there to catch.

    `expected` gives the start of every job; a job that must never start is absent from it.
    `trapped` is the schedule that `trap`, the mistake, leads to; `arithmetic` says why.
    """

    name: str
    policy: str
    hosts: int
    jobs: tuple[CaseJob, ...]
    expected: Starts
    trap: str
    trapped: Starts
    arithmetic: str

    def __str__(self) -> str:
        """Name the case within all families."""
        return f"{self.policy}/{self.name}"

    def to_swf(self) -> str:
        """Return the case in the Standard Workload Format.

        Jobs are numbered from 1, in order of submission; field 3, the waiting time, is the expected
        one, and -1 for a job that must never start.
        """
        ordered = sorted(self.jobs, key=lambda job: job.submit_time)
        header = [
            f"; Note: {self}: {self.trap}",
            f"; MaxProcs: {self.hosts}",
            f"; MaxJobs: {len(ordered)}",
            "; Note: field 3 is the expected waiting time",
        ]
        lines = [self._swf_line(number, job) for number, job in enumerate(ordered, 1)]
        return "\n".join([*header, *lines, ""])

    def to_dict(self) -> dict[str, Any]:
        """Return the case as plain data."""
        return {
            "name": self.name,
            "policy": self.policy,
            "hosts": self.hosts,
            "jobs": [job._asdict() for job in self.jobs],
            "expected": dict(self.expected),
            "trap": self.trap,
            "trapped": dict(self.trapped),
            "arithmetic": self.arithmetic,
        }

    def _swf_line(self, number: int, job: CaseJob) -> str:
        start = self.expected.get(job.id)
        wait = -1 if start is None else start - job.submit_time
        fields = [number, job.submit_time, wait, job.runtime, job.n_hosts, -1, -1]
        fields += [job.n_hosts, job.walltime, -1, 1, -1, -1, -1, -1, -1, -1, -1]
        return " ".join(f"{field:g}" for field in fields)


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that a policy, or a simulator, got wrong; `error` is why it did not end at all."""

    case: Case
    found: Starts
    error: str = ""

    @property
    def job_id(self) -> str:
        """The first job, in order of time, that did not start when it should."""
        wrong = [job.id for job in self.case.jobs if not self._agrees(job.id)]
        return min(wrong, key=self._first_date)

    @property
    def is_trapped(self) -> bool:
        """Whether the schedule is exactly the one that the case's trap leads to."""
        return not self.error and dict(self.found) == dict(self.case.trapped)

    def __str__(self) -> str:
        """Say which job is wrong, and which mistake would explain it."""
        if self.error:
            return f"{self.case}: {self.error}; the case is about: {self.case.trap}"
        found, expected = self.found.get(self.job_id), self.case.expected.get(self.job_id)
        verdict = "the trap" if self.is_trapped else "not quite the trap"
        return (
            f"{self.case}: job {self.job_id}: {_said(found)}, expected {_said(expected)}; "
            f"{verdict}: {self.case.trap} ({self.case.arithmetic})"
        )

    def _agrees(self, job_id: str) -> bool:
        return self.found.get(job_id) == self.case.expected.get(job_id)

    def _first_date(self, job_id: str) -> float:
        return min(starts.get(job_id, math.inf) for starts in (self.found, self.case.expected))


def _said(start: float | None) -> str:
    return "never started" if start is None else f"started at {start:g}"
