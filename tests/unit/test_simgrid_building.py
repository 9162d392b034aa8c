"""The program that asks SimGrid: how it is built and kept, and what is said where it cannot be."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from noctule.cli import main
from noctule.console import ExitCode
from noctule.errors import InputError
from noctule.simgrid.building import SOURCES, SimGridMissingError, build_folder
from noctule.simgrid.driver import Driver
from noctule.simgrid.verification import Difference

VERSION = "".join(
    f"#define SIMGRID_VERSION_{part} {number}\n"
    for part, number in (("MAJOR", 3), ("MINOR", 99), ("PATCH", 1))
)
# a compiler: it finds a SimGrid, and what it makes is a script
COMPILER = """\
#!{python}
import os, pathlib, sys
if "-E" in sys.argv:
    print({version!r})
    sys.exit(0)
with open({log!r}, "a") as log:
    print(*sys.argv[1:], file=log)
if {fails!r}:
    sys.exit("driver.cpp:1:2: error: no such thing\\nnote: 1 error")
target = pathlib.Path(sys.argv[sys.argv.index("-o") + 1])
target.write_text({program!r})
target.chmod(0o700)
"""
PROGRAM = """\
#!{python}
import json, sys
if {complaint!r}:
    sys.exit({complaint!r})
lines = open(sys.argv[-1]).read().splitlines()
jobs = [line.split() for line in lines if line.startswith("job ")]
ends = {{words[1]: {{"end": float(words[2]) + {lasts!r}}} for words in jobs}}
print(json.dumps({{"tasks": ends, "cpu_seconds": 0.5}}))
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return what installs a compiler, alone on the path."""
    places = tmp_path / "bin"
    places.mkdir()
    monkeypatch.setenv("PATH", str(places))
    monkeypatch.setenv("NOCTULE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    Path("four.toml").write_text("[[hosts]]\ncount = 4\n")
    profiles = {"p": {"type": "delay", "delay": 10}}
    jobs = [{"id": i, "subtime": 0, "res": 2, "profile": "p"} for i in (1, 2)]
    Path("jobs.json").write_text(json.dumps({"nb_res": 4, "profiles": profiles, "jobs": jobs}))

    def put(*, version: str = VERSION, fails: bool = False, complaint: str = "", lasts: float = 10):
        program = PROGRAM.format(python=sys.executable, complaint=complaint, lasts=lasts)
        text = COMPILER.format(
            python=sys.executable,
            version=version,
            log=str(tmp_path / "log"),
            fails=fails,
            program=program,
        )
        (places / "g++").write_text(text)
        (places / "g++").chmod(0o700)
        return tmp_path / "log"

    return put


def last_line(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.usefixtures("install")
def test_a_missing_compiler_is_told(capsys):
    assert main(["verify", "four.toml", "jobs.json"]) == ExitCode.INPUT
    assert last_line(capsys) == (
        "noctule: SimGrid: no C++ compiler is installed (g++, clang++, c++), "
        "expected one to build the program that asks it"
    )


def test_a_missing_simgrid_is_told(install, capsys):
    install(version="")
    assert main(["verify", "four.toml", "jobs.json"]) == ExitCode.INPUT
    assert last_line(capsys) == (
        "noctule: SimGrid: not installed, expected its headers and library where the compiler "
        "finds them: Debian's package libsimgrid-dev"
    )
    with pytest.raises(SimGridMissingError):
        Driver.built()


def test_a_compiler_that_fails_is_told_with_its_reason(install, tmp_path):
    install(fails=True)
    with pytest.raises(InputError, match=r"cannot be built with .*: driver.cpp:1:2: error"):
        Driver.built()
    assert list((tmp_path / "cache" / "simgrid").iterdir()) == []


def test_the_program_is_built_once(install, tmp_path):
    log = install()
    said: list[str] = []
    first = Driver.built(said.append)
    assert first == Driver.built(said.append)
    assert first.simgrid_version == "3.99.1"
    assert list(build_folder().iterdir()) == [first.binary]
    assert len(log.read_text().splitlines()) == 1
    assert len(said) == 1


def test_another_simgrid_is_another_program(install):
    install()
    first = Driver.built()
    install(version=VERSION.replace("99", "36"))
    assert Driver.built().binary != first.binary


def test_nothing_of_the_inputs_is_in_the_command(install, monkeypatch):
    log = install()
    monkeypatch.setenv("CXX", "evil")
    monkeypatch.setenv("CXXFLAGS", "--evil")
    assert main(["verify", "four.toml", "jobs.json", "--quiet"]) == 0
    *options, source, _, target, library = log.read_text().split()
    assert options == ["-std=c++20", "-O2"]
    assert (source, library) == (str(SOURCES[0]), "-lsimgrid")
    assert Path(target).parent.parent == build_folder().absolute()


def test_a_cache_that_cannot_be_written_is_told(install, tmp_path):
    install()
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(InputError, match="simgrid: cannot be written: Not a directory"):
        Driver.built()


def test_the_source_is_part_of_the_package():
    names = {path.name for path in files("noctule.simgrid").iterdir()}
    assert {source.name for source in SOURCES} <= names


@pytest.mark.parametrize(("lasts", "code"), [(10, ExitCode.OK), (10.1, ExitCode.CHECK_FAILED)])
def test_the_exit_code_tells_whether_simgrid_agrees(install, capsys, lasts, code):
    install(lasts=lasts)
    assert main(["verify", "four.toml", "jobs.json", "--json", "--quiet"]) == code
    found = json.loads(capsys.readouterr().out)
    assert found["agrees"] is (code == ExitCode.OK)
    assert found["simgrid"] == "3.99.1"
    assert found["finish_time"]["n"] == 2
    assert found["finish_time"]["absolute"] == pytest.approx(lasts - 10)
    assert found["finish_time"]["name"] == "1"


def test_a_tolerance_may_be_given(install):
    install(lasts=10.1)
    assert main(["verify", "four.toml", "jobs.json", "--quiet", "--tolerance", "0.1"]) == 0


@pytest.mark.parametrize(
    ("complaint", "told"),
    [
        ("[0.000] [xbt/CRITICAL] Bad platform\nmore", "Bad platform"),
        ("./src/x.cpp:71: [root/CRITICAL] Twice", "Twice"),
        ("driver: no such command", "no such command"),
    ],
)
def test_what_simgrid_complains_of_is_told(install, capsys, complaint, told):
    install(complaint=complaint)
    assert main(["verify", "four.toml", "jobs.json"]) == ExitCode.INPUT
    assert last_line(capsys) == (
        f"noctule: four.toml: SimGrid 3.99.1 refuses it, or what is done on it: {told}"
    )


def test_a_policy_that_fails_is_told_by_its_name(install, capsys):
    install()
    Path("mine.py").write_text("class Mine:\n    def decide(self, view, events):\n        1 / 0\n")
    words = ["verify", "four.toml", "jobs.json", "--policy", "mine.py:Mine"]
    assert main(words) == ExitCode.DECISION
    assert "policy Mine raised ZeroDivisionError" in last_line(capsys)


def test_nothing_to_compare_is_refused(install, capsys):
    install()
    document = json.loads(Path("jobs.json").read_text())
    document["jobs"] = [job | {"res": 9} for job in document["jobs"]]
    Path("jobs.json").write_text(json.dumps(document))
    assert main(["verify", "four.toml", "jobs.json"]) == ExitCode.INPUT
    assert last_line(capsys) == "noctule: jobs.json: no job ran, so none can be compared"


def test_the_worst_difference_is_the_relatively_largest():
    found = Difference.of([("a", 1000.0, 1001.0), ("b", 1.0, 1.5), ("c", 2.0, 2.0)])
    assert (found.n, found.absolute, found.name) == (3, 1.0, "b")
    assert found.relative == pytest.approx(1 / 3)
    assert (found.ours, found.simgrid) == (1.0, 1.5)


def test_a_job_that_simgrid_lost_differs_infinitely():
    found = Difference.of([("a", 1.0, 1.0), ("b", 1.0, float("nan"))])
    assert found.relative == found.absolute == float("inf")


def test_help_needs_neither_compiler_nor_simgrid():
    code = (
        "import sys; from noctule.cli import main; "
        "main(['--help']); print('noctule.simgrid' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
