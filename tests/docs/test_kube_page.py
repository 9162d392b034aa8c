"""The page on Nodes and Pods names all that can be said about them, and the how-to works."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from played_pages import play

from noctule.kube import nodes
from noctule.kube.pod_fields import FIELDS
from noctule.kube.pod_groups import GroupKind, group_resource
from noctule.vclock.support import is_supported

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "kubernetes.md").read_text()
HOWTO = (ROOT / "docs" / "howto" / "kubernetes.md").read_text()
KNOWS_GANGS = "kube-scheduler-1.36.4"
#: What the how-to starts besides, which is not always there.
VOLCANO = "volcano-1.10.0"


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_of_a_job_is_explained(name):
    assert any(f"`{name}`" in line for line in PAGE.splitlines() if line.startswith("| "))


@pytest.mark.parametrize("kind", GroupKind)
def test_every_kind_of_group_is_explained(kind):
    (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{kind}` |")]
    if kind is not GroupKind.NONE:
        group, version, _ = group_resource(kind)
        assert f"`{group}/{version}`" in line


def test_what_nodes_have_by_default_is_what_the_page_says():
    rules = nodes.NodeRules()
    told = {
        "`memory`": f"`{rules.memory}`",
        "`ephemeral-storage`": f"`{rules.ephemeral_storage}`",
        "`pods`": str(rules.pods),
    }
    for name, default in told.items():
        (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| {name} |")]
        assert line.endswith(f"| {default} |")
    for label in (nodes.HOSTNAME, nodes.ZONE, nodes.RACK, nodes.SHARE, rules.gpu_resource):
        assert f"`{label}`" in PAGE


@pytest.mark.slow
def test_the_how_to_does_what_it_says(tmp_path, monkeypatch):
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "noctule" / "kube"
    scheduler = Path(os.environ.get("NOCTULE_KUBE") or usual) / KNOWS_GANGS
    if not scheduler.is_file():
        pytest.skip(f"no {scheduler}; tests/kube/install-kube-scheduler builds it")
    if not is_supported():
        pytest.skip(is_supported().reason)
    pytest.importorskip("kubernetes")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "kube-scheduler").symlink_to(scheduler)
    folders = [str(tmp_path / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(folders))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    # a day of real time at any speed is too long for a test, and so are the plugin's attempts
    missing, others = ["--clock", "runs/coscheduling "], {"volcano"}
    if scheduler.with_name(VOLCANO).is_file():
        (tmp_path / "bin" / "volcano").symlink_to(scheduler.with_name(VOLCANO))
    else:
        missing.append("runs/volcano ")
        others = set()
    lines = HOWTO.splitlines()
    left_out = [line for line in lines if any(word in line for word in missing)]
    assert play(HOWTO, left_out=left_out) == []
    runs = {path.name for path in Path("runs").iterdir()}
    assert runs == {"kube", "gangs", "mine", "easy", "slurm", "pods"} | others
    assert Path("compared.html").stat().st_size > 100_000
