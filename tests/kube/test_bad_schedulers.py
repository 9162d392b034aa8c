"""Schedulers that misbehave: a sentence, a clean end, and no process left."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scheduled_runs import (
    children,
    column,
    job,
    needs_simulated_time,
    scheduled,
    starts,
    tiny,
)

from noctule.errors import DecisionError, InputError, NoctuleError, ProtocolError
from noctule.kube import KubeScheduler

pytestmark = needs_simulated_time
JOBS = [job("A", 0, 10), job("B", 5, 10), job("C", 6, 10)]


def complaint(command: str, kind: type[NoctuleError], **settings) -> str:
    before = set(children())
    with pytest.raises(kind) as failure:
        scheduled(JOBS, command, **settings)
    assert set(children()) == before
    return str(failure.value)


def test_one_that_ends_is_told_with_its_last_words():
    told = complaint(tiny("crash"), ProtocolError)
    name = Path(sys.executable).name
    assert told == f"t=0: {name} ended with exit status 3; its log ends: out of ideas"


def test_one_that_ends_well_without_a_request_is_no_scheduler():
    assert complaint("true", ProtocolError) == (
        "t=0: true ended with exit status 0 without a request, "
        "expected a scheduler that goes on until it is ended"
    )


def test_one_that_never_asks_for_anything_is_no_scheduler():
    told = complaint(tiny("silent"), ProtocolError)
    assert "asked for nothing, expected a scheduler that watches pods" in told


def test_one_that_talks_another_version_of_the_api_says_so_itself():
    assert "there is no pods in scheduling.example.com v0" in complaint(tiny("old"), ProtocolError)


def test_one_that_insists_on_a_node_that_is_not_there_is_stopped():
    assert complaint(tiny("ghost"), DecisionError) == (
        "t=0: 100 bindings in a row had to be refused, the last of them: "
        "pod w0-a: cannot be bound to atlantis: that node is unknown"
    )


def test_bindings_that_cannot_be_are_refused_and_the_run_goes_on():
    twice = scheduled(JOBS, tiny("twice"))
    assert starts(twice) == {"A": 0, "B": 5, "C": 10}
    assert twice.notes[0].startswith("1 binding was refused, the last of them: ")
    assert 'pod w0-a is already assigned to node "host0"' in twice.notes[0]
    crowded = scheduled(JOBS, tiny("overcommit"))
    assert starts(crowded) == {"A": 0, "B": 5, "C": 10}
    assert crowded.notes == (
        "2 bindings were refused, the last of them: pod w0-c: cannot be bound to host0: "
        "it asks for 1 of cpu, 0 is left",
    )


def test_a_scheduler_that_deletes_what_runs_ends_it_after_the_grace_period():
    # A is deleted when B comes, at 5, and ends at 8; B is deleted at 6, and A's place is C's
    schedule = scheduled(JOBS, tiny("delete"), grace=3)
    assert column(schedule, "state") == {"A": "killed", "B": "killed", "C": "completed"}
    assert column(schedule, "finish_time") == {"A": 8, "B": 9, "C": 18}


@pytest.mark.slow
def test_one_that_does_not_come_to_rest_is_told_with_its_threads():
    told = complaint(tiny("spin"), ProtocolError, stall_timeout=8.0)
    assert "does not come to rest: thread " in told
    assert told.endswith(" is running (after 8 s of real time)")


@pytest.mark.slow
def test_one_that_floods_the_api_is_stopped():
    told = complaint(tiny("flood"), ProtocolError, stall_timeout=8.0)
    assert "requests and did not come to rest, the last of them GET /" in told


@pytest.mark.parametrize(
    ("command", "settings", "message"),
    [
        ("", {}, "kube: got no scheduler, expected a command such as kube-scheduler"),
        ("nonesuch --v=2", {}, "nonesuch: found no such program, expected a program"),
        ("'x", {}, "scheduler default-scheduler: No closing quotation, expected a command"),
        ("x", {"beside": "'y"}, "beside: No closing quotation, expected a command"),
        ("x", {"mode": "fast"}, "kube: mode: got 'fast', expected window or exact"),
        ("x", {"speed": 0.0}, "kube: speed: got 0.0, expected a number above 0"),
        ("x", {"grace": -1}, "kube: grace: got -1, expected a number >= 0"),
        ("x", {"attach": True}, "kube: attach: got a command as well, expected one or the other"),
        ("x", {"schedulers": "default-scheduler=y"}, "kube: scheduler default-scheduler: given "),
        ("x", {"log": "/nowhere/log"}, "/nowhere/log: cannot be written: No such file or directo"),
    ],
)
def test_what_makes_no_sense_is_refused(command, settings, message):
    assert complaint(command, InputError, **settings).startswith(message)


def test_an_unknown_setting_is_named_with_a_guess():
    with pytest.raises(InputError, match=r"kube: gang_time: unknown.*did you mean gang_timeout"):
        KubeScheduler("x", gang_time=3)


def test_attaching_needs_the_real_clock():
    with pytest.raises(InputError, match="only programs that are started here"):
        KubeScheduler(attach=True)


def test_jobs_for_a_scheduler_that_nobody_starts_are_refused_before_anything_starts():
    with pytest.raises(InputError) as failure:
        scheduled([job("A", 0, 1, scheduler="other")])
    assert str(failure.value) == (
        "kube: jobs ask for the scheduler other, which is not started; "
        "started are default-scheduler"
    )
