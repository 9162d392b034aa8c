"""The studies run, and print what the papers print."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STUDIES = ROOT / "studies"
TRACES = Path(os.environ.get("NOCTULE_SHARED", ROOT.parent / "shared")) / "traces"

pytest.importorskip("pyarrow")


def study(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(STUDIES / "run.py"), name, *words]
    environment = os.environ | {"NOCTULE_CACHE": str(ROOT / "no-such-cache"), "NOCTULE_SHARED": ""}
    return subprocess.run(command, check=False, capture_output=True, text=True, env=environment)


def test_rigid_replay_gives_the_published_figures(tmp_path):
    if not TRACES.is_dir():
        pytest.skip(f"no {TRACES}; NOCTULE_SHARED names the folder of the shared reference data")
    answer = study("feedback-rigid", "--logs", str(TRACES), "-o", str(tmp_path / "out"))
    assert answer.returncode == 0, answer.stdout + answer.stderr
    lines = [line.split() for line in answer.stdout.splitlines()]
    assert ["EASY", "mean_waiting_time", "0.07", "0.069", "-1.83%", "digits", "ok"] in lines
    assert sum(line[-1:] == ["ok"] for line in lines) == 18


def test_a_figure_that_differs_fails_the_study(tmp_path, monkeypatch, capsys):
    import runpy
    from decimal import Decimal

    import pandas as pd

    report = runpy.run_path(str(STUDIES / "run.py"))["report"]
    published = {
        "source": "a paper",
        "unit": "h",
        "row": [{"label": "x", "runs": {"policy": "x"}, "figures": {"makespan": Decimal("1.50")}}],
    }
    for seconds, agrees in ((5400.0, True), (5417.0, True), (5419.0, False)):
        results = pd.DataFrame({"policy": ["x"], "bound": [""], "makespan": [seconds]})
        assert report(published, results) is agrees
    assert "DIFFERS" in capsys.readouterr().out


def test_the_workloads_of_batsim_s_validation_run(tmp_path):
    answer = study("batsim-validation", "-o", str(tmp_path / "out"))
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("27 runs, 0 failed")


def claims_of(rows, capsys):
    """Judge a claim on rows of (policy, communication, seed, makespan)."""
    import runpy

    import pandas as pd

    judge = runpy.run_path(str(STUDIES / "run.py"))["report_claims"]
    columns = ["policy", "workload.communication", "seed", "makespan"]
    table = pd.DataFrame(rows, columns=columns)
    table = table.assign(bound="", status="done", platform="x")
    table["workload"] = [f"some(communication={f})" for f in table["workload.communication"]]
    claims = {
        "source": "a paper",
        "metric": "makespan",
        "unit": "days",
        "baseline": "basic",
        "along": "workload.communication",
        "shown": [0.0, 2.0],
        "from": 1.0,
        "experiments": {"all": {"workload": "some(*"}},
        "claim": [{"better": "local", "worse": "basic", "experiments": ["all"]}],
    }
    return judge(claims, table), capsys.readouterr().out


def test_a_claim_is_held_to_the_runs_that_it_is_about(capsys):
    # without communication local is worse, with it a tenth better, give or take the seed
    rows = [
        (policy, factor, seed, 86_400.0 * (10 + seed + gain))
        for seed in range(8)
        for factor in (0.0, 1.0, 2.0)
        for policy, gain in (("basic", 0), ("local", 3 if factor == 0 else -1 - seed / 100))
    ]
    holds, out = claims_of(rows, capsys)
    assert holds
    assert "local   basic  -7.7 %" in out
    assert "DOES NOT HOLD" not in out
    holds, out = claims_of([(p, f, s, 86_400.0 * (10 + s)) for p, f, s, _ in rows], capsys)
    assert not holds
    assert "DOES NOT HOLD" in out


def test_the_platforms_of_the_study_of_locality_are_what_its_script_writes():
    import runpy

    import noctule as nt
    from noctule.hierarchy import groups_of

    folder = STUDIES / "locality"
    written = runpy.run_path(str(folder / "platforms.py"))["platforms"]()
    assert {f"{name}.xml" for name in written} == {p.name for p in folder.glob("platforms/*")}
    for name, text in written.items():
        path = folder / "platforms" / f"{name}.xml"
        assert path.read_text() == text
        assert groups_of(nt.load_platform(path)).tolist() == [i // 16 for i in range(128)]


def test_local_jobs_are_sooner_done_where_they_communicate_much():
    import noctule as nt
    from noctule import synthetic
    from noctule.errors import InputError
    from noctule.testing import a_job, a_workload

    platform = nt.load_platform(STUDIES / "locality" / "platforms" / "homogeneous.xml")
    sizes = [3 + i % 14 for i in range(80)]
    log = a_workload(*(a_job(i, hosts=n, runtime=3600 + 100 * i) for i, n in enumerate(sizes)))
    makespan = {}
    for policy in ("conservative", "conservative(allocation=local)"):
        workload = synthetic.locality2017(80, seed=1, jobs_from=log, communication=20e7)
        try:
            schedule = nt.simulate(platform, workload, policy)
        except InputError as error:
            pytest.skip(str(error))
        assert set(schedule.column("state").tolist()) == {"completed"}
        makespan[policy] = schedule.column("finish_time").max()
    assert makespan["conservative(allocation=local)"] < makespan["conservative"]


def budget_results(effects):
    """Return runs of a campaign in which a policy has so much more utilisation than EASY."""
    import pandas as pd

    rows = [
        {
            "workload": f"{log}(start={week})",
            "policy": policy if policy == "EASY" else f"{policy}(budget={budget})",
            "policy.budget": float("nan") if policy == "EASY" else budget,
            "until": until,
            "bound": "",
            "status": "done",
            "utilisation": 0.5 + week / 100 + effect + week * effect / 1000,
            "mean_bounded_slowdown": 100 - 50 * effect - week * effect,
            "mean_power": 95 * n_hosts * (1 + effect),
            "n_ended": 90,
            "n_running": 10,
        }
        for policy, effect in effects.items()
        for budget in ((1.0,) if policy == "EASY" else (1.0, 0.5))
        for log, n_hosts in (("kth", 100), ("sdsc", 128))
        for week in range(5)
        for until in (604_800.0, float("inf"))
    ]
    return pd.DataFrame(rows)


def test_the_report_of_energy_budgets_measures_and_judges():
    import runpy

    report = runpy.run_path(str(STUDIES / "energy-budget" / "report.py"))
    effects = {"EASY": 0.0, "powercap": -0.2, "energyBud": -0.1, "energyBud+": -0.3}
    effects |= {"reducePC": -0.2}
    table = report["measured"](budget_results(effects))
    assert len(table) == 10 * (1 + 4 * 2)
    first = table[(table.policy == "powercap") & (table.budget == 0.5)].iloc[0]
    assert first["n_started"] == 100
    # of all that can be drawn in four days at 100 % and three at 50 %
    assert first["energy"] == pytest.approx(95 * 0.8 / (203.12 * (4 + 1.5) / 7))
    claim = {
        "measure": "utilisation",
        "policy": "energyBud",
        "than": "powercap",
        "is": "larger",
        "budgets": [100, 50],
    }
    whole, above = (report["judged"](table, claim, reading) for reading in report["READINGS"])
    assert report["holds"](claim, whole)
    assert not report["holds"](claim, above)
    assert not report["holds"](claim | {"is": "same", "within": 1.0}, whole)
    same = report["judged"](table, claim | {"policy": "reducePC"}, "whole")
    assert report["holds"](claim | {"is": "same", "within": 1.0}, same)
    easy = 0.5 + 0.02
    assert report["baseline"](table, 0.5) == pytest.approx(easy * (3 / 7 * 0.5 + 4 / 7))


def test_the_report_of_energy_budgets_is_what_its_claims_expect():
    import tomllib

    page = (ROOT / "docs" / "studies" / "energy-budget" / "index.md").read_text()
    claims = tomllib.loads((STUDIES / "energy-budget" / "claims.toml").read_text())["claim"]
    assert "unexpected" not in page
    assert "{{" not in page
    told = [line.split(" | ") for line in page.splitlines() if line.startswith("| 6.5.")]
    for claim, (_, says, *answers) in zip(claims, told, strict=True):
        assert says.startswith(claim["says"])
        assert [answer.startswith("holds") for answer in answers] == claim["here"]


def test_without_the_log_a_study_says_how_to_get_it(tmp_path):
    answer = study("feedback-rigid", "-o", str(tmp_path / "out"))
    assert answer.returncode == 3
    assert "`noctule trace fetch kth-sp2` downloads it, --logs DIR names another" in answer.stderr


@pytest.mark.parametrize(
    "path", sorted(STUDIES.glob("*/campaign.toml")), ids=lambda p: p.parent.name
)
def test_every_study_says_what_it_is_about(path):
    assert path.parent.name in (STUDIES / "README.md").read_text()
    assert (path.parent / "README.md").read_text().startswith("# ")


def shutdown_results():
    """Return runs in which inertial shutdown saves more on KTH, and less on SDSC."""
    import pandas as pd

    easy = {"policy": "easy"}
    shut = {"policy": "proportional(rho=1)", "policy.rho": 1.0, "policy.t_idle": 300.0}
    inertial = {"policy": "inertial(x)", "policy.t_idle": float("inf")}
    inertial |= {"policy.upper_bound": 10_000.0}
    rows = []
    for log, n_hosts, joules, makespan, utilisation, better in (
        ("kth", 100, 4.6133e11, 28_763_776, 0.68297, -1),
        ("sdsc", 128, 1.2761e12, 63_022_608, 0.66009, 1),
    ):
        for policy, share in ((easy, 1.0), (shut, 0.87), (inertial, 0.87 + 0.01 * better)):
            idle = n_hosts * makespan * (1 - utilisation) * 95
            rows.append(
                policy
                | {
                    "workload": log,
                    "bound": "",
                    "status": "done",
                    "joules": joules * share,
                    "makespan": makespan,
                    "utilisation": utilisation,
                    "offline_saving": 0.8 * idle,
                    "mean_waiting_time": 6000.0,
                    "max_waiting_time": 9000.0,
                    "n_switches": 0 if policy is easy else 10,
                }
            )
    columns = [f"policy.{n}" for n in ("period", "run_on_period", "growth", "future_switches")]
    return pd.DataFrame(rows).assign(**dict.fromkeys(columns, 1.0))


def test_the_report_of_shutdown_bills_twice_and_judges():
    import runpy

    report = runpy.run_path(str(STUDIES / "shutdown" / "report.py"))
    table = report["measured"](shutdown_results())
    assert table["family"].tolist() == ["EASY", "OS", "inertial"] * 2
    easy = table[table["family"] == "EASY"].set_index("log")
    # at 95 W all hosts draw the same all the time
    assert easy.loc["kth", "joules_then"] == pytest.approx(95 * 100 * 28_763_776, rel=1e-3)
    assert easy.loc["sdsc", "joules_then"] == pytest.approx(95 * 128 * 63_022_608, rel=1e-3)
    figures = [{"log": "kth", "measure": "joules_then", "printed": 2.73e11}]
    assert report["figure_lines"](table, figures)[1]
    assert not report["figure_lines"](table, [figures[0] | {"printed": 2.75e11}])[1]
    claim = {"section": "7", "says": "", "measure": "energy", "low": "inertial", "high": "OS"}
    assert report["claim_lines"](table, [claim | {"log": "kth"}])[1]
    assert not report["claim_lines"](table, [claim | {"log": "sdsc"}])[1]
    assert report["claim_lines"](table, [claim | {"log": "sdsc", "here": False}])[1]
    # the ceiling: 80 % of what idle hosts draw
    idle = 100 * 28_763_776 * (1 - 0.68297) * 95
    least = table.loc[table["log"] == "kth", "joules_least"]
    assert least.iloc[0] == pytest.approx(4.6133e11 - 0.8 * idle, rel=1e-3)
    assert report["is_optimal"](table).tolist() == [False, False, True, False, True, False]


def test_the_campaign_of_shutdown_has_all_instances_of_the_thesis():
    from noctule.campaign import Campaign, Plan

    if not TRACES.is_dir():
        pytest.skip(f"no {TRACES}; NOCTULE_SHARED names the folder of the shared reference data")
    campaign = Campaign.load(STUDIES / "shutdown" / "campaign.toml", logs=TRACES)
    policies = [run.spec.policy for run in Plan(campaign)]
    assert len(policies) == 1282
    assert sum(policy.startswith("inertial") for policy in policies) == 2 * 480
    assert sum(policy.startswith("proportional") for policy in policies) == 2 * 160
