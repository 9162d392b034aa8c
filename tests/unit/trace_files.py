"""Logs written line by line, for the tests of what reads, changes and writes traces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from noctule.errors import InputError
from noctule.formats.swf import FIELDS, SwfRules, read_swf, read_swf_log
from noctule.formats.swf_writing import swf_text
from noctule.traces.reading import AS_RECORDED
from noctule.workload import Workload

USUAL = {
    "job number": 1,
    "submit time": 0,
    "run time": 10,
    "allocated processors": 4,
    "requested processors": 4,
    "requested time": 60,
}


def a_line(job: int = 1, submit: float = 0, **fields: Any) -> str:
    """One job line; unnamed fields are unknown, but for those in USUAL."""
    named = {name.replace("_", " "): value for name, value in fields.items()}
    values = {**USUAL, "job number": job, "submit time": submit, **named}
    assert values.keys() <= set(FIELDS), values
    return " ".join(str(values.get(name, -1)) for name in FIELDS)


def a_trace(*lines: str, rules: SwfRules = AS_RECORDED) -> Workload:
    """Read lines as the log log.swf, as recorded."""
    return read_swf("\n".join(lines).encode(), rules, source="log.swf")


def written(workload: Workload, **options: Any) -> str:
    return "".join(swf_text(workload, **options))


def column(workload: Workload, name: str) -> list[float]:
    """One field of the log that a workload is written as."""
    log = read_swf_log(written(workload).encode(), source="written")
    values: list[float] = log.column(name).tolist()
    return values


def ids(workload: Workload) -> list[Any]:
    found: list[Any] = workload.job_ids.tolist()
    return found


def refusal(call: Callable[..., Any], *args: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        call(*args, **options)
    return str(caught.value)


def same_jobs(one: Workload, other: Workload) -> bool:
    return list(one) == list(other) and np.array_equal(one.job_ids, other.job_ids)
