"""Decision components in shared libraries: compiled here from C, where there is a compiler."""

from __future__ import annotations

import csv
import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from batsim_runs import PLATFORM, job, workload

from noctule.commands.batsim5 import main
from noctule.errors import InputError
from noctule.remote.edc_library import EdcLibrary

SOURCE = Path(__file__).parent / "edc" / "fcfs.c"

pytestmark = pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="a sanitizer lets no library prefer its own symbols",
)


def compiled(source: Path, folder: Path) -> str:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no C compiler")
    library = folder / f"{source.stem}.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    return str(library)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    return compiled(SOURCE, tmp_path_factory.mktemp("edc"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("p.xml").write_text(PLATFORM)
    Path("w.json").write_text(workload(job(1, 0, 2, "d10"), job(2, 3, 3, "d5", walltime=100)))
    return tmp_path


WORDS = ("-p", "p.xml", "-w", "w.json", "-q")


def rows() -> list[dict[str, str]]:
    with Path("out/jobs.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("method", ["dlopen", "dlmopen"])
def test_a_library_decides_in_this_process(library: str, method: str) -> None:
    if method == "dlmopen" and not hasattr(ctypes.CDLL(None), "dlmopen"):
        pytest.skip("this system has no dlmopen")
    words = ["-l", library, "", "--edc-library-load-method", method, *WORDS]
    assert main(words) == 0
    assert [(row["job_id"], row["starting_time"], row["finish_time"]) for row in rows()] == [
        ("1", "0.000000", "10.000000"),
        ("2", "10.000000", "15.000000"),
    ]


def test_its_text_may_be_in_a_file(library: str) -> None:
    Path("init.txt").write_text("reject")
    assert main(["-L", library, "init.txt", *WORDS]) == 0
    assert [row["final_state"] for row in rows()] == ["REJECTED", "REJECTED"]


@pytest.mark.parametrize(
    ("mode", "complaint"),
    [
        ("init_fails", "batsim_edc_init: got 3, expected 0"),
        ("decide_fails", "batsim_edc_take_decisions: got 4, expected 0"),
        ("deinit_fails", "batsim_edc_deinit: got 5, expected 0"),
        ("binary", "binary FlatBuffers, whose schema at the revision of Batsim 5.0-rc2 is not"),
        ("no_buffer", "batsim_edc_take_decisions: got no buffer for"),
        ("huge", "batsim_edc_take_decisions: got 4294967295 bytes, expected at most"),
    ],
)
def test_a_library_that_fails_ends_the_run_with_a_sentence(
    library: str, capsys: pytest.CaptureFixture[str], mode: str, complaint: str
) -> None:
    assert main(["-l", library, mode, *WORDS]) == 134
    said = capsys.readouterr().err
    assert complaint in said
    assert said.count("\n") == 1


def test_what_is_no_library_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("text.so").write_text("not a library")
    assert main(["-l", "./text.so", "", *WORDS]) == 134
    assert "./text.so: cannot be loaded:" in capsys.readouterr().err
    assert main(["-l", "./missing.so", "", "--edc-library-load-method", "dlmopen", *WORDS]) == 134
    assert "./missing.so: cannot be loaded:" in capsys.readouterr().err


def test_a_library_without_the_functions_is_refused(folder: Path) -> None:
    source = folder / "other.c"
    source.write_text("int batsim_edc_init(void) { return 0; }\n")
    with pytest.raises(InputError, match="got no function batsim_edc_take_decisions"):
        EdcLibrary(compiled(source, folder), b"").__enter__()
