"""Whatever a file says, its reader gives a value or refuses it in one line that names the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noctule import Schedule, load_platform, load_workload, synthetic
from noctule.errors import InputError
from noctule.policies.orders import Order
from noctule.policy import PolicySpec
from noctule.traces import load_raw, load_trace

Made = TypeVar("Made")
READERS: dict[str, Callable[[Path], object]] = {
    "workload": load_workload,
    "trace": load_trace,
    "raw trace": load_raw,
    "platform": load_platform,
    "jobs": lambda path: Schedule.from_jobs_csv(path, 4),
    "programs": synthetic.read_programs,
    "description": lambda path: synthetic.independent(path, 3, seed=1),
}

numbers = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=5)),
    lambda inside: st.one_of(
        st.lists(inside, max_size=3), st.dictionaries(st.text(max_size=5), inside, max_size=3)
    ),
    max_leaves=8,
)
job_keys = st.sampled_from(["id", "subtime", "res", "profile", "walltime", "dependencies", "user"])
jobs = st.one_of(json_values, st.dictionaries(job_keys, json_values))
workloads = st.fixed_dictionaries(
    {"nb_res": st.one_of(st.integers(1, 9), json_values)},
    optional={"jobs": st.lists(jobs, max_size=3), "profiles": json_values, "x": json_values},
)
host_keys = st.sampled_from(["count", "first", "name", "speed", "cores", "power", "sleep", "link"])
platforms = st.fixed_dictionaries(
    {"hosts": st.lists(st.dictionaries(host_keys, json_values), min_size=1, max_size=3)},
    optional={"network": json_values, "zones": json_values, "links": json_values},
)
fields = st.one_of(st.integers(-2, 99), numbers, st.sampled_from(["nan", "inf", "-", "x", ";"]))
rows = st.lists(st.lists(fields, min_size=17, max_size=19), max_size=4)


def given_or_refused(where: str, make: Callable[[], Made]) -> Made | None:
    """Return what is made, or None where it is refused as it should be."""
    try:
        return make()
    except InputError as error:
        message = str(error)
    assert message.startswith(where)
    assert message.isprintable()
    return None


def read_or_refused(reader: str, data: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "input"
        path.write_bytes(data)
        given_or_refused(f"{path}: ", lambda: READERS[reader](path))


@pytest.mark.parametrize("reader", READERS)
@given(data=st.one_of(st.binary(max_size=200), st.text(max_size=100).map(str.encode)))
def test_any_bytes_are_read_or_refused(reader: str, data: bytes) -> None:
    read_or_refused(reader, data)


@pytest.mark.parametrize("reader", ["workload", "trace", "raw trace", "programs"])
@given(rows=rows)
def test_any_rows_are_read_or_refused(reader: str, rows: list[list[object]]) -> None:
    read_or_refused(reader, "\n".join(" ".join(map(str, row)) for row in rows).encode())


@pytest.mark.parametrize("reader", ["workload", "trace", "raw trace", "programs"])
@given(document=workloads)
def test_any_json_workload_is_read_or_refused(reader: str, document: dict[str, object]) -> None:
    read_or_refused(reader, _json(document))


@given(document=platforms)
def test_any_json_platform_is_read_or_refused(document: dict[str, object]) -> None:
    read_or_refused("platform", _json(document))


@given(st.text(max_size=60))
def test_any_text_is_a_policy_or_refused(text: str) -> None:
    spec = given_or_refused("policy", lambda: PolicySpec.parse(text))
    if spec is not None:
        assert PolicySpec.parse(spec.name).name == spec.name


expressions = st.text("submit_time wlnhos()+-*/.,0123456789e", max_size=60)


@given(st.one_of(expressions, st.text(max_size=60)))
def test_any_text_is_an_order_or_refused(text: str) -> None:
    order = given_or_refused("order: ", lambda: Order.compile(text))
    if order is not None:
        assert isinstance(order.key(5.0, 1.0, 10.0, 2), float)


def _json(document: object) -> bytes:
    try:
        return msgspec.json.encode(document)
    except UnicodeEncodeError:  # half of a surrogate pair, which no file can hold
        return b"{}"
