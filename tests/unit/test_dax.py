"""Workflows in Pegasus's DAX: tasks, their order, and what is refused."""

from __future__ import annotations

import time

import pytest

from noctule.errors import InputError
from noctule.formats.dax import Task, read_dax

DIAMOND = b"""<?xml version="1.0" encoding="UTF-8"?>
<!-- d waits for b and c, which wait for a -->
<adag xmlns="http://pegasus.isi.edu/schema/DAX" jobCount="4">
  <job id="d" runtime="4"/>
  <job id="c" runtime="3.5" num_procs="2"><uses file="x" link="input"/></job>
  <job id="b" runtime="2" num_procs="-7"/>
  <job id="a" runtime="1"/>
  <child ref="c"><parent ref="a"/></child>
  <child ref="b"><parent ref="a"/></child>
  <child ref="d"><parent ref="b"/><parent ref="c"/><parent ref="b"/></child>
</adag>
"""


def test_tasks_know_who_waits_for_them_in_the_order_of_the_file() -> None:
    workflow = read_dax(DIAMOND, source="f")
    assert workflow.tasks == (
        Task("d", 4.0, 1, (), 2),
        Task("c", 3.5, 2, (0,), 1),
        Task("b", 2.0, 1, (0,), 1),
        Task("a", 1.0, 1, (1, 2), 0),
    )
    assert workflow.first == [3]


def test_tasks_that_wait_for_none_come_first_by_their_ids_as_text() -> None:
    text = b'<adag><job id="9" runtime="1"/><job id="10" runtime="1"/></adag>'
    workflow = read_dax(text, source="f")
    assert [workflow.tasks[i].id for i in workflow.first] == ["10", "9"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"", "line 1, column 1: not valid XML: no element found"),
        (b"<dag/>", "line 1, column 1: got <dag>, expected <adag>, a DAX workflow"),
        (b"<adag>\n<job/></adag>", "line 2, column 1: job: id: missing"),
        (b'<adag><job id="a"/></adag>', "line 1, column 7: job: runtime: missing"),
        (
            b'<adag><job id="a" runtime="-1"/></adag>',
            "job 'a': runtime: got '-1', expected seconds, not negative",
        ),
        (b'<adag><job id="a" runtime="nan"/></adag>', "runtime: got 'nan'"),
        (
            b'<adag><job id="a" runtime="1" num_procs="1.5"/></adag>',
            "num_procs: got '1.5', expected a whole number",
        ),
        (
            b'<adag><job id="a" runtime="1"/><job id="a" runtime="1"/></adag>',
            "job 'a': the id is taken",
        ),
        (
            b'<adag><job id="a" runtime="1"/><child ref="a"><parent ref="b"/></child></adag>',
            "ref: got 'b', expected the id of a job",
        ),
        (
            b'<adag><job id="a" runtime="1"/><child ref="a"><parent ref="a"/></child></adag>',
            "f: job 'a': waits for itself",
        ),
    ],
)
def test_what_is_no_workflow_is_refused_where_it_goes_wrong(text: bytes, complaint: str) -> None:
    with pytest.raises(InputError) as caught:
        read_dax(text, source="f")
    assert complaint in str(caught.value)
    assert str(caught.value).startswith("f: ")


def test_entities_are_not_expanded() -> None:
    bomb = b'<!DOCTYPE adag [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><adag>&b;</adag>'
    for text in (bomb, b'<!DOCTYPE adag SYSTEM "/etc/passwd"><adag/>'):
        with pytest.raises(InputError, match="got a DOCTYPE, expected none"):
            read_dax(text, source="f")
    with pytest.raises(InputError, match="undefined entity"):
        read_dax(b"<adag>&b;</adag>", source="f")


def test_a_deep_and_a_long_file_end_soon() -> None:
    began = time.process_time()
    n = 20_000
    read_dax(b"<adag>" + b"<x>" * n + b"</x>" * n + b"</adag>", source="f")
    jobs = b"".join(b'<job id="%d" runtime="1"/>' % i for i in range(n))
    edges = b"".join(
        b'<child ref="%d"><parent ref="%d"/></child>' % (i + 1, i) for i in range(n - 1)
    )
    workflow = read_dax(b"<adag>" + jobs + edges + b"</adag>", source="f")
    assert workflow.first == [0]
    assert time.process_time() - began < 10
