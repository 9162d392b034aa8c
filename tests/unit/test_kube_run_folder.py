"""Folders of runs: they go with them, and those of runs that were killed with the next."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from noctule.kube.run_folder import RunFolder, remove_left_ones

OWNER = """
import time
from noctule.kube.run_folder import RunFolder

folder = RunFolder()
(folder.path / "kubeconfig").write_text("x")
print(folder.path, flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def make_old(path: Path) -> Path:
    os.utime(path, (1.0, 1.0))
    return path


def test_a_folder_goes_with_its_run_and_nobody_else_can_read_it(place):
    folder = RunFolder()
    assert folder.path.parent == place
    assert folder.path.stat().st_mode & 0o777 == 0o700
    folder.close()
    assert list(place.iterdir()) == []


def test_the_folder_of_a_run_that_was_killed_goes_with_the_next_run(place):
    environment = {**os.environ, "TMPDIR": str(place)}
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], env=environment, stdout=subprocess.PIPE, text=True
    ) as owner:
        left = make_old(Path(owner.stdout.readline().strip()))
        remove_left_ones(place)
        assert left.exists()  # its run goes on
        owner.kill()
        owner.wait()
    assert left.exists()
    RunFolder().close()
    assert not left.exists()


def test_what_may_be_another_runs_or_is_none_stays(place):
    young = place / "noctule-kube-run-young"
    young.mkdir()
    other = make_old(Path(tempfile.mkdtemp(prefix="other-")))
    link = place / "noctule-kube-run-link"
    link.symlink_to(other)
    os.utime(link, (1.0, 1.0), follow_symlinks=False)
    file = place / "noctule-kube-run-file"
    file.touch()
    make_old(file)
    remove_left_ones(place)
    assert young.is_dir()
    assert other.is_dir()
    assert link.is_symlink()
    assert file.is_file()
