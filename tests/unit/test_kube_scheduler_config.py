"""Files of kube-schedulers, completed so that they find the API."""

from __future__ import annotations

import json

import pytest

from noctule.errors import InputError
from noctule.kube.scheduler_config import complete_config
from noctule.kube.schedulers import Command, commands_of
from noctule.kube.session import Access

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def completed(tmp_path, text: str) -> str:
    given = tmp_path / "given.yaml"
    given.write_text(text)
    access = Access("http://127.0.0.1:1/token", tmp_path)
    return complete_config(given, access, "default-scheduler").read_text()


def test_what_a_file_lacks_is_appended(tmp_path):
    assert completed(tmp_path, HEAD + "profiles:\n- schedulerName: x\n") == (
        f"{HEAD}profiles:\n- schedulerName: x\n"
        f'clientConnection:\n  kubeconfig: "{tmp_path}/kubeconfig"\n'
        '  contentType: "application/json"\n  qps: 5000\n  burst: 10000\n'
        "leaderElection:\n  leaderElect: false\n"
    )


def test_what_a_file_has_is_kept_but_for_the_connection_and_leaders(tmp_path):
    given = (
        f"{HEAD}clientConnection:\n    qps: 7\n    kubeconfig: /etc/kube\n"
        "leaderElection:\n    leaderElect: true\n    leaseDuration: 9s\nparallelism: 3\n"
    )
    assert completed(tmp_path, given) == (
        f'{HEAD}clientConnection:\n    kubeconfig: "{tmp_path}/kubeconfig"\n'
        '    contentType: "application/json"\n    burst: 10000\n    qps: 7\n'
        "leaderElection:\n    leaderElect: false\n    leaseDuration: 9s\nparallelism: 3\n"
    )


def test_one_that_decides_the_same_each_time_looks_at_nodes_one_by_one(tmp_path):
    given = tmp_path / "given.yaml"
    access = Access("http://127.0.0.1:1/token", tmp_path)

    def read(text: str) -> str:
        given.write_text(text)
        return complete_config(given, access, "x", is_repeatable=True).read_text()

    assert read(HEAD).startswith(f"{HEAD}parallelism: 1\nclientConnection:\n")
    assert "parallelism: 1" not in read(f"{HEAD}parallelism: 4\n")
    as_json = '{"kind": "KubeSchedulerConfiguration"'
    assert json.loads(read(as_json + "}"))["parallelism"] == 1
    assert json.loads(read(as_json + ', "parallelism": 4}'))["parallelism"] == 4
    made = complete_config(None, access, "x", is_repeatable=True)
    assert json.loads(made.read_text())["parallelism"] == 1
    assert "parallelism" not in complete_config(None, access, "x").read_text()


def test_a_file_may_be_json(tmp_path):
    given = {"kind": "KubeSchedulerConfiguration", "clientConnection": {"qps": 7}}
    found = json.loads(completed(tmp_path, json.dumps(given)))
    assert found["clientConnection"]["qps"] == 7
    assert found["clientConnection"]["kubeconfig"] == f"{tmp_path}/kubeconfig"
    assert found["leaderElection"] == {"leaderElect": False}


def test_a_file_of_something_else_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"given.yaml: expected a KubeSchedulerConfiguration"):
        completed(tmp_path, "kind: Pod\n")


def test_commands_are_lines_with_or_without_the_name_of_a_scheduler():
    found = commands_of("kube-scheduler --v=2\nother=python3 'my file.py'\n")
    assert found == [
        Command("default-scheduler", ("kube-scheduler", "--v=2")),
        Command("other", ("python3", "my file.py")),
    ]
    assert commands_of("\n".join(map(str, found))) == found
    with pytest.raises(InputError, match="scheduler x: given twice"):
        commands_of("x=a\nx=b")
