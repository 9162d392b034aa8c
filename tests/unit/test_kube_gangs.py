"""Jobs of several Pods: bound one by one, started together."""

from __future__ import annotations

import pytest

from noctule.errors import InputError
from noctule.kube.gangs import Away, Evicted, Gangs, Hold, Ready, Recreated, State

HOST = {"cpu": 1000, "memory": 2**30, "pods": 110}
WHOLE = {"cpu": 1000, "pods": 1}


def gangs(n_nodes: int = 4, **options) -> Gangs:
    return Gangs({f"n{i}": HOST for i in range(n_nodes)}, **options)


def submit(of: Gangs, job_id: str, n_pods: int, requests=WHOLE, **options) -> None:
    of.submit(job_id, [f"{job_id}-{i}" for i in range(n_pods)], requests, **options)


def test_a_job_is_ready_when_the_last_of_its_pods_is_bound():
    of = gangs()
    submit(of, "a", 3)
    assert of.bind("a-0", "n2", 1.0) is None
    assert of.bind("a-2", "n0", 2.0) is None
    assert of.bind("a-1", "n3", 5.0) == Ready("a", ("n2", "n3", "n0"))
    # n2 waited from 1 to 5, n0 from 2 to 5, n3 not at all
    assert of.holds == [Hold("a", "n2", 1.0, 5.0), Hold("a", "n0", 2.0, 5.0)]
    assert of.held_by("a") == 7.0
    assert of.end("a", 9.0) == ("a-0", "a-1", "a-2")
    assert [of.free(f"n{i}")["cpu"] for i in range(4)] == [1000] * 4


def test_a_job_of_one_pod_is_ready_at_once_and_holds_nothing_before():
    of = gangs(timeout=10.0)
    submit(of, "a", 1)
    assert of.bind("a-0", "n0", 3.0) == Ready("a", ("n0",))
    assert of.holds == []
    assert of.next_deadline() is None


def test_pods_of_one_job_may_share_a_node():
    of = gangs(1)
    submit(of, "a", 2, {"cpu": 500, "pods": 1})
    of.bind("a-0", "n0", 0.0)
    assert of.bind("a-1", "n0", 0.0) == Ready("a", ("n0", "n0"))


def test_a_gang_that_waits_too_long_goes_away_and_comes_back_after_a_doubling_back_off():
    of = gangs(timeout=60.0, back_off=10.0, longest_back_off=15.0)
    submit(of, "a", 2)
    assert of.next_deadline() is None  # nothing is held yet
    of.bind("a-0", "n0", 100.0)
    assert of.next_deadline() == 160.0
    assert of.expired(159.0) == []
    assert of.expired(160.0) == [Away("a", 170.0, "timeout with 1 of 2 pods bound")]
    assert of.free("n0")["cpu"] == 1000
    assert of.holds == [Hold("a", "n0", 100.0, 160.0)]
    assert of.bind("a-0", "n0", 165.0).code == 404
    assert of.expired(170.0) == [Recreated("a", 1)]
    of.bind("a-1", "n0", 171.0)
    assert of.expired(231.0) == [Away("a", 246.0, "timeout with 1 of 2 pods bound")]  # 20 > 15


def test_what_is_due_at_one_date_comes_in_the_order_of_submission():
    of = gangs(timeout=10.0)
    submit(of, "a", 2)
    submit(of, "b", 2)
    of.bind("b-0", "n0", 0.0)
    of.bind("a-0", "n1", 0.0)
    assert [outcome.job_id for outcome in of.expired(10.0)] == ["a", "b"]


def test_what_a_node_has_not_left_is_refused_with_a_sentence():
    of = gangs(1)
    submit(of, "a", 1, {"cpu": 600, "pods": 1})
    submit(of, "b", 1, {"cpu": 600, "pods": 1})
    of.bind("a-0", "n0", 0.0)
    refusal = of.bind("b-0", "n0", 0.0)
    assert refusal.code == 409
    assert refusal.message == (
        "pod b-0: cannot be bound to n0: it asks for 600m of cpu, 400m is left"
    )


@pytest.mark.parametrize(
    ("requests", "told"),
    [
        ({"memory": 2**31}, "it asks for 2Gi of memory, 1Gi is left"),
        ({"nvidia.com/gpu": 1}, "it asks for 1 of nvidia.com/gpu, 0 is left"),
        ({"pods": 111}, "it asks for 111 of pods, 110 is left"),
    ],
)
def test_every_resource_counts(requests, told):
    of = gangs(1)
    submit(of, "a", 1, requests)
    assert of.bind("a-0", "n0", 0.0).message.endswith(told)


def test_a_pod_is_not_bound_twice():
    of = gangs()
    submit(of, "a", 2)
    of.bind("a-0", "n0", 0.0)
    refusal = of.bind("a-0", "n1", 0.0)
    assert refusal.code == 409
    assert refusal.message == "pod a-0: cannot be bound to n1, it is bound to n0 already"


def test_pods_and_nodes_that_are_not_there_are_refused():
    of = gangs()
    submit(of, "a", 1)
    assert of.bind("b-0", "n0", 0.0).message == "pod b-0: not found"
    assert of.bind("a-0", "n9", 0.0).message.endswith("that node is unknown")
    of.lose_node("n1", 0.0)
    refusal = of.bind("a-0", "n1", 0.0)
    assert (refusal.code, refusal.reason) == (404, "NotFound")
    assert refusal.message == "pod a-0: cannot be bound to n1: that node is gone"
    of.set_schedulable("n0", False)
    assert of.bind("a-0", "n0", 0.0).message.endswith("that node is unschedulable")
    of.restore_node("n1")
    assert of.bind("a-0", "n1", 0.0) == Ready("a", ("n1",))


def test_a_waiting_gang_that_loses_a_node_goes_away():
    of = gangs()
    submit(of, "a", 2)
    submit(of, "b", 2)
    of.bind("a-0", "n0", 0.0)
    of.bind("b-0", "n1", 0.0)
    assert of.lose_node("n0", 5.0) == [Away("a", 15.0, "node n0 is gone")]
    assert of.state("b") is State.WAITING


def test_a_preempted_pod_ends_its_job_once_the_grace_period_is_over():
    of = gangs()
    submit(of, "a", 2, grace=30.0)
    of.bind("a-0", "n0", 0.0)
    of.bind("a-1", "n1", 0.0)
    assert of.delete("a-1", 100.0) is None
    assert of.delete("a-0", 101.0) is None  # it is ending already
    assert of.state("a") is State.ENDING
    assert of.free("n0")["cpu"] == 0
    assert of.next_deadline() == 130.0
    assert of.expired(130.0) == [Evicted("a", True)]
    assert "a" not in of
    assert of.free("n0")["cpu"] == 1000


def test_a_deletion_may_ask_for_another_grace_period():
    of = gangs()
    for name, node in (("a", "n0"), ("b", "n1")):
        submit(of, name, 1)
        of.bind(f"{name}-0", node, 0.0)
    assert of.delete("a-0", 10.0, grace=0) == Evicted("a", True)
    assert of.delete("b-0", 10.0) is None
    of.delete("b-0", 11.0, grace=5)
    assert of.next_deadline() == 16.0
    of.delete("b-0", 12.0, grace=60)
    assert of.next_deadline() == 16.0


def test_a_deleted_pod_of_a_waiting_job_ends_it_or_sends_it_away():
    of = gangs()
    submit(of, "a", 2)
    of.bind("a-0", "n0", 0.0)
    assert of.delete("a-1", 4.0) == Evicted("a", False)
    assert of.holds == [Hold("a", "n0", 0.0, 4.0)]

    of = gangs(requeue=True)
    submit(of, "a", 2)
    assert of.delete("a-1", 4.0) == Away("a", 14.0, "pod a-1 was deleted")
    assert of.delete("a-0", 4.0) is None
    assert of.delete("x", 4.0).code == 404


def test_gangs_that_hold_what_the_other_needs_are_named():
    of = gangs(4)
    submit(of, "a", 3)
    submit(of, "b", 3)
    of.bind("a-0", "n0", 0.0)
    of.bind("a-1", "n1", 0.0)
    of.bind("b-0", "n2", 0.0)
    assert of.deadlocked() is None  # n3 lets job a start
    of.bind("b-1", "n3", 0.0)
    assert of.deadlocked() == (
        "partial gangs that can never be complete hold nodes on which nothing runs: "
        "job a has 2 of 3 pods bound and holds n0, n1; job b has 2 of 3 pods bound and holds n2, n3"
    )


def test_what_runs_will_end_so_waiting_for_it_is_no_deadlock():
    of = gangs(3)
    submit(of, "run", 1)
    of.bind("run-0", "n0", 0.0)
    submit(of, "a", 2)
    of.bind("a-0", "n1", 0.0)
    submit(of, "b", 2)
    of.bind("b-0", "n2", 0.0)
    assert of.deadlocked() is None  # n0 lets one of them start, which lets the other
    of.lose_node("n0", 0.0)
    assert of.deadlocked() is not None


def test_a_job_that_is_too_big_is_named_alone():
    of = gangs(2)
    submit(of, "a", 3)
    of.bind("a-0", "n0", 0.0)
    assert "job a has 1 of 3" in of.deadlocked()


def test_meaningless_options_are_refused():
    with pytest.raises(InputError, match="gang timeout: got 0"):
        gangs(timeout=0)
    with pytest.raises(InputError, match="gang back-off: got -1"):
        gangs(back_off=-1)
