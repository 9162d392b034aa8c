"""What SimGrid lets happen at one instant: ends less than 1 ns apart, and tests in turns."""

from __future__ import annotations

from pathlib import Path

import pytest

import noctule as nt
from noctule import _core
from noctule.machine import Machine

PLATFORM = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="z" routing="Full">
<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
<link id="l" bandwidth="1GBps" latency="1ms"/>
<route src="a" dst="b"><link_ctn id="l"/></route>
</zone>
</platform>
"""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    path = tmp_path / "platform.xml"
    path.write_text(PLATFORM)
    return Machine(nt.load_platform(path))


def test_sleeps_that_end_within_a_nanosecond_end_together(machine: Machine) -> None:
    machine.sleep("first", "a", 1.0)
    machine.sleep("second", "a", 1.0 + 5e-10)
    machine.sleep("third", "a", 1.0 + 2e-9)
    machine.run_until()
    assert machine.ends == {"first": 1.0, "second": 1.0, "third": 1.0 + 2e-9}


def test_a_latency_ends_with_a_sleep_of_the_same_nanosecond(machine: Machine) -> None:
    machine.send("message", "a", "b", 1e9)
    machine.sleep("sleep", "a", 0.001 - 5e-10)
    machine.run_until()
    assert machine.ends["message"] == pytest.approx(1.001 - 5e-10, abs=1e-15)


def test_a_task_with_work_left_is_not_ended_early_and_hides_no_sleep(machine: Machine) -> None:
    machine.sleep("first", "a", 1.0)
    machine.execute("task", "b", 1e9 + 0.2)  # 2e-10 s more
    machine.sleep("second", "a", 1.0 + 5e-10)
    machine.run_until()
    assert machine.ends["second"] == 1.0
    assert machine.ends["task"] == 1.0 + 2e-10


def test_what_ends_at_one_instant_does_so_in_the_order_of_its_beginning(machine: Machine) -> None:
    machine.sleep("late", "a", 1.0 + 3e-10)
    machine.sleep("early", "a", 1.0)
    machine.run_until()
    assert list(machine.ends) == ["late", "early"]


@pytest.mark.parametrize(("n_tests", "tenths_of_ms"), list(enumerate([0, 1, 3, 4, 4, 6, 9])))
def test_messages_of_one_tag_are_tested_in_turns(
    machine: Machine, n_tests: int, tenths_of_ms: int
) -> None:
    """A test takes longer the more have failed; what was tested goes behind the others.

    The long message fails, the short one is done, the long one fails, what is left of the short
    one takes no time, the long one fails for ever.
    """
    sender = ["init", "isend 1 0 65000000", "send 1 0 1000", "waitall"]
    receiver = ["init", "irecv 0 0 65000000", "irecv 0 0 1000", "sleep 0.01"]
    receiver += [*["test 0 1 0"] * n_tests, "compute 1e9", "waitall"]
    trace = _core.MpiTrace(["\n".join(sender), "\n".join(receiver)], ["sender", "receiver"])
    ends = machine.replay(trace, ["a", "b"])
    assert ends[1] == pytest.approx(1.01 + tenths_of_ms * 1e-4, rel=1e-12)
