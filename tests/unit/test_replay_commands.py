"""noctule metrics and noctule plot of replays: run folders, session files, campaigns."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from built_schedules import Row
from click.testing import CliRunner
from replayed_schedules import a_replay
from session_logs import FIGURE_1
from trace_files import a_line

from noctule.campaign import Campaign, LocalWorkers, load_results, run_campaign
from noctule.cli import main
from noctule.commands.metrics import metrics
from noctule.commands.plot import plot
from noctule.errors import InputError

DAY = 86_400.0


def a_run(folder, late, users=(1, 2)):
    """Save a run of a job a day, by turns of users, submitted late."""
    rows = [Row(i, i * DAY + by, i * DAY + by, i * DAY + by + 9, "0") for i, by in enumerate(late)]
    owners = [users[i % len(users)] for i in range(len(late))]
    a_replay(rows, [i * DAY for i in range(len(late))], owners).save(folder)
    return str(folder)


def run(command, *words):
    return CliRunner().invoke(command, [str(word) for word in words], catch_exceptions=False)


def test_metrics_has_a_line_a_user(tmp_path):
    one, other = a_run(tmp_path / "one", [0, 0, 10, 4]), a_run(tmp_path / "other", [0, 0])
    answer = run(metrics, one, other, "--by-user", "--json")
    (first, second) = json.loads(answer.stdout)["runs"]
    assert (first["run"], second["run"]) == (one, other)
    assert [user["user"] for user in first["users"]] == [1, 2]
    assert [user["mean_lateness"] for user in first["users"]] == [5, 2]
    assert second["users"][0]["relative_lateness"] is None
    table = run(metrics, one, other, "--by-user").stdout.splitlines()
    assert table[0].split()[:4] == ["run", "user", "n_jobs", "n_ended"]
    assert len(table) == 5


def test_metrics_shows_lateness_among_the_numbers(tmp_path):
    table = run(metrics, a_run(tmp_path / "x", [0, 0, 10, 4])).stdout
    assert "mean_lateness (s)" in table
    assert "additional_lateness (s)" in table


def test_by_user_needs_users_and_whole_runs(tmp_path):
    nobody = a_run(tmp_path / "x", [0, 0], users=[None])
    with pytest.raises(InputError, match="x: no job has a user, expected a run that tells them"):
        run(metrics, nobody, "--by-user")
    with pytest.raises(InputError, match="--by-user: got --warm-up or --cool-down"):
        run(metrics, nobody, "--by-user", "--warm-up", "5")


def test_every_figure_is_a_kind_of_picture():
    from noctule.commands.plot_replays import COMMANDS
    from noctule.plots.replays import FIGURES

    assert {command.name for command in COMMANDS} == {*FIGURES, "session-graphs"}
    assert {words[0] for words in KINDS} == set(FIGURES)


def test_the_reference_tells_what_every_figure_shows():
    from noctule.plots.replays import FIGURES

    page = (Path(__file__).parents[2] / "docs" / "reference" / "plots.md").read_text()
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", page)
    for name, kind in FIGURES.items():
        assert f"| `{name}` | {kind.number} | {kind.shows}" in plain


KINDS = [
    ("submissions",),
    ("cumulative",),
    ("mean-lateness",),
    ("additional-lateness",),
    ("lateness-spread",),
    ("differences", "--than", "b"),
    ("week",),
    ("rebound", "--months", "0.5", "--months", "1"),
    ("arrivals",),
    ("scaling",),
]


@pytest.mark.parametrize("words", KINDS, ids=[words[0] for words in KINDS])
def test_run_folders_become_a_picture(words, tmp_path):
    pytest.importorskip("matplotlib")
    folders = [a_run(tmp_path / name, [60.0 * i for i in range(60)]) for name in "ab"]
    target = tmp_path / "x.svg"
    answer = run(plot, *words, *folders, "-o", target)
    assert answer.stdout == f"{target}: written\n"
    assert "<svg" in target.read_text()


def a_log_file(path, jobs=FIGURE_1):
    lines = [
        a_line(i, submit * 60, user=1, wait_time=0, run_time=(finish - submit) * 60)
        for i, (submit, finish) in enumerate(jobs, start=1)
    ]
    path.write_text("; UnixStartTime: 0\n" + "\n".join(lines) + "\n")
    return path


def test_sessions_in_files_become_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    log = a_log_file(tmp_path / "log.swf")
    for name, threshold in (("a0", "0"), ("a60", "60min")):
        words = ["sessions", log, "--threshold", threshold, "-o", tmp_path / name, "--quiet"]
        assert main([str(word) for word in words]) == 0
    run(plot, "session-graphs", tmp_path / "a0", tmp_path / "a60", "-o", tmp_path / "x.svg")
    assert "<svg" in (tmp_path / "x.svg").read_text()


def test_weeks_have_the_clock_of_the_log(tmp_path):
    pytest.importorskip("matplotlib")
    log = a_log_file(tmp_path / "log.swf")
    folder = a_run(tmp_path / "a", [0, 0])
    run(plot, "week", folder, "--log", log, "-o", tmp_path / "x.svg")
    with pytest.raises(InputError, match="no such file"):
        run(plot, "week", folder, "--log", tmp_path / "none.swf", "-o", tmp_path / "x.svg")


def a_campaign(folder, **others):
    a_log_file(folder / "log.swf")
    table = {
        "workloads": {"log": {"file": "log.swf", "walltime_factor": 2}},
        "platforms": {"fast": {"hosts": 100, "speed": 2}, "slow": {"hosts": 100, "speed": 0.5}},
        "policies": {"easy": "easy"},
        "options": {"replay": ["rigid", "feedback(threshold=60min)"]},
        **others,
    }
    run_campaign(Campaign.of(table, folder=folder), folder / "out", LocalWorkers(1))
    return folder / "out"


def test_the_table_of_a_campaign_tells_lateness(tmp_path):
    pytest.importorskip("pyarrow")
    table = load_results(a_campaign(tmp_path)).set_index(["platform", "replay"])
    late = table["mean_lateness"]
    assert late["slow", "feedback(threshold=60min)"] > 0 > late["fast", "feedback(threshold=60min)"]
    assert late.isna()["slow", "rigid"]
    assert table["n_jobs"].tolist() == [6] * 4


def test_campaigns_are_drawn_in_groups_that_differ_by_their_replay(tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("matplotlib")
    from noctule.plots.campaign_runs import kept_runs

    out = a_campaign(tmp_path, keep_jobs=True)
    groups = {title: [name for name, _ in runs] for title, runs in kept_runs(out)}
    replays = ["rigid", "feedback(threshold=60min)"]
    assert groups == {"fast": replays, "slow": replays}
    run(plot, "submissions", out, "-o", tmp_path / "x.svg")
    joined = kept_runs(out, join_parts=True)
    assert [name for _, runs in joined for name, _ in runs] == [
        f"{platform}, {replay}"
        for platform in ("fast", "slow")
        for replay in ("rigid", "feedback(threshold=60min)")
    ]


def test_campaigns_that_kept_no_jobs_are_refused(tmp_path):
    pytest.importorskip("pyarrow")
    out = a_campaign(tmp_path)
    with pytest.raises(InputError, match="expected a campaign with keep_jobs = true"):
        run(plot, "submissions", out, "-o", tmp_path / "x.svg")
