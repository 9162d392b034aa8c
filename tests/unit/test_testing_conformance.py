"""The conformance suite on policies that are wrong in one way."""

from __future__ import annotations

import pytest

from noctule.errors import InputError
from noctule.messages import StartJob
from noctule.policies import Easy
from noctule.testing import cases, check_cases, conformance


class Unprotected:
    """Starts whatever fits."""

    def decide(self, view, events):
        n_free = view.n_free
        for job in view.waiting:
            if job.n_hosts <= n_free:
                n_free -= job.n_hosts
                yield StartJob(job)


class Idle:
    """Never decides."""

    def decide(self, view, events):
        return ()


def test_a_conforming_policy_fails_nothing():
    assert conformance("easy", family="easy") == []
    assert conformance(Easy, family="easy") == []


def test_a_function_that_makes_a_policy_is_called_for_each_case():
    made = []

    def make():
        made.append(Easy("sjf"))
        return made[-1]

    assert conformance(make, family="easy(order=sjf)") == []
    assert len(made) == len(cases("easy(order=sjf)"))


def test_a_policy_that_exists_already_is_refused():
    with pytest.raises(InputError) as error:
        conformance(Easy(), family="easy")
    assert str(error.value) == (
        "conformance: got a Easy that exists already, expected a name, a class or a function that "
        "makes one: a policy may remember the run before"
    )


def test_a_policy_without_protection_falls_into_that_trap():
    failures = conformance(Unprotected, family="easy")

    traps = [failure.case.trap for failure in failures if failure.is_trapped]
    assert "no protection of the first job" in traps


def test_a_policy_that_never_decides_fails_with_the_reason():
    failures = conformance(Idle, family="fcfs")

    assert len(failures) == len(cases("fcfs"))
    assert all(failure.error for failure in failures)


def test_any_simulator_can_be_checked():
    # one that starts every job when it is submitted, as if hosts were without end
    failures = check_cases(lambda case: {job.id: job.submit_time for job in case.jobs}, "fcfs")

    right = {str(case) for case in cases("fcfs")} - {str(failure.case) for failure in failures}
    assert right == {"fcfs/the last host counts", "fcfs/the order is that of dates"}
