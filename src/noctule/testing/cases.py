"""All conformance cases, by family, and as data for other simulators."""

from __future__ import annotations

import json

from noctule.errors import InputError
from noctule.testing.case import Case
from noctule.testing.cases_conservative import CONSERVATIVE, REPLANNING
from noctule.testing.cases_easy import EASY
from noctule.testing.cases_fcfs import FCFS, FILLER, ORDERS

CASES: tuple[Case, ...] = FCFS + EASY + CONSERVATIVE + REPLANNING + FILLER + ORDERS


def families() -> tuple[str, ...]:
    """Return the names of the families: the policies, as they are written, that have cases."""
    return tuple(dict.fromkeys(case.policy for case in CASES))


def cases(family: str | None = None) -> tuple[Case, ...]:
    """Return the cases of a family, or all of them."""
    if family is None:
        return CASES
    if family not in families():
        known = ", ".join(sorted(families()))
        raise InputError(f"family {family}: unknown; families with cases: {known}")
    return tuple(case for case in CASES if case.policy == family)


def cases_as_json(family: str | None = None) -> str:
    """Return cases as a JSON list, for simulators that are not written in Python."""
    return json.dumps([case.to_dict() for case in cases(family)], indent=1)
