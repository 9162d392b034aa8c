"""Conformance of policies and simulators: cases worked out by hand, builders, checks.

    from noctule.testing import conformance
    assert conformance("mine.py:MyEasy", family="easy") == []

`noctule.testing.strategies` has Hypothesis strategies, and needs `pip install noctule[testing]`.
"""

from __future__ import annotations

from noctule.testing.builders import (
    a_job,
    a_workload,
    case_jobs,
    finish_times,
    run,
    run_case,
    start_times,
    states,
)
from noctule.testing.case import Case, CaseJob, Failure
from noctule.testing.cases import cases, cases_as_json, families
from noctule.testing.conformance import check_cases, conformance
from noctule.testing.invariants import check_schedule
from noctule.testing.observed import Violation

__all__ = [
    "Case",
    "CaseJob",
    "Failure",
    "Violation",
    "a_job",
    "a_workload",
    "case_jobs",
    "cases",
    "cases_as_json",
    "check_cases",
    "check_schedule",
    "conformance",
    "families",
    "finish_times",
    "run",
    "run_case",
    "start_times",
    "states",
]
