"""Campaigns that count energy, and what it emits and costs."""

from __future__ import annotations

import pytest
from campaign_files import described

from noctule import load_platform, load_workload, metrics, simulate
from noctule.campaign import LocalWorkers, Plan, load_results, run_campaign
from noctule.campaign.about import read_about
from noctule.campaign.methods import methods_paragraph
from noctule.errors import InputError
from noctule.offline_ceiling import offline_ceiling
from noctule.rates import Rate, Rates
from noctule.traces import select

pytest.importorskip("pyarrow")


POWERED = """
[[hosts]]
count = 4
speed = "1f"
power = { idle = 100, computing = 200 }
"""


def test_a_campaign_that_counts_energy_has_columns_of_it(tmp_path):
    (tmp_path / "powered.toml").write_text(POWERED)
    campaign = described(
        tmp_path,
        platforms={"powered": "powered.toml"},
        options={"energy": ["off", "exact"]},
        bounds=["unlimited"],
    )
    run_campaign(campaign, tmp_path / "out", LocalWorkers(1))
    platform = load_platform(tmp_path / "powered.toml")
    workload = load_workload(tmp_path / "log.swf")
    expected = metrics.summary(simulate(platform, workload, "easy", energy="exact"))
    table = load_results(tmp_path / "out")
    assert table["status"].tolist() == ["done"] * 4
    counted = table[(table["energy"] == "exact") & (table["bound"] == "")].iloc[0]
    for metric in metrics.ENERGY:
        assert counted[metric.name] == expected[metric.name]
        assert table[metric.name].isna().sum() == 3


def powered_campaign(folder, measures):
    (folder / "powered.toml").write_text(POWERED)
    return described(
        folder,
        platforms={"powered": "powered.toml"},
        options={"energy": "exact"},
        bounds=["unlimited"],
        measures=measures,
    )


def test_a_campaign_with_rates_tells_carbon_and_price(tmp_path):
    (tmp_path / "day.csv").write_text("time,value\n0,100\n60,300\n120,repeat\n")
    measures = {"carbon": "day.csv", "price": 0.25, "warm_up": 60}
    campaign = powered_campaign(tmp_path, measures)
    run_campaign(campaign, tmp_path / "out", LocalWorkers(1))
    platform = load_platform(tmp_path / "powered.toml")
    workload = load_workload(tmp_path / "log.swf")
    schedule = simulate(platform, workload, "easy", energy="exact")
    rates = Rates(Rate((0.0, 60.0), (100.0, 300.0), 120.0), Rate.constant(0.25))
    table = load_results(tmp_path / "out")
    for prefix, warm_up in (("", 0), ("trimmed_", 60)):
        expected = metrics.summary(schedule, warm_up=warm_up, rates=rates)
        for metric in metrics.FOOTPRINT:
            assert table[f"{prefix}{metric.name}"][0] == expected[metric.name] > 0
    assert table["co2_kg"].isna().tolist() == [False, True]
    told = methods_paragraph(read_about(tmp_path / "out"))
    assert "The carbon of a kWh is told by day.csv (SHA-256 " in told
    assert "The price of a kWh is 0.25 EUR." in told


def test_a_campaign_tells_what_sleeping_could_have_saved_if_it_is_asked(tmp_path):
    run_campaign(powered_campaign(tmp_path, {"offline": True}), tmp_path / "out", LocalWorkers(1))
    platform, workload = (
        load_platform(tmp_path / "powered.toml"),
        load_workload(tmp_path / "log.swf"),
    )
    schedule = simulate(platform, workload, "easy", energy="exact")
    window = metrics.window_of(schedule)
    expected = offline_ceiling(schedule, window.start, window.end).saved_joules
    assert load_results(tmp_path / "out")["offline_saving"][0] == expected
    with pytest.raises(InputError, match=r"measures.offline: no energy is counted"):
        described(tmp_path, measures={"offline": True})


def test_jobs_may_be_left_out_that_their_walltimes_end(tmp_path):
    log = {"file": "log.swf", "in_time": [True, False]}
    run_campaign(described(tmp_path, workloads={"log": log}), tmp_path / "out", LocalWorkers(1))
    workload = load_workload(tmp_path / "log.swf")
    kept = select(workload, in_time=True)
    assert 0 < len(kept) < len(workload)
    assert load_results(tmp_path / "out")["n_jobs"].tolist() == [len(kept), len(workload)]


def test_only_the_first_jobs_may_be_kept(tmp_path):
    log = {"file": "log.swf", "first_jobs": [2, 3, 10_000]}
    run_campaign(described(tmp_path, workloads={"log": log}), tmp_path / "out", LocalWorkers(1))
    n_jobs = len(load_workload(tmp_path / "log.swf"))
    table = load_results(tmp_path / "out")
    assert table["n_jobs"].tolist() == [2, 3, n_jobs]
    assert table["workload"][0] == "log(first_jobs=2)"


def test_a_run_is_done_again_if_its_series_has_changed_and_only_then(tmp_path):
    keys = []
    for folder, text in (("a", "0,1"), ("b", "0,1"), ("c", "0,2")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{folder}.csv").write_text(f"time,value\n{text}\n")
        campaign = powered_campaign(tmp_path / folder, {"carbon": f"{folder}.csv"})
        keys.append(next(iter(Plan(campaign))).spec.key)
    assert keys[0] == keys[1] != keys[2]


def test_a_run_that_a_series_does_not_cover_fails_with_a_sentence(tmp_path):
    (tmp_path / "hour.csv").write_text("time,value\n0,1\n10,2\n")
    run_campaign(
        powered_campaign(tmp_path, {"price": "hour.csv"}), tmp_path / "out", LocalWorkers(1)
    )
    ((error, _),) = {(row, "") for row in load_results(tmp_path / "out")["error"] if row}
    assert "hour.csv: line 3: got values up to 20 s of the run, expected some up to 200" in error
