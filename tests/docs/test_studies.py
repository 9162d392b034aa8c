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
