"""Damaged requests: a served policy answers them, or says what is wrong with them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from more_examples import times_as_many

from noctule.errors import ProtocolError
from noctule.policies import Easy
from noctule.remote.serving import PolicyServer

HOST = {"name": "h", "state": "idle", "properties": {"role": ""}, "zone_properties": {}}
BEGIN = {
    "nb_resources": 2,
    "nb_compute_resources": 2,
    "nb_storage_resources": 0,
    "allow_compute_sharing": False,
    "config": {"redis-enabled": False, "dynamic-jobs-enabled": True},
    "compute_resources": [{"id": 0, **HOST}, {"id": 1, **HOST}],
    "storage_resources": [],
    "workloads": {"w0": "w0.json"},
    "profiles": {"w0": {"p": {"type": "delay", "delay": 3}}},
}
JOB = {"id": "w0!1", "subtime": 1, "res": 1, "walltime": 9, "profile": "p", "user": "ann"}
EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("SIMULATION_BEGINS", BEGIN),
    ("JOB_SUBMITTED", {"job_id": "w0!1", "job": JOB}),
    ("RESOURCE_STATE_CHANGED", {"resources": "0", "state": "1"}),
    ("REQUESTED_CALL", {}),
    ("NOTIFY", {"type": "event_machine_unavailable", "resources": "1"}),
    ("ANSWER", {"consumed_energy": 3.5}),
    ("FROM_JOB_MSG", {"job_id": "w0!1", "msg": {"a": 1}}),
    ("JOB_COMPLETED", {"job_id": "w0!1", "job_state": "COMPLETED_KILLED", "alloc": "0"}),
    (
        "JOB_KILLED",
        {"job_ids": ["w0!1"], "job_progress": {"w0!1": {"profile_name": "p", "progress": 0.5}}},
    ),
]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inside: (
        st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=5), inside, max_size=3)
    ),
    max_leaves=5,
)


def requests() -> list[dict[str, Any]]:
    return [
        {"now": i, "events": [{"timestamp": i, "type": kind, "data": json.loads(json.dumps(data))}]}
        for i, (kind, data) in enumerate(EVENTS)
    ]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return all (container, key) inside a value."""
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    found = [(value, key) for key in keys]
    for key in keys:
        if isinstance(value[key], dict | list):
            found += places(value[key])
    return found


def complaint(texts: list[bytes]) -> str:
    """Return what is said about requests; nothing if all are answered."""
    server = PolicyServer(Easy())
    try:
        for text in texts:
            json.loads(server.answer(text))
    except ProtocolError as error:
        return str(error)
    return ""


def test_the_requests_are_good_before_they_are_damaged():
    assert complaint([json.dumps(request).encode() for request in requests()]) == ""


@times_as_many(4)
@given(data=st.data())
def test_a_damaged_value_is_taken_or_refused_with_a_sentence(data):
    said = requests()
    container, key = data.draw(st.sampled_from(places(said)))
    if data.draw(st.booleans()) and isinstance(container, dict):
        del container[key]
    else:
        container[key] = data.draw(ANYTHING)
    found = complaint([json.dumps(request).encode() for request in said])
    assert found == "" or found.startswith("request ")


@times_as_many(2)
@given(data=st.data())
def test_damaged_bytes_are_taken_or_refused_with_a_sentence(data):
    texts = [json.dumps(request).encode() for request in requests()]
    which = data.draw(st.integers(0, len(texts) - 1))
    text = bytearray(texts[which])
    at = data.draw(st.integers(0, len(text) - 1))
    if data.draw(st.booleans()):
        del text[at:]
    else:
        text[at] = data.draw(st.integers(0, 255))
    texts[which] = bytes(text)
    found = complaint(texts)
    assert found == "" or found.startswith("request ")
