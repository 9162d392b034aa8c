"""Workloads of one job whose profile is given, as Batsim writes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from noctule.errors import InputError
from noctule.formats.batsim import read_batsim
from noctule.workload import Profile, Workload

NAP = {"type": "delay", "delay": 10}
PAIR = {"type": "parallel", "cpu": [4, 9], "com": [0, 1, 2, 0]}
TRIO = {"type": "parallel", "cpu": [4, 9, 1], "com": [1] * 9}
SPREAD = "DefinedAmountsSpreadUniformly"


def text_of(profiles: dict[str, Any], *, n_hosts: int = 2, **job: Any) -> str:
    a_job = {"id": 1, "subtime": 0, "res": n_hosts, "profile": "p", **job}
    return json.dumps({"nb_res": 4, "profiles": {"nap": NAP, **profiles}, "jobs": [a_job]})


def read(*, n_hosts: int = 2, others: dict[str, Any] | None = None, **fields: Any) -> Workload:
    """Read a job of profile p, in the file w.json."""
    text = text_of({"p": fields, **(others or {})}, n_hosts=n_hosts)
    return read_batsim(text.encode(), source="w.json")


def profile_of(**fields: Any) -> Profile:
    return read(**fields)[0].profile


def refusal(call: Callable[..., object], *arguments: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        call(*arguments, **options)
    return str(caught.value)
