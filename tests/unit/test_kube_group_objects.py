"""Group objects as schedulers find them in a cluster."""

from __future__ import annotations

from dataclasses import replace

import pytest

import noctule as nt
from noctule.kube.catalog import find_kind
from noctule.kube.cluster import Cluster
from noctule.kube.pod_groups import GroupKind, group_resource
from noctule.kube.settings import Settings
from noctule.kube.store import Resource, Store
from noctule.testing import a_job, a_workload


@pytest.mark.parametrize("kind", [kind for kind in GroupKind if kind is not GroupKind.NONE])
def test_a_cluster_serves_groups_before_the_first_job_comes(kind):
    store = Store(now=lambda: 0.0)
    workload = a_workload(a_job(1, hosts=2))
    platform = nt.Platform.homogeneous(2)
    Cluster(platform, workload, Settings(groups=str(kind)), store, scheduler="default-scheduler")
    assert find_kind(store, *group_resource(kind)).namespaced
    assert store.list(Resource(*group_resource(kind))) == []


def test_volcano_finds_the_queues_that_jobs_name_and_its_default_one():
    store = Store(now=lambda: 0.0)
    jobs = [replace(a_job(1), queue="Long Jobs"), a_job(2)]
    settings = Settings(groups="volcano")
    Cluster(nt.Platform.homogeneous(2), a_workload(*jobs), settings, store, scheduler="volcano")
    queues = Resource("scheduling.volcano.sh", "v1beta1", "queues", namespaced=False)
    assert [queue["metadata"]["name"] for queue in store.list(queues)] == ["default", "long-jobs"]
