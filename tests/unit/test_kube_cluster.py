"""A cluster without schedulers: the tests bind and delete Pods themselves."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import noctule as nt
from noctule.kube.binding import bind
from noctule.kube.cluster import Cluster
from noctule.kube.refusals import Refusal
from noctule.kube.settings import Settings
from noctule.kube.store import NODES, PODS, Store
from noctule.messages import KillJob, RejectJob, RequeueJob, SetMetadata, StartJob
from noctule.testing import a_job, a_workload


class Small:
    """Two hosts of one core; the jobs A and C are of one Pod, B and D of two."""

    def __init__(self, **settings) -> None:
        self.store = Store(now=lambda: 0.0)
        jobs = [a_job(name, hosts=1 if name in "AC" else 2) for name in "ABCD"]
        self.cluster = Cluster(
            nt.Platform.homogeneous(2),
            a_workload(*jobs),
            Settings(**settings),
            self.store,
            scheduler="default-scheduler",
        )

    def submit(self, *names: str, now: float = 0.0, reservation: str | None = None) -> None:
        self.cluster.pass_time(now)
        window = None if reservation is None else SimpleNamespace(name=reservation)
        for name in names:
            self.cluster.submit(SimpleNamespace(id=name, reservation=window))

    def bind(self, pod: str, node: str, now: float = 0.0) -> list:
        self.cluster.pass_time(now)
        bind(self.store, self.pod(pod), {"target": {"kind": "Node", "name": node}})
        return self.cluster.take_decisions()

    def delete(self, pod: str, grace: float, now: float) -> list:
        self.cluster.pass_time(now)
        assert self.store.on_delete(self.pod(pod), grace) is None
        return self.cluster.take_decisions()

    def pod(self, name: str) -> dict:
        return self.store.get(PODS, name, "default")

    def names(self) -> list[str]:
        return [pod["metadata"]["name"] for pod in self.store.list(PODS)]


def test_a_job_starts_on_the_hosts_of_its_pods_in_their_order():
    small = Small()
    small.submit("B")
    assert small.bind("w0-b-0", "host1") == []
    assert list(small.cluster.pending) == ["w0-b-1"]
    # the first Pod is on host1, the second one of the hosts 0 and 1
    assert small.bind("w0-b-1", "host0") == [StartJob("B", [0, 1], mapping=[1, 0])]


def test_pods_of_a_gang_that_waits_too_long_are_deleted_and_created_again():
    small = Small(gang_timeout=60.0, gang_backoff=10.0)
    small.submit("B")
    small.bind("w0-b-0", "host0", 5.0)
    uid = small.pod("w0-b-0")["metadata"]["uid"]
    assert small.cluster.next_deadline() == 65.0
    assert small.cluster.pass_time(65.0)
    assert small.names() == []
    assert small.cluster.pass_time(75.0)
    assert small.names() == ["w0-b-0", "w0-b-1"]
    assert small.pod("w0-b-0")["metadata"]["uid"] != uid
    small.bind("w0-b-0", "host0", 76.0)
    held = "its pods held 64 node-seconds before its start"  # 60 and 4
    assert small.bind("w0-b-1", "host1", 80.0) == [
        SetMetadata("B", held),
        StartJob("B", [0, 1]),
    ]
    rows = [(row.pod, row.created, row.outcome) for row in small.cluster.history.records]
    away = "timeout with 1 of 2 pods bound"
    assert rows[:2] == [("w0-b-0", 0.0, away), ("w0-b-1", 0.0, away)]
    assert rows[2:] == [("w0-b-0", 75.0, ""), ("w0-b-1", 75.0, "")]


def test_a_deleted_pod_ends_its_running_job_after_the_grace_period():
    small = Small()
    small.submit("A")
    small.bind("w0-a", "host0")
    assert small.delete("w0-a", 5.0, 10.0) == []
    assert small.cluster.next_deadline() == 15.0
    small.cluster.pass_time(15.0)
    why = "preempted: a pod of it was deleted"
    assert small.cluster.take_decisions() == [SetMetadata("A", why), KillJob("A")]
    assert small.names() == []


def test_a_preempted_job_is_requeued_where_that_is_asked_for():
    small = Small(requeue_preempted=True)
    small.submit("A")
    small.bind("w0-a", "host0")
    why = "preempted: a pod of it was deleted"
    assert small.delete("w0-a", 0.0, 10.0) == [RequeueJob("A", why)]
    small.submit("A#2", now=10.0)
    assert small.bind("w0-a", "host1", 12.0) == [StartJob("A#2", [1])]


def test_a_job_that_is_deleted_while_it_waits_is_rejected():
    small = Small()
    small.submit("B")
    assert small.delete("w0-b-1", 0.0, 1.0)[-1] == RejectJob("B")
    assert list(small.cluster.pending) == []


def test_a_job_that_has_not_begun_when_its_pod_is_deleted_was_not_running():
    small = Small(bind_latency=3.0)
    small.submit("A", "C")
    assert small.bind("w0-a", "host0", 1.0) == []
    assert small.bind("w0-c", "host1", 1.0) == []
    assert small.delete("w0-a", 0.0, 2.0)[-1] == RejectJob("A")
    small.cluster.pass_time(4.0)
    assert small.cluster.take_decisions() == [StartJob("C", [1])]


def test_an_image_is_pulled_once_by_each_node():
    small = Small(image_pull=20.0, start_delay=1.0)
    small.submit("A", "B")
    assert small.bind("w0-a", "host0") == [StartJob("A", [0], launch_delay=21.0)]
    small.cluster.pass_time(30.0)
    small.cluster.finish("A", "completed", [])
    small.bind("w0-b-0", "host0", 30.0)
    assert small.bind("w0-b-1", "host1", 30.0) == [StartJob("B", [0, 1], launch_delay=21.0)]


@pytest.mark.parametrize(("state", "phase"), [("completed", "Succeeded"), ("failed", "Failed")])
def test_pods_of_ended_jobs_can_be_looked_at(state, phase):
    small = Small()
    small.submit("A")
    small.bind("w0-a", "host0")
    small.cluster.pass_time(5.0)
    assert small.pod("w0-a")["status"]["phase"] == "Running"
    small.cluster.finish("A", state, [])
    assert small.pod("w0-a")["status"]["phase"] == phase


def test_pods_hold_their_node_through_the_epilogue():
    small = Small()
    small.submit("A", "C")
    small.bind("w0-a", "host0")
    small.cluster.finish("A", "completed", [0])
    with pytest.raises(Refusal, match="0 is left"):
        small.bind("w0-c", "host0", 1.0)
    small.cluster.release("A")
    assert small.bind("w0-c", "host0", 2.0) == [StartJob("C", [0])]


def test_a_lost_node_takes_no_pods_and_loses_those_that_waited_there():
    small = Small(gang_backoff=10.0)
    small.submit("B", "C")
    small.bind("w0-b-0", "host0")
    small.cluster.lose([0], failed=True)
    assert small.names() == ["w0-c"]
    node = small.store.get(NODES, "host0")
    assert node["status"]["conditions"][0]["status"] == "Unknown"
    assert {taint["effect"] for taint in node["spec"]["taints"]} == {"NoSchedule", "NoExecute"}
    with pytest.raises(Refusal, match="that node is gone"):
        small.bind("w0-c", "host0", 1.0)
    small.cluster.regain([0], failed=True)
    assert "taints" not in small.store.get(NODES, "host0")["spec"]
    assert small.bind("w0-c", "host0", 2.0) == [StartJob("C", [0])]


def test_an_unavailable_node_is_cordoned_and_its_pods_stay():
    small = Small()
    small.submit("A", "C")
    small.bind("w0-a", "host0")
    small.cluster.lose([0, 1], failed=False)
    assert small.store.get(NODES, "host1")["spec"]["unschedulable"] is True
    with pytest.raises(Refusal, match="that node is unschedulable"):
        small.bind("w0-c", "host1", 1.0)
    assert small.pod("w0-a")["spec"]["nodeName"] == "host0"


def test_a_job_whose_user_gives_up_leaves_no_pods():
    small = Small()
    small.submit("B")
    small.bind("w0-b-0", "host0")
    small.cluster.cancel("B")
    assert small.names() == []
    assert small.cluster.next_deadline() is None


def test_partial_gangs_that_wait_for_each_other_are_named():
    small = Small(gang_timeout=0.0)
    small.submit("B", "D")
    small.bind("w0-b-0", "host0")
    small.bind("w0-d-0", "host1")
    assert small.cluster.next_deadline() is None
    assert small.cluster.why_stuck().startswith(
        "partial gangs that can never be complete hold nodes on which nothing runs: "
        "job B has 1 of 2 pods bound and holds host0; "
        "job D has 1 of 2 pods bound and holds host1; pod w0-b-1 is pending: "
    )


def test_a_reserved_node_is_for_the_pods_of_its_reservation_alone():
    small = Small()
    small.submit("A", reservation="night run")
    small.submit("C")
    small.cluster.reserve([0], "night run")
    node = small.store.get(NODES, "host0")
    assert node["metadata"]["labels"]["noctule/reservation"] == "night-run"
    (taint,) = node["spec"]["taints"]
    assert taint == {"key": "noctule/reservation", "value": "night-run", "effect": "NoSchedule"}
    spec = small.pod("w0-a")["spec"]
    assert spec["nodeSelector"] == {"noctule/reservation": "night-run"}
    assert spec["tolerations"] == [{**taint, "operator": "Equal"}]
    with pytest.raises(Refusal, match="host0: that node is kept for night run"):
        small.bind("w0-c", "host0")
    with pytest.raises(Refusal, match="host1: that node is not of night run"):
        small.bind("w0-a", "host1")
    assert small.bind("w0-a", "host0") == [StartJob("A", [0])]
    small.cluster.reserve([0], None)
    node = small.store.get(NODES, "host0")
    assert "taints" not in node["spec"]
    assert "noctule/reservation" not in node["metadata"]["labels"]


@pytest.mark.parametrize("is_ready", [False, True])
def test_a_reservation_and_a_failure_take_the_places_of_jobs_that_have_not_started(is_ready):
    for take in (
        lambda cluster: cluster.reserve([0], "night"),
        lambda cluster: cluster.lose([0], failed=True),
    ):
        small = Small(bind_latency=5.0, gang_backoff=10.0)
        small.submit("B")
        small.bind("w0-b-0", "host0")
        if is_ready:
            assert small.bind("w0-b-1", "host1") == []  # its start is due at 5
        small.cluster.pass_time(2.0)
        take(small.cluster)
        assert small.names() == []
        small.cluster.pass_time(11.0)
        assert small.cluster.take_decisions() == []
        small.cluster.pass_time(12.0)
        assert small.names() == ["w0-b-0", "w0-b-1"]
