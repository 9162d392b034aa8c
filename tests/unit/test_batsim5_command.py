"""The command line of Batsim 5: words, files of options, answers, exit codes."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from noctule.batsim.arguments5 import Component, read_arguments5
from noctule.batsim.config5 import with_config
from noctule.batsim.log import Verbosity
from noctule.batsim.options import BatsimError
from noctule.batsim.options5 import ALL_OPTIONS, read_words5
from noctule.cli import main as noctule

EDC = ("-s", "tcp://localhost:28000", "x")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_options_everything_is_as_batsim_has_it() -> None:
    run = read_arguments5(["-p", "p.xml", *EDC])
    assert run.component == Component(False, "tcp://localhost:28000", "x")
    assert (run.export_prefix, run.master_host, run.load_method) == (
        "out/",
        "master_host",
        "dlopen",
    )
    assert (run.workloads, run.events, run.roles, run.mmax) == ((), (), {}, 0)
    assert (run.trace_host_states, run.trace_power_states, run.energy) == (False, False, False)
    assert run.verbosity is Verbosity.INFORMATION


def test_words_are_read_as_cli11_does() -> None:
    run = read_arguments5(
        [
            *("-pp.xml", "-w", "a", "b", "--workload=c", "--ee", "e1", "e2", "-r", "h1", "storage"),
            *("--add-role", "h2", "compute_node", "-l", "./lib.so", "-x", "--mmax=3", "-q"),
            *("--trace-machine-state", "--trace-pstate-changes", "--energy-host"),
            *("--sg-cfg", "a/b:1", "--edc-library-load-method", "dlmopen", "-e", "out/x_"),
        ]
    )
    assert (run.platform, run.workloads, run.events) == ("p.xml", ("a", "b", "c"), ("e1", "e2"))
    assert run.roles == {"h1": "storage", "h2": "compute_node"}
    # values that are needed are taken, whatever they begin with
    assert run.component == Component(True, "./lib.so", "-x")
    assert (run.mmax, run.verbosity, run.load_method) == (3, Verbosity.QUIET, "dlmopen")
    assert (run.trace_host_states, run.trace_power_states, run.energy) == (True, True, True)
    assert run.simgrid_options == {"a/b": "1"}
    assert run.export_prefix == "out/x_"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "decision component: got 0, expected exactly one"),
        (["-p", "p.xml"], "decision component: got 0, expected exactly one"),
        (["-p", "p.xml", *EDC, "-l", "a", "b"], "decision component: got 2, expected exactly"),
        (["-p", "p.xml", *EDC, *EDC], "decision component: got 2, expected exactly"),
        ([*EDC], "--platform: missing"),
        (["-p", "p.xml", "-s", "x"], "--edc-socket-str: got 1 values, expected ENDPOINT TEXT"),
        (["-p", "p.xml", *EDC, "--plat", "x"], "'--plat': no such option"),
        (["-p", "p.xml", *EDC, "-z"], "'-z': no such option"),
        (["-p", "p.xml", *EDC, "stray"], "got 'stray', expected an option"),
        (["-p", "p.xml", *EDC, "-v", "loud"], "--verbosity: got 'loud', expected one of"),
        (["-p", "p.xml", *EDC, "-q", "-v", "info"], "--quiet: got --verbosity as well"),
        (["-p", "p.xml", *EDC, "-E"], "--energy: not implemented"),
        (["-p", "p.xml", *EDC, "--energy-link"], "--energy-link: not implemented"),
        (["-p", "p.xml", *EDC, "-r", "h", "king"], "--add-role: got 'king', expected one of"),
        (["-p", "p.xml", *EDC, "--mmax", "-1"], "--mmax: got '-1', expected a whole number"),
        (["-p", "p.xml", *EDC, "--timeout", "0"], "--timeout: got '0', expected seconds"),
        (["-p", "p.xml", *EDC, "--quiet=1"], "--quiet: got '1', expected no value"),
        (["-p", "p.xml", "-p", "q.xml", *EDC], "--platform: given twice"),
        (["-p", "p.xml", *EDC, "-e", ""], "--export: got nothing"),
        (["-p", "p.xml", *EDC, "--trace-probe-data", "x"], "--trace-probe-data: got 'x'"),
    ],
)
def test_wrong_words_are_refused_on_standard_error_only(
    capsys: pytest.CaptureFixture[str], words: list[str], complaint: str
) -> None:
    assert noctule(["batsim5", *words]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert complaint in said.err


def test_files_that_are_not_there_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert noctule(["batsim5", "-p", "p.xml", *EDC]) == 1
    assert "--platform: p.xml: cannot be read" in capsys.readouterr().err
    Path("p.xml").touch()
    assert noctule(["batsim5", "-p", "p.xml", "-S", "tcp://localhost:1", "init"]) == 1
    assert "init: cannot be read" in capsys.readouterr().err


def test_help_and_versions_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert noctule(["batsim5", "--help"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    for option in ALL_OPTIONS:
        assert option.name in said.out
    for word in ("--version", "--batsim-version"):
        assert noctule(["batsim5", word]) == 0
        assert capsys.readouterr().out.startswith("v5.0.0-rc2+noctule-")
    assert noctule(["batsim5", "--simgrid-version"]) == 0
    assert capsys.readouterr().out == "4.0\n"
    assert noctule(["batsim5", "--batsim-git-commit"]) == 1
    assert "not implemented" in capsys.readouterr().err
    assert noctule(["batsim5", "--version", "--simgrid-version"]) == 1


def test_the_execution_context_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert noctule(["batsim5", *EDC, "-e", "x/", "--dump-execution-context"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "socket_endpoint": "tcp://localhost:28000",
        "export_prefix": "x/",
    }


@pytest.mark.parametrize("name", ["run.toml", "run.ini"])
def test_options_can_be_written_to_a_file_and_read_from_it(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    words = ["-p", 'odd "name".xml', "-w", "a b", "c", *EDC, "-q", "-r", "h", "storage"]
    assert noctule(["batsim5", *words, "--gen-config", name]) == 0
    assert capsys.readouterr() == ("", "")
    given = with_config(read_words5(["-c", name]))
    assert read_arguments5(given) == read_arguments5(words)
    if name.endswith("toml"):
        assert tomllib.loads(Path(name).read_text())["workload"] == ["a b", "c"]
    # what the command line says wins
    given = with_config(read_words5(["-c", name, "-p", "other.xml"]))
    assert read_arguments5(given).platform == "other.xml"
    assert noctule(["batsim5", *words, "--gen-config", name]) == 0
    assert "existed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("c.toml", "platform = ", "not valid TOML"),
        ("c.toml", "color = 1", "'color': no such option"),
        ("c.toml", "quiet = 3", "expected true or false"),
        ("c.toml", "platform = ['a', 'b']", "got 2 values, expected one"),
        ("c.toml", "platform = {a = 1}", "expected texts"),
        ("c.ini", "platform", "line 1: got 'platform', expected key=value"),
        ("c.ini", "platform='", "line 1: No closing quotation"),
    ],
)
def test_a_wrong_file_of_options_is_refused(name: str, text: str, complaint: str) -> None:
    Path(name).write_text(text)
    with pytest.raises(BatsimError) as error:
        with_config(read_words5(["-c", name]))
    assert complaint in str(error.value)


def test_a_file_of_options_may_turn_flags_off() -> None:
    Path("c.toml").write_text("quiet = false\nmmax = 4\nplatform = 'p.xml'\n")
    run = read_arguments5(with_config(read_words5(["-c", "c.toml", *EDC])))
    assert (run.verbosity, run.mmax) == (Verbosity.INFORMATION, 4)
