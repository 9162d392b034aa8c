"""What is no reply of a Batsim 4 scheduler gets a sentence that shows what is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from batsim4_replies import JOBS, PROFILES, a_reader, a_reply
from hypothesis import given
from hypothesis import strategies as st

from noctule.errors import ProtocolError


def refusal(text: bytes, **options: Any) -> str:
    with pytest.raises(ProtocolError) as caught:
        a_reader(**options).read(text, 10.0)
    return str(caught.value)


def test_jobs_that_cannot_be_named_are_told_apart() -> None:
    def of(job_id: str) -> str:
        return refusal(a_reply((10.0, "REJECT_JOB", {"job_id": job_id})))

    assert of("w0!zz") == (
        "t=10: reply: events[0]: REJECT_JOB: job_id: got 'w0!zz', which nobody knows, "
        "expected a job that waits or runs"
    )
    assert "which has not been submitted" in of("w0!later")
    twice = a_reply(
        (10.0, "REJECT_JOB", {"job_id": "w0!a"}), (10.0, "REJECT_JOB", {"job_id": "w0!a"})
    )
    assert "which has ended" in refusal(twice)


@pytest.mark.parametrize(
    ("kind", "data", "sentence"),
    [
        (
            "EXECUTE_JOB",
            {"job_id": "w0!a"},
            'events[0].data: got {"job_id":"w0!a"}, expected a field `alloc` in it',
        ),
        (
            "EXECUTE_JOB",
            {"job_id": "w0!a", "alloc": ""},
            "alloc: got '', expected at least one host",
        ),
        (
            "EXECUTE_JOB",
            {"job_id": "w0!a", "alloc": "[3]"},
            "alloc: got '[3]', expected ids such as '0-3 7'",
        ),
        (
            "EXECUTE_JOB",
            {"job_id": "w0!a", "alloc": "3-5"},
            "alloc: got '3-5', expected ids below 5",
        ),
        (
            "EXECUTE_JOB",
            {"job_id": "w0!a", "alloc": "1", "map": {}},
            "expected no field `map` in it",
        ),
        (
            "EXECUTE_JOB",
            {"job_id": "w0!a", "alloc": "1", "mapping": {"x": 1}},
            'events[0].data.mapping: got {"x":1}, expected a whole number as each key',
        ),
        (
            "EXECUTE_JOB",
            {"job_id": "w0!a", "alloc": "1", "mapping": {"1": 0}},
            "mapping: got executors 1, expected those from 0 to 0",
        ),
        (
            "EXECUTE_JOB",
            {"job_id": "w0!a", "alloc": "1", "mapping": {"0": 1}},
            "mapping[0]: got 1, expected a position among the 1 hosts",
        ),
        (
            "EXECUTE_JOB",
            {"job_id": "w0!a", "alloc": "1", "mapping": {"0": "z"}},
            "mapping[0]: got 'z', expected a whole number",
        ),
        (
            "EXECUTE_JOB",
            {"job_id": "w0!a", "alloc": "1", "storage_mapping": {"p": 3}},
            "storage_mapping['p']: got 3, expected the id of a storage: 4 to 4",
        ),
        (
            "EXECUTE_JOB",
            {
                "job_id": "w0!a",
                "alloc": "0-1",
                "additional_io_job": {"alloc": "0", "profile_name": "nap"},
            },
            "additional_io_job: got 1 hosts for a Delay to put together",
        ),
        (
            "EXECUTE_JOB",
            {
                "job_id": "w0!a",
                "alloc": "0-1",
                "additional_io_job": {"alloc": "0", "profile_name": "no"},
            },
            "profile_name: got 'no', expected a profile of workload w0",
        ),
        (
            "EXECUTE_JOB",
            {
                "job_id": "w0!a",
                "alloc": "0",
                "additional_io_job": {"alloc": "0", "profile_name": "each"},
            },
            "got 1 executors, expected 2, for which the job asks",
        ),
        ("KILL_JOB", {"job_ids": []}, "job_ids: got [], expected at least one"),
        ("KILL_JOB", {"job_ids": "w0!a"}, "events[0].data.job_ids: got 'w0!a', expected an array"),
        ("CALL_ME_LATER", {"timestamp": 10}, "timestamp: got 10, expected a date after 10"),
        (
            "SET_RESOURCE_STATE",
            {"resources": "0", "state": "on"},
            "state: got 'on', expected a whole number",
        ),
        (
            "SET_JOB_METADATA",
            {"job_id": "w0!a", "metadata": 'say "x"'},
            "expected a text without double quotes",
        ),
        (
            "CHANGE_JOB_STATE",
            {"job_id": "w0!a", "job_state": "NOT_SUBMITTED"},
            "job_state: got 'NOT_SUBMITTED', expected one of RUNNING,",
        ),
        (
            "QUERY",
            {"requests": {"air": {}}},
            'requests: got {"air":{}}, expected {"consumed_energy":{}}',
        ),
        (
            "NOTIFY",
            {"type": "lunch"},
            "type: got 'lunch', expected registration_finished or continue_registration",
        ),
        (
            "RESOURCES_ADDED",
            {},
            "events[0].type: got 'RESOURCES_ADDED', expected one of EXECUTE_JOB, REJECT_JOB",
        ),
        (
            "REGISTER_PROFILE",
            {
                "workload_name": "w0",
                "profile_name": "nap",
                "profile": {"type": "delay", "delay": 1},
            },
            "profile_name: got 'nap', which is taken",
        ),
        (
            "REGISTER_PROFILE",
            {"workload_name": "x", "profile_name": "p", "profile": {"type": "delay"}},
            "delay: missing, expected a positive number",
        ),
        (
            "REGISTER_PROFILE",
            {
                "workload_name": "x",
                "profile_name": "p",
                "profile": {"type": "smpi", "trace": "/etc/passwd"},
            },
            "got a smpi, expected one that needs no files",
        ),
        (
            "REGISTER_PROFILE",
            {
                "workload_name": "x",
                "profile_name": "p",
                "profile": {"type": "composed", "seq": ["p"]},
            },
            "contains itself: p -> p",
        ),
        (
            "REGISTER_JOB",
            {"job_id": "no!1", "job": {}},
            "job_id: got 'no!1', expected workload!name of a workload that exists (w0)",
        ),
        ("REGISTER_JOB", {"job_id": "w0!a", "job": {}}, "job_id: got 'w0!a', which is taken"),
        (
            "REGISTER_JOB",
            {"job_id": "w0!n", "job": {"id": "n", "res": 1, "profile": "nap"}},
            "job.subtime: missing",
        ),
        (
            "REGISTER_JOB",
            {"job_id": "w0!n", "job": {"id": "m", "subtime": 0, "res": 1, "profile": "nap"}},
            "job.id: got 'm', expected that of job_id, 'w0!n'",
        ),
        (
            "REGISTER_JOB",
            {"job_id": "w0!n", "job": {"id": "n", "subtime": 0, "res": 1, "profile": "zz"}},
            "job.profile: got 'zz'",
        ),
        (
            "REGISTER_JOB",
            {"job_id": "w0!n", "job": {"id": "n", "subtime": 0, "res": 1, "profile": ["nap"]}},
            'job.profile: got ["nap"], expected a string',
        ),
    ],
)
def test_the_sentence_shows_the_part_that_is_wrong(
    kind: str, data: dict[str, Any], sentence: str
) -> None:
    found = refusal(a_reply((10.0, kind, data)))
    assert found.startswith("t=10: reply: ")
    assert sentence in found


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "got nothing, expected a reply"),
        (b'{"now":1,"ev', 'got 12 bytes that end with \'{"now":1,"ev\', expected all of a reply'),
        (b"{'now'}", "got \"{'now'}\", which is no JSON"),
        (b'{"now":1,"events":["\xff"]}', "expected an object"),
        (b"\xff\xfe", "which is no JSON"),
        (b"[]", "got [], expected an object"),
        (b'{"now":1}', 'got {"now":1}, expected a field `events` in it'),
        (b'{"now":"1","events":[]}', "now: got '1', expected a number"),
        (b'{"now":NaN,"events":[]}', "which is no JSON"),
        (b'{"now":1e999,"events":[]}', "now: got "),
        (b'{"now":-1,"events":[]}', "now: got -1, expected a date >= 0"),
        (b'{"now":1,"events":{}}', "events: got {}, expected an array"),
        (b'{"now":1,"events":[3]}', "events[0]: got 3, expected an object"),
        (
            b'{"now":1,"events":[{"timestamp":2,"type":"ANSWER","data":{}}]}',
            "events[0].timestamp: got 2, expected a date from 0 to `now`, which is 1",
        ),
        (
            b'{"now":1,"events":[{"timestamp":1,"type":"NOTIFY"}]}',
            'events[0]: got {"timestamp":1,"type":"NOTIFY"}, expected a field `data` in it',
        ),
        (b"[" * 100_000, "expected an object"),
        (
            b'{"now":1,"events":[{"timestamp":1,"type":"REGISTER_JOB","data":'
            b'{"job_id":"x","job":{"a":' + b"[" * 100_000,
            "which is nested too deeply",
        ),
    ],
)
def test_what_is_no_reply_is_quoted(text: bytes, sentence: str) -> None:
    assert sentence in refusal(text)


@pytest.mark.parametrize(
    ("kind", "data", "option"),
    [
        ("REGISTER_JOB", {"job_id": "w0!n", "job": {}}, "--enable-dynamic-jobs"),
        ("NOTIFY", {"type": "registration_finished"}, "--enable-dynamic-jobs"),
        ("QUERY", {"requests": {"consumed_energy": {}}}, "--energy"),
        ("SET_RESOURCE_STATE", {"resources": "0", "state": "1"}, "--energy"),
    ],
)
def test_what_needs_an_option_names_it(kind: str, data: dict[str, Any], option: str) -> None:
    text = a_reply((10.0, kind, data))
    assert f"got it without {option}" in refusal(text, dynamic_jobs=False, energy=False)


def test_nothing_is_registered_after_the_end_of_registration() -> None:
    job = {"id": "n", "subtime": 0, "res": 1, "profile": "nap"}
    text = a_reply(
        (10.0, "NOTIFY", {"type": "registration_finished"}),
        (10.0, "REGISTER_JOB", {"job_id": "w0!n", "job": job}),
    )
    assert "events[1]: REGISTER_JOB: got it after registration_finished" in refusal(text)


def test_sequences_of_sequences_take_no_time_to_forget() -> None:
    reader = a_reader()
    previous = "nap"
    for i in range(60):
        raw = {"type": "composed", "seq": [previous, previous]}
        reader._registry.add_profile("w0", f"s{i}", raw)
        previous = f"s{i}"
    job = {"id": "deep", "subtime": 0, "res": 1, "profile": previous}
    reader._registry.add_job("w0!deep", job)
    reader._registry.forget("w0!deep")
    assert reader._registry.return_code("w0!deep") == 1


def test_a_hundred_megabytes_of_nonsense_are_refused_in_one_line() -> None:
    assert len(refusal(b'{"now":1,"events":[' + b'"x",' * 25_000_000)) < 300


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
KINDS = [
    "EXECUTE_JOB", "REJECT_JOB", "KILL_JOB", "CALL_ME_LATER", "REGISTER_PROFILE", "REGISTER_JOB",
    "SET_RESOURCE_STATE", "SET_JOB_METADATA", "CHANGE_JOB_STATE", "TO_JOB_MSG", "QUERY", "ANSWER",
    "NOTIFY",
]  # fmt: skip
VALUES = {
    "job_id": st.sampled_from(["w0!a", "w0!b", "w0!x", "a", ""]) | JSON,
    "job_ids": st.lists(st.sampled_from(["w0!a", "w0!b"]) | JSON, max_size=3),
    "alloc": st.sampled_from(["0", "0-1", "4", "9-12", "x"]) | JSON,
    "mapping": st.dictionaries(st.sampled_from("012x"), st.integers(-1, 3) | JSON, max_size=3),
    "storage_mapping": st.dictionaries(st.sampled_from(["pfs", ""]), JSON, max_size=2),
    "additional_io_job": st.fixed_dictionaries(
        {"alloc": st.sampled_from(["0", "0-1 4"]), "profile_name": st.sampled_from(list(PROFILES))}
    )
    | JSON,
    "profile": st.sampled_from(list(PROFILES.values())) | JSON,
    "profile_name": st.sampled_from(["nap", "p", "!"]) | JSON,
    "workload_name": st.sampled_from(["w0", "x", ""]) | JSON,
    "job": st.sampled_from(list(JOBS.values())) | JSON,
    "resources": st.sampled_from(["0", "0-9"]) | JSON,
    "state": st.sampled_from(["0", "x", 1]) | JSON,
    "metadata": st.text(max_size=5) | JSON,
    "job_state": st.sampled_from(["RUNNING", "REJECTED", "x"]) | JSON,
    "msg": st.text(max_size=5) | JSON,
    "requests": st.just({"consumed_energy": {}}) | JSON,
    "type": st.sampled_from(["registration_finished", "x"]) | JSON,
    "timestamp": st.floats(0, 20) | JSON,
}
DATA = st.lists(st.sampled_from(list(VALUES)), max_size=4, unique=True).flatmap(
    lambda keys: st.fixed_dictionaries({key: VALUES[key] for key in keys})
)
EVENTS = st.fixed_dictionaries(
    {"timestamp": st.floats(0, 12), "type": st.sampled_from(KINDS), "data": DATA}
)
REPLIES = st.fixed_dictionaries(
    {"now": st.floats(9, 15), "events": st.lists(EVENTS, max_size=4)}
).map(lambda reply: json.dumps(reply).encode())


@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()) | REPLIES)
def test_any_bytes_are_decisions_or_a_sentence(text: bytes) -> None:
    try:
        decisions, ready = a_reader().read(text, 10.0)
    except ProtocolError as error:
        decisions, ready, said = [], 10.0, str(error)
    else:
        said = "t=10: reply: "
    assert said.startswith("t=10: reply: ")
    assert isinstance(decisions, list)
    assert ready >= 10.0
