"""Runs policies, and other simulators, on the conformance cases."""

from __future__ import annotations

from collections.abc import Callable

from noctule.errors import InputError, NoctuleError
from noctule.policy import Policy, PolicySpec
from noctule.testing.builders import run_case, start_times
from noctule.testing.case import Case, Failure, Starts
from noctule.testing.cases import cases


def conformance(
    policy: str | PolicySpec | Callable[[], Policy], family: str = "easy"
) -> list[Failure]:
    """Return the cases of a family that a policy gets wrong; none if it conforms.

    Give its name, its class, or a function that makes one: each case needs a fresh one.
    """
    if isinstance(policy, Policy) and not isinstance(policy, type):
        raise InputError(
            f"conformance: got a {type(policy).__name__} that exists already, expected a name, a "
            "class or a function that makes one: a policy may remember the run before"
        )
    return check_cases(lambda case: _starts(case, policy), family)


def check_cases(starts_of: Callable[[Case], Starts], family: str = "easy") -> list[Failure]:
    """Return the cases of a family that any simulator gets wrong.

    `starts_of` runs a case, in whatever way, and returns when each job started.
    """
    failures = []
    for case in cases(family):
        try:
            found = dict(starts_of(case))
        except NoctuleError as error:
            failures.append(Failure(case, {}, str(error)))
            continue
        if found != dict(case.expected):
            failures.append(Failure(case, found))
    return failures


def _starts(case: Case, policy: str | PolicySpec | Callable[[], Policy]) -> Starts:
    schedule = run_case(case, policy if isinstance(policy, str | PolicySpec) else policy())
    return {str(job_id): start for job_id, start in start_times(schedule).items()}
