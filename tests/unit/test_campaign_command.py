"""noctule campaign: what its commands print, and how they end."""

from __future__ import annotations

import io
import json
import sys

import pytest
from campaign_files import EXAMPLES, LOG

from noctule.campaign import Tally
from noctule.cli import main
from noctule.printing.campaign_progress import CampaignDisplay, duration_text

pytest.importorskip("pyarrow")

CAMPAIGN = """
seeds = "1-9"
bounds = true
[workloads]
night = {{ file = "{examples}/night.swf", shake = 30 }}
[platforms]
full = {{ hosts = 128 }}
[policies]
easy = {{ spec = "easy", order = ["fcfs", "sjf"] }}
fcfs = "fcfs"
[measures]
warm_up = 3600
"""


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "orders.toml").write_text(CAMPAIGN.format(examples=EXAMPLES))
    return "orders.toml"


def campaign_of_a_bad_policy(folder, does, **others):
    """Write c.toml, in which the policy `bad` does something instead of deciding."""
    (folder / "log.swf").write_text(LOG)
    (folder / "bad.py").write_text(
        f"import os\nclass Bad:\n    def decide(self, view, events): {does}\n"
    )
    policies = "".join(f'{name} = "{text}"\n' for name, text in others.items())
    (folder / "c.toml").write_text(
        f'[workloads]\nlog = "log.swf"\n[policies]\nbad = "bad.py:Bad"\n{policies}'
    )


def json_of(capsys, *words):
    code = main(["campaign", *words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_plan_tells_what_would_run_from_what_and_for_how_long(campaign, capsys):
    assert main(["campaign", "plan", campaign, "--workers", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "policy    3       easy(order=fcfs), easy(order=sjf), fcfs" in lines
    assert "seed      9       1, 2, 3, 4, ... 9" in lines
    # 9 seeds x 3 policies, each with its clairvoyant twin, and 9 without queues
    assert "63 runs, with bounds (clairvoyant, unlimited)" in lines
    assert any(line.startswith("about ") and "with 2 workers, by 5 runs" in line for line in lines)


def test_plan_tells_how_much_is_recorded(campaign, capsys):
    main(["campaign", "run", campaign, "-o", "out", "--quiet"])
    code, data = json_of(capsys, "plan", campaign, "-o", "out", "--samples", "0")
    assert code == 0
    assert (data["n_runs"], data["n_recorded"], data["estimate_s"]) == (63, 63, None)


def test_run_and_show_give_intervals_bounds_trimmed_figures_and_verdicts(campaign, capsys):
    code, data = json_of(capsys, "run", campaign, "-o", "out")
    assert code == 0
    assert (data["n_runs"], data["n_done"], data["n_failed"]) == (63, 63, 0)
    assert main(["campaign", "show", "out", "--metric", "mean_bounded_slowdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == [
        *("policy", "metric", "n", "mean", "95%", "interval", "normalised", "trimmed", "mean"),
    ]
    assert [line.split()[0] for line in lines[1:4]] == [
        "easy(order=fcfs)",
        "easy(order=sjf)",
        "fcfs",
    ]
    assert any(line.startswith("fcfs (clairvoyant)") for line in lines)
    unlimited = next(line.split() for line in lines if line.startswith("any (unlimited)"))
    assert unlimited[-1] == "1.0000"
    verdicts = [line for line in lines if line.startswith("mean_bounded_slowdown: ")]
    assert len(verdicts) == 3
    assert any(
        v.startswith("mean_bounded_slowdown: easy(order=sjf) better than fcfs by") for v in verdicts
    )


def test_show_can_compare_with_a_baseline_and_keep_an_axis_apart(campaign, capsys):
    main(["campaign", "run", campaign, "-o", "out", "--quiet"])
    code, data = json_of(
        capsys, "show", "out", "--baseline", "fcfs", "--within", "platform", "--confidence", "0.9"
    )
    assert code == 0
    assert [one["reference"] for one in data["comparisons"]] == ["fcfs", "fcfs"]
    assert {one["within"]["platform"] for one in data["levels"]} == {"full"}
    assert data["confidence"] == 0.9
    assert len(data["trimmed"]) == 3


def test_show_draws_a_picture(campaign, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    main(["campaign", "run", campaign, "-o", "out", "--quiet"])
    for name in ("a.svg", "b.svg"):
        assert main(["campaign", "show", "out", "--plot", name]) == 0
    pictures = [(tmp_path / name).read_bytes() for name in ("a.svg", "b.svg")]
    assert pictures[0] == pictures[1]
    assert b"easy(order=sjf)" in pictures[0]


def test_methods_name_logs_rules_policies_trimming_and_versions(campaign, capsys):
    main(["campaign", "run", campaign, "-o", "out", "--quiet"])
    assert main(["campaign", "methods", "out"]) == 0
    text = capsys.readouterr().out
    for part in (
        "Workload night is night.swf (SHA-256 ",
        "jobs kept: 1500",
        "shaken by up to 30 s, with ties in random order, 9 times (seeds 1 to 9)",
        "Platforms: full (128 hosts).",
        "easy(order=sjf) = easy(order=sjf)",
        "leave out jobs submitted in the first 3600 s",
        "Bounds: clairvoyant, unlimited.",
        "Noctule 0.1.0 (Python ",
    ):
        assert part in text


def test_a_failed_run_is_told_and_makes_the_exit_code_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    campaign_of_a_bad_policy(tmp_path, "raise ValueError('no')", easy="easy")
    assert main(["campaign", "run", "c.toml", "-o", "out"]) == 1
    said = capsys.readouterr()
    assert "1 runs failed, the last one with: t=0 policy Bad raised ValueError: no" in said.err
    assert main(["campaign", "show", "out"]) == 0
    assert "note: 1 runs failed: left out" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["run", "none.toml", "-o", "out"], 3, "none.toml: no such file"),
        (["run", "orders.toml", "-o", "out", "--jobs", "3"], 2, "expected --dask with them"),
        (["run", "orders.toml", "-o", "out", "--dask", "tcp://x:1", "--workers", "2"], 2, "--wor"),
        (
            ["run", "orders.toml", "-o", "out", "--dask", "slurm", "--option", "queue"],
            2,
            "--option queue: expected KEY=VALUE",
        ),
        (["show", "nowhere"], 3, "nowhere/campaign.json: no such file, expected the folder of a c"),
        (["methods", "nowhere"], 3, "nowhere/campaign.json: no such file, expected the folder of"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_line(campaign, capsys, words, code, message):
    assert main(["campaign", *words]) == code
    assert message in capsys.readouterr().err


def test_an_unknown_metric_or_axis_is_told(campaign, capsys):
    main(["campaign", "run", campaign, "-o", "out", "--quiet"])
    assert main(["campaign", "show", "out", "--metric", "mean_wait"]) == 3
    assert "--metric mean_wait: unknown" in capsys.readouterr().err
    assert main(["campaign", "show", "out", "--by", "colour"]) == 3
    assert "colour" in capsys.readouterr().err


def test_results_can_be_compared_by_a_parameter_or_by_seed(campaign, capsys):
    main(["campaign", "run", campaign, "-o", "out", "--quiet"])
    assert main(["campaign", "show", "out", "--by", "policy.order"]) == 0
    assert "sjf better than fcfs by" in capsys.readouterr().out
    assert main(["campaign", "show", "out", "--by", "seed"]) == 0
    lines = capsys.readouterr().out.splitlines()
    verdicts = [line for line in lines if line.startswith("mean_waiting_time: ")]
    assert all(" and " in line or " than " in line for line in verdicts)


def test_show_tells_why_there_is_nothing_to_show(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    campaign_of_a_bad_policy(tmp_path, "raise ValueError('no')")
    assert main(["campaign", "run", "c.toml", "-o", "out", "--quiet"]) == 1
    assert main(["campaign", "run", "c.toml", "-o", "out"]) == 1
    assert "not done again without --retry-failed" in capsys.readouterr().err
    assert main(["campaign", "show", "out"]) == 3
    assert "no run is done: 1 runs failed: left out; the first error is: t=0" in (
        capsys.readouterr().err
    )


def test_plan_tells_of_a_policy_that_ends_its_process(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    campaign_of_a_bad_policy(tmp_path, "os._exit(3)")
    assert main(["campaign", "plan", "c.toml"]) == 0
    assert "a sample failed: the process of the run ended with exit code 3" in (
        capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (59.6, "1 min 0 s"),
        (185, "3 min 5 s"),
        (7800, "2 h 10 min"),
        (float("inf"), "-"),
    ],
)
def test_durations_are_written_for_people(seconds, text):
    assert duration_text(seconds) == text


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_on_a_terminal_a_table_tells_how_far_a_campaign_is(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    display = CampaignDisplay(silent=False)
    display.look(Tally(n_runs=10, n_found=2, n_done=3, n_failed=1, last_failure="a [bad] run"))
    display.close()
    shown = terminal.getvalue()
    assert "5/10" in shown
    assert "time left" in shown
    assert "last failure: a [bad] run" in shown


def test_where_nobody_looks_nothing_is_shown(monkeypatch):
    said = io.StringIO()
    monkeypatch.setattr(sys, "stderr", said)
    CampaignDisplay(silent=False).look(Tally(n_runs=10))
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    CampaignDisplay(silent=True).look(Tally(n_runs=10))
    assert said.getvalue() == terminal.getvalue() == ""
