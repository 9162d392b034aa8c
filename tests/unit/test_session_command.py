"""noctule sessions: what is shown, written and drawn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from session_logs import FIGURE_1, a_log, sessions_of
from trace_files import a_line, written

from noctule.cli import main
from noctule.console import ExitCode
from noctule.plots.session_boxes import longest_path, sessions_figure


@pytest.fixture(autouse=True)
def _log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A current folder with the log of figure 1 and a second user."""
    monkeypatch.chdir(tmp_path)
    Path("log.swf").write_text(written(a_log(*FIGURE_1, (200, 210, 2))))


def test_sessions_are_measured(capsys: pytest.CaptureFixture[str]):
    assert main(["sessions", "log.swf", "--threshold", "60min"]) == ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    table = [line.rsplit(maxsplit=7) for line in lines[1:7]]
    assert lines[0].split() == ["mean", "min", "p25", "median", "p75", "p95", "max"]
    assert {name: (numbers[0], numbers[-1]) for name, *numbers in table} == {
        "jobs per session": ("1.4000", "2.0000"),
        "response time (s)": ("5280.0000", "9000.0000"),  # 150, 140, 40, 100 and 10 minutes
        "think time (s)": ("3000.0000", "4200.0000"),  # 40, 40 and 70 minutes
        "sessions per user": ("2.5000", "4.0000"),
        "longest path": ("2.0000", "3.0000"),
        "arity": ("0.5", "1.0000"),
    }
    assert lines[7:] == [
        "",
        "jobs                           7",
        "users                          2",
        "sessions                       5",
        "that depend on none            3",
        "dependencies                   3",
        "think times under 1 h    66.67 %",
        "think times under 10 h  100.00 %",
        "",
        "user  jobs  sessions  dependencies  longest path  arity  median think",
        "1        6         4             3             3      1     2400.0000",
        "2        1         1             0             1      0             -",
    ]


def test_sessions_are_written_and_read_back(capsys: pytest.CaptureFixture[str]):
    assert main(["sessions", "log.swf", "--threshold", "1h", "-o", "users", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["output"], found["files"]) == ("users", ["user-1.json", "user-2.json"])
    assert (found["cut"], found["threshold"], found["n_sessions"]) == ("arrival", 3600, 5)
    assert main(["sessions", "users", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    differing = {key for key in found if found[key] != again[key]}
    assert differing == {"file", "output", "files"}


def test_other_cuts_are_chosen_by_name(capsys: pytest.CaptureFixture[str]):
    args = ["sessions", "log.swf", "--threshold", "0", "--cut", "max", "--json"]
    assert main(args) == 0
    # user 1: {1, 2}, 3 during 2, 4 during 3: one until 260; then 5 and 6
    assert json.loads(capsys.readouterr().out)["n_sessions"] == 3


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_user_is_drawn(suffix: str):
    args = ["sessions", "log.swf", "--threshold", "60min", "--quiet"]
    assert main([*args, "--user", "1", "--picture", f"one.{suffix}"]) == 0
    first = Path(f"one.{suffix}").read_bytes()
    assert main([*args, "--user", "1", "--picture", f"two.{suffix}"]) == 0
    assert Path(f"two.{suffix}").read_bytes() == first


def test_a_picture_tells_the_size_of_the_graph():
    figure = sessions_figure(sessions_of(*FIGURE_1), 1)
    (axes,) = figure.axes
    assert axes.get_title(loc="left") == ("user 1: 6 jobs in 4 sessions; longest path 3, arity 1")
    assert len(axes.patches) == 4
    assert len(axes.lines) == 3
    texts = {text.get_text() for text in axes.texts}
    assert {"1 (2)", "4 (2)", "40.0 min", "1.2 h"} <= texts


def test_a_long_graph_is_cut():
    figure = sessions_figure(sessions_of(*((100 * i, 100 * i + 1) for i in range(90))), 1)
    (axes,) = figure.axes
    assert "90 sessions, the first 80 shown; longest path 90" in axes.get_title(loc="left")
    assert len(axes.patches) == 80


def test_the_longest_path_is_the_first_of_the_longest():
    graph = sessions_of(*FIGURE_1).graph
    assert longest_path(graph, range(4)) == [0, 2, 3]
    assert longest_path(graph, range(2)) == [0]


def test_what_is_not_known_is_said(capsys: pytest.CaptureFixture[str]):
    lines = [a_line(1, user=1, wait_time=0), a_line(2, 5, wait_time=0), a_line(3, 9, user=1)]
    Path("odd.swf").write_text("\n".join(lines))
    assert main(["sessions", "odd.swf", "--threshold", "60"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert said[-2:] == [
        "odd.swf: user: not known, so that each is a session that depends on none: 1",
        "odd.swf: finish: not known, so that nothing depends on their sessions: 1",
    ]


@pytest.mark.parametrize(
    ("args", "code", "text"),
    [
        (["log.swf"], ExitCode.USAGE, "Missing option '--threshold', which a log needs."),
        (
            ["log.swf", "--threshold", "-5"],
            ExitCode.INPUT,
            "--threshold: got '-5', expected a time >= 0 such as 60min",
        ),
        (
            ["log.swf", "--threshold", "1h", "--user", "1"],
            ExitCode.USAGE,
            "--user and --picture: expected both, or none of them",
        ),
        (
            ["log.swf", "--threshold", "1h", "--user", "9", "--picture", "a.png"],
            ExitCode.INPUT,
            "log.swf: user '9': no such user",
        ),
        (
            ["log.swf", "--threshold", "1h", "--user", "1", "--picture", "a.gif"],
            ExitCode.INPUT,
            "a.gif: got no known ending, expected .pdf, .png, .svg",
        ),
        (
            ["log.swf", "--threshold", "1h", "-o", "log.swf"],
            ExitCode.INPUT,
            "log.swf: exists and is not a folder, expected a folder to create",
        ),
        (
            [".", "--threshold", "1h"],
            ExitCode.USAGE,
            "--threshold and --cut are for logs, got a folder of session files",
        ),
        (["absent.swf", "--threshold", "1h"], ExitCode.INPUT, "absent.swf: no such file"),
    ],
)
def test_mistakes_are_told(args, code, text, capsys: pytest.CaptureFixture[str]):
    before = sorted(Path().iterdir())
    assert main(["sessions", *args]) == code
    captured = capsys.readouterr()
    assert text in captured.err
    assert captured.out == ""
    assert sorted(Path().iterdir()) == before
