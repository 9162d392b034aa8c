"""Jobs as Pods."""

from __future__ import annotations

import json
import math

import pytest

import noctule as nt
from noctule.errors import InputError
from noctule.kube.catalog import CRDS, find_kind
from noctule.kube.nodes import node_objects, whole_host
from noctule.kube.pod_fields import fields_of
from noctule.kube.pod_groups import (
    GroupKind,
    group_definitions,
    group_resource,
    queue_object,
)
from noctule.kube.pods import PodRules, PodWriter, ended_status, requests_of
from noctule.kube.store import Store

DATE = "2020-01-01T00:00:00Z"
WHOLE = whole_host(node_objects(nt.Platform.homogeneous(2), DATE))


def writer(**rules) -> PodWriter:
    return PodWriter("w0", PodRules(**({"whole_host": WHOLE} | rules)))


def pods(n_hosts: int = 1, walltime: float = math.inf, *, rules=None, **fields):
    return writer(**(rules or {})).of_job(1, n_hosts, walltime, fields=fields).pods(DATE)


def asked(pod):
    return pod["spec"]["containers"][0]["resources"]["requests"]


def test_a_job_of_one_host_is_one_pod_that_asks_for_a_whole_host():
    (pod,) = pods()
    assert pod["metadata"]["name"] == "w0-1"
    assert pod["metadata"]["namespace"] == "default"
    assert pod["metadata"]["creationTimestamp"] == DATE
    assert asked(pod) == {"cpu": "1", "memory": "64Gi"}
    assert pod["spec"]["schedulerName"] == "default-scheduler"
    assert pod["spec"]["priority"] == 0
    assert pod["spec"]["terminationGracePeriodSeconds"] == 30
    assert "activeDeadlineSeconds" not in pod["spec"]
    assert pod["status"] == {"phase": "Pending"}
    assert requests_of(pod) == {"pods": 1, "cpu": 1000, "memory": 64 * 2**30}


def test_a_job_of_several_hosts_is_as_many_pods_alike():
    made = pods(3)
    assert [pod["metadata"]["name"] for pod in made] == ["w0-1-0", "w0-1-1", "w0-1-2"]
    assert len({pod["metadata"]["uid"] for pod in made}) == 3
    assert made[0]["spec"] == made[2]["spec"]
    assert {pod["metadata"]["labels"]["noctule/job"] for pod in made} == {"w0-1"}
    assert {pod["metadata"]["labels"]["noctule/size"] for pod in made} == {"3"}


def test_pods_that_are_created_again_have_other_uids():
    job = writer().of_job(1, 1)
    first, second = job.pods(DATE)[0]["metadata"], job.pods(DATE, 1)[0]["metadata"]
    assert first["name"] == second["name"]
    assert first["uid"] != second["uid"]
    assert job.pods(DATE)[0]["metadata"] == first


def test_what_a_job_asks_for_takes_the_place_of_the_whole_host():
    (pod,) = pods(cpu=5.859, memory="2Gi", gpu=2, resources={"example.com/fpga": "1"})
    assert asked(pod) == {
        "example.com/fpga": "1",
        "cpu": "5859m",
        "memory": "2Gi",
        "nvidia.com/gpu": "2",
    }
    assert pod["spec"]["containers"][0]["resources"]["limits"] == asked(pod)


def test_where_hosts_have_shares_a_whole_host_takes_all_and_a_part_takes_one():
    rules = {"whole_host": {**WHOLE, "noctule/share": 110}}
    assert asked(pods(rules=rules)[0])["noctule/share"] == "110"
    assert asked(pods(rules=rules, cpu="1")[0])["noctule/share"] == "1"


def test_a_walltime_is_a_deadline_in_whole_seconds():
    assert pods(1, 10.2)[0]["spec"]["activeDeadlineSeconds"] == 11
    assert pods(1, 0.5)[0]["spec"]["activeDeadlineSeconds"] == 1


def test_the_rest_of_a_pod_is_as_the_job_says():
    tolerations = [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}}
    (pod,) = pods(
        scheduler="mine",
        priority=7,
        priorityClass="unknown-but-told",
        preemptionPolicy="Never",
        terminationGracePeriodSeconds=5,
        nodeSelector={"disk": "ssd"},
        affinity=affinity,
        tolerations=tolerations,
        labels={"app": "x"},
        annotations={"example.com/note": "any text at all"},
        image="busybox",
    )
    spec = pod["spec"]
    assert spec["schedulerName"] == "mine"
    assert (spec["priority"], spec["priorityClassName"]) == (7, "unknown-but-told")
    assert spec["preemptionPolicy"] == "Never"
    assert spec["terminationGracePeriodSeconds"] == 5
    assert spec["nodeSelector"] == {"disk": "ssd"}
    assert (spec["affinity"], spec["tolerations"]) == (affinity, tolerations)
    assert pod["metadata"]["labels"] == {
        "noctule/job": "w0-1",
        "noctule/size": "1",
        "app": "x",
    }
    assert pod["metadata"]["annotations"] == {"example.com/note": "any text at all"}
    assert spec["containers"][0]["image"] == "busybox"


def test_pods_are_spread_among_those_of_their_job_unless_told_otherwise():
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    other = {**constraint, "labelSelector": {"matchLabels": {"app": "x"}}}
    (pod,) = pods(topologySpreadConstraints=[constraint, other])
    own = {"matchLabels": {"noctule/job": "w0-1"}}
    selectors = [c["labelSelector"] for c in pod["spec"]["topologySpreadConstraints"]]
    assert selectors == [own, other["labelSelector"]]
    assert "labelSelector" not in constraint


def test_a_priority_class_is_a_priority():
    rules = {"priority_classes": {"high": 100}}
    assert pods(rules=rules, priorityClass="high")[0]["spec"]["priority"] == 100
    critical = pods(priorityClass="system-node-critical")[0]["spec"]
    assert critical["priority"] == 2_000_001_000


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"cpu": "fast"}, "cpu: got 'fast', expected a Kubernetes quantity"),
        ({"cpu": -1}, "cpu: got -1, expected >= 0"),
        ({"gpu": 0.5}, "gpu: got 0.5, expected a whole number"),
        ({"resources": ["x"]}, r"resources: got .*, expected amounts by resource"),
        ({"resources": {"a b": 1}}, "resources: got 'a b', expected a resource"),
        ({"resources": {"pods": 2}}, "resources: pods are counted"),
        ({"resourceClaims": []}, "resourceClaims: dynamic resource allocation is not simulated"),
        ({"priority": "high"}, "priority: got 'high', expected a whole number"),
        ({"priority": True}, "priority: got 'True'"),
        ({"priorityClass": "x"}, "priorityClass: got 'x', expected one of system-cluster"),
        ({"preemptionPolicy": "Always"}, "preemptionPolicy: got 'Always', expected one of"),
        ({"scheduler": 3}, "scheduler: got '3', expected a name"),
        ({"terminationGracePeriodSeconds": -1}, "terminationGracePeriodSeconds: got '-1'"),
        ({"nodeSelector": {"a": 1}}, "nodeSelector: got .*, expected texts by name"),
        ({"nodeSelector": {"a": "b c"}}, "nodeSelector: got .*, expected values"),
        ({"affinity": {"hostAffinity": {}}}, "affinity: got .*, expected an object of nodeAff"),
        ({"tolerations": {}}, "tolerations: got .*, expected a list"),
        ({"tolerations": [{"effect": "No"}]}, r"tolerations\[0\].effect: got 'No'"),
        ({"topologySpreadConstraints": [{}]}, r"topologySpreadConstraints\[0\]: got .*topologyKey"),
        (
            {"topologySpreadConstraints": [{"topologyKey": "z", "maxSkew": 0}]},
            r"topologySpreadConstraints\[0\].maxSkew: got '0', expected a whole number > 0",
        ),
    ],
)
def test_a_field_that_makes_no_sense_is_named_with_its_job(fields, told):
    with pytest.raises(InputError, match=f"^job 1: {told}"):
        pods(**fields)


def test_a_jobs_fields_take_the_place_of_its_profiles_whose_flops_are_no_cpus():
    assert fields_of({"type": "delay", "cpu": "1", "delay": 3}, {}) == {"cpu": "1"}
    assert fields_of({"type": "delay", "cpu": "1"}, {"cpu": 2, "other": 3}) == {"cpu": 2}
    assert fields_of({"type": "parallel_homogeneous", "cpu": 1e9, "gpu": 1}, {}) == {"gpu": 1}


def test_no_two_pods_have_the_same_name():
    made = writer()
    ids = [("1", 3), ("1-1", 1), ("1_1", 2), ("1!1", 1), ("x" * 90, 1), ("x" * 91, 2), ("é", 1)]
    names = [name for job_id, n in ids for name in made.of_job(job_id, n).names]
    assert len(set(names)) == 11
    assert names[:3] == ["w0-1-0", "w0-1-1", "w0-1-2"]
    assert all(len(name) <= 63 for name in names)


@pytest.mark.parametrize("kind", [kind for kind in GroupKind if kind is not GroupKind.NONE])
def test_a_group_object_has_a_name_that_its_pods_tell(kind):
    rules = {"groups": kind, "group_timeout": 60}
    job = writer(**rules).of_job(1, 4, queue="q")
    group = job.group_object(DATE)
    api_group, version, plural = group_resource(kind)
    assert group["apiVersion"] == f"{api_group}/{version}"
    assert group["kind"].lower() + "s" == plural
    assert group["metadata"]["name"] == "w0-1"
    assert '"w0-1"' in json.dumps(job.pods(DATE)[0]["spec"]) + json.dumps(
        {k: v for k, v in job.pods(DATE)[0]["metadata"].items() if k != "name"}
    ).replace('"noctule/job": "w0-1"', "")


def test_groups_are_written_as_each_scheduler_reads_them():
    def both(kind):
        job = writer(groups=kind, group_timeout=60).of_job(1, 4, queue="q")
        return job.group_object(DATE)["spec"], job.pods(DATE)[0]

    spec, pod = both(GroupKind.COSCHEDULING)
    assert spec == {"minMember": 4, "scheduleTimeoutSeconds": 60}
    assert pod["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] == "w0-1"
    spec, pod = both(GroupKind.VOLCANO)
    assert spec == {"minMember": 4, "queue": "q"}
    assert pod["metadata"]["annotations"] == {"scheduling.k8s.io/group-name": "w0-1"}
    spec, pod = both(GroupKind.WORKLOAD)
    assert spec == {"podGroups": [{"name": "pods", "policy": {"gang": {"minCount": 4}}}]}
    assert pod["spec"]["workloadRef"] == {"name": "w0-1", "podGroup": "pods"}
    spec, pod = both(GroupKind.POD_GROUP)
    assert spec == {"schedulingPolicy": {"gang": {"minCount": 4}}}
    assert pod["spec"]["schedulingGroup"] == {"podGroupName": "w0-1"}


@pytest.mark.parametrize("kind", [kind for kind in GroupKind if kind is not GroupKind.NONE])
def test_the_api_serves_every_kind_of_group_once_it_is_defined(kind):
    store = Store()
    for definition in group_definitions(kind):
        store.put(CRDS, definition)
    found = find_kind(store, *group_resource(kind))
    assert found.kind == writer(groups=kind).of_job(1, 2).group_object(DATE)["kind"]
    if kind is GroupKind.VOLCANO:
        queue = queue_object("q", DATE)
        group, _, version = queue["apiVersion"].partition("/")
        assert not find_kind(store, group, version, "queues").namespaced
        numa = find_kind(store, "nodeinfo.volcano.sh", "v1alpha1", "numatopologies")
        assert (numa.kind, numa.namespaced) == ("Numatopology", False)


def test_without_groups_there_is_no_object():
    assert writer().of_job(1, 4).group_object(DATE) is None


def test_an_ended_job_is_a_phase():
    assert ended_status("completed") == {"phase": "Succeeded"}
    assert ended_status("timed_out")["reason"] == "DeadlineExceeded"
    assert ended_status("killed")["phase"] == "Failed"
    with pytest.raises(InputError, match="got 'running'"):
        ended_status("running")


def test_batkubes_jobs_become_batkubes_pods(shared):
    folder = shared / "vectors" / "batkube" / "workloads"
    workload = nt.load_workload(folder / "KIT_10h_80.json")
    jobs = list(writer().of_workload(workload))
    assert len(jobs) == 39
    assert jobs[0].names == ("w0-982",)
    assert jobs[0].requests["cpu"] == 5900
    assert "memory" not in jobs[0].requests
    assert jobs[0].template["spec"]["schedulerName"] == "default-scheduler"
