"""Kilograms and euros of runs, by job, by user and in all, told by hand."""

from __future__ import annotations

import csv
import json
import math

import pytest
from power_runs import SLOW, night_and_day, run
from small_runs import Scripted, job

import noctule as nt
from noctule import metrics
from noctule.cli import main
from noctule.errors import InputError
from noctule.footprint import Footprint
from noctule.footprint_files import footprint_texts, load_saved_rates
from noctule.messages import CallAt, JobSubmitted, SetPowerState, StartJob, TimerFired
from noctule.rates import NO_RATES, Rate, Rates
from noctule.workload import Compute, Delay, Request, Sequence

#: So that 1 J of the first 5 s is 0.1 mg and 1 J of those up to 60 s 0.2 mg; then it is 0.01 mg.
CARBON = Rate((0.0, 5.0, 60.0), (360.0, 720.0, 36.0))
#: 1 J is 1 micro-euro.
PRICE = Rate.constant(3.6)
BOTH = Rates(CARBON, PRICE)


def rows(text: str) -> list[list[str]]:
    return [line.split(",") for line in text.splitlines()]


# In memory


@pytest.mark.parametrize("energy", ["exact", "simgrid"])
def test_a_run_emits_its_power_times_the_intensity(energy):
    """0 to 5: 250 W; to 10: 210 W; to 50: 110 W; to 60: 250 W; to 80: 400 W."""
    found = Footprint(night_and_day(energy=energy), BOTH).run
    milligrams = 1250 * 0.1 + (1050 + 4400 + 2500) * 0.2 + 8000 * 0.01
    assert found["joules"] == 17200
    assert found["co2_kg"] == pytest.approx(milligrams * 1e-6, rel=1e-15)
    assert found["cost_eur"] == pytest.approx(17200e-6, rel=1e-15)


def test_a_job_emits_its_joules_at_the_intensity_of_its_time():
    """A draws 200 W from 0 to 10, half of it at either intensity; B 400 W from 60 to 80."""
    found = Footprint(night_and_day(), BOTH)
    assert found.jobs["job_id"].tolist() == ["A", "B"]
    assert found.of_jobs["joules"].tolist() == [2000, 8000]
    expected = [(1000 * 0.1 + 1000 * 0.2) * 1e-6, 8000 * 0.01 * 1e-6]
    assert found.of_jobs["co2_kg"] == pytest.approx(expected, rel=1e-15)
    assert found.of_jobs["cost_eur"] == pytest.approx([2000e-6, 8000e-6], rel=1e-15)


def test_what_no_job_drew_is_nobodys():
    """Host 1: 5 s at 50 W, 45 s at 10 W, 10 s at 150 W; host 0: 50 s at 100 W."""
    found = Footprint(night_and_day(), BOTH).nobody
    assert found["joules"] == 250 + 450 + 1500 + 5000
    milligrams = 250 * 0.1 + (450 + 1500 + 5000) * 0.2
    assert found["co2_kg"] == pytest.approx(milligrams * 1e-6, rel=1e-12)
    assert found["cost_eur"] == pytest.approx(7200e-6, rel=1e-12)


def test_users_have_the_sums_of_their_jobs():
    jobs = [
        nt.Job(i, 100.0 * i, Request(1), Compute(10), user=user)
        for i, user in enumerate(["ada", "bob", "ada", None])
    ]
    rate = Rate((0.0, 150.0), (3.6, 36.0), 1000.0)
    found = Footprint(run("fcfs", jobs), Rates(price=rate))
    assert list(found.users.index) == ["ada", "bob", None]
    assert list(found.users.columns) == ["n_jobs", "joules", "cost_eur"]
    assert found.by_user["ada"]["n_jobs"] == 2
    assert found.users["joules"].tolist() == [4000, 2000, 2000]
    assert found.users["cost_eur"].tolist() == pytest.approx([0.022, 0.002, 0.02], rel=1e-15)


def test_only_what_rates_tell_is_told():
    assert list(Footprint(night_and_day(), Rates(carbon=CARBON)).run) == ["joules", "co2_kg"]
    assert list(Footprint(night_and_day(), NO_RATES).of_jobs) == ["joules"]


def test_joules_of_a_job_that_draws_unevenly_are_spread_evenly():
    """It draws 200 W for 10 s and 100 W for 10 s more, the latter at ten times the price."""
    jobs = [nt.Job("A", 0.0, Request(1), Sequence([Compute(10), Delay(10)]))]
    rate = Rate((0.0, 10.0), (3.6, 36.0))
    found = Footprint(run("fcfs", jobs, n=1), Rates(price=rate))
    assert found.run["cost_eur"] == pytest.approx(2000e-6 + 10_000e-6, rel=1e-15)
    assert found.of_jobs["cost_eur"][0] == pytest.approx(1500e-6 + 15_000e-6, rel=1e-15)
    assert found.of_jobs["cost_eur"][0] + found.nobody["cost_eur"] == found.run["cost_eur"]


def test_jobs_that_may_draw_unevenly_are_counted():
    """A pauses at 10, B only computes, as does C, which A and B do not see."""
    jobs = [
        nt.Job("A", 0.0, Request(1), Sequence([Compute(10), Delay(10)])),
        nt.Job("B", 0.0, Request(1), Compute(15)),
        nt.Job("C", 12.0, Request(1), Compute(15)),
    ]
    # while B ran, power changed at 10: that it was A's is not known
    assert Footprint(run("fcfs", jobs, n=3), NO_RATES).n_uneven == 2
    assert Footprint(run("fcfs", jobs[1:], n=3), NO_RATES).n_uneven == 0
    assert Footprint(run("fcfs", jobs[1:], n=3, launch_delay=2), NO_RATES).n_uneven == 2
    assert Footprint(night_and_day(), NO_RATES).n_uneven == 0


def test_hosts_that_are_slowed_down_under_a_job_make_it_uneven():
    def decide(view, events):
        yield from (StartJob(waiting) for waiting in view.waiting)
        for event in events:
            if isinstance(event, JobSubmitted):
                yield CallAt(4)
            elif isinstance(event, TimerFired):
                yield SetPowerState([0], SLOW)

    schedule = run(Scripted(decide), [job("A", runtime=10)], n=1)
    assert Footprint(schedule, NO_RATES).n_uneven == 1


def test_jobs_that_share_a_host_have_equal_parts_of_it():
    """Both compute on host 0 up to 40, then A does up to 120; host 1 is idle."""

    def decide(view, events):
        yield from (StartJob(waiting, [0]) for waiting in view.waiting)

    jobs = [job("A", runtime=100), job("B", runtime=20)]
    found = Footprint(run(Scripted(decide), jobs, share_hosts=True), Rates(price=PRICE))
    assert dict(zip(found.jobs["job_id"], found.jobs["joules"], strict=True)) == {
        "B": 40 * 100,
        "A": 40 * 100 + 80 * 200,
    }
    assert found.nobody["joules"] == 120 * 100


def test_jobs_that_never_ended_have_no_joules_of_their_own():
    jobs = [job("A", runtime=100), job("B", runtime=20), job("C", runtime=5)]
    found = Footprint(run("fcfs", jobs, n=1, until=50), Rates(price=PRICE))
    assert found.jobs["cost_eur"].isna().all()
    assert found.nobody["cost_eur"] == found.run["cost_eur"] == pytest.approx(0.01, rel=1e-15)


def test_a_job_that_takes_no_time_costs_nothing():
    found = Footprint(run("fcfs", [job("A", runtime=0), job("B")]), Rates(price=PRICE))
    assert dict(zip(found.jobs["job_id"], found.jobs["cost_eur"], strict=True))["A"] == 0


def test_rates_must_cover_the_run():
    with pytest.raises(
        InputError, match="got values up to 30 s of the run, expected some up to 80"
    ):
        Footprint(night_and_day(), Rates(carbon=Rate((0.0, 15.0), (1.0, 2.0))))


def test_energy_must_have_been_counted():
    with pytest.raises(InputError, match="schedule: no energy was counted"):
        Footprint(run("fcfs", [job("A")], energy="off"), BOTH)


# Metrics


def test_the_metrics_are_those_of_the_window():
    found = metrics.summary(night_and_day(), warm_up=10, cool_down=20, rates=BOTH)
    assert list(found)[-2:] == [metric.name for metric in metrics.FOOTPRINT]
    assert found["co2_kg"] == pytest.approx((4400 + 2500) * 0.2e-6, rel=1e-15)
    assert found["cost_eur"] == pytest.approx(6900e-6, rel=1e-15)
    assert "co2_kg" not in metrics.summary(night_and_day(), rates=Rates(price=PRICE))
    assert "co2_kg" not in metrics.summary(run("fcfs", [job("A")], energy="off"), rates=BOTH)
    stopped = metrics.summary(run("fcfs", [job("A", runtime=100)], until=10), rates=BOTH)
    assert math.isnan(stopped["co2_kg"])


# Files


def test_the_files_have_a_line_a_user_and_a_line_a_job():
    files = {n: "".join(t) for n, t in footprint_texts(Footprint(night_and_day(), BOTH))}
    assert list(files) == ["footprint.csv", "job_footprint.csv", "carbon.csv", "price.csv"]
    assert files["footprint.csv"].splitlines() == [
        "part,user,n_jobs,joules,co2_kg,cost_eur",
        "unknown,,2,10000.000000,0.000380000,0.010000000",
        "nobody,,0,7200.000000,0.001415000,0.007200000",
        "run,,2,17200.000000,0.001795000,0.017200000",
    ]
    assert files["job_footprint.csv"].splitlines() == [
        "job_id,workload_name,user,joules,co2_kg,cost_eur",
        "A,w0,,2000.000000,0.000300000,0.002000000",
        "B,w0,,8000.000000,0.000080000,0.008000000",
    ]
    assert files["carbon.csv"] == "time,value\n0.0,360.0\n5.0,720.0\n60.0,36.0\n"
    assert files["price.csv"] == "time,value\n0.0,3.6\n"


def test_names_with_commas_are_quoted_and_jobs_that_never_ran_have_nothing():
    jobs = [
        nt.Job("A, B", 0.0, Request(1), Compute(1), user='the "user", who'),
        nt.Job("C", 0.0, Request(9), Compute(1), user="x"),
    ]
    files = dict(footprint_texts(Footprint(run("fcfs", jobs), Rates(price=PRICE))))
    read = list(csv.reader("".join(files["job_footprint.csv"]).splitlines()))
    assert sorted(row[::2] for row in read[1:]) == [
        ["A, B", 'the "user", who', "0.000200000"],
        ["C", "x", ""],
    ]


def test_rates_are_read_back_as_they_were(tmp_path):
    rates = Rates(Rate((0.1, 0.7), (1e-9, 3.0), 1e5 / 3), Rate((0.0, 1 / 3), (-0.5, 2.0)))
    schedule = run("fcfs", [job("A", runtime=0.1)])
    for name, pieces in footprint_texts(Footprint(schedule, rates)):
        (tmp_path / name).write_text("".join(pieces))
    read = load_saved_rates(tmp_path)
    assert (read.carbon.time, read.price) == (rates.carbon.time, rates.price)
    assert read.carbon.period == pytest.approx(rates.carbon.period, rel=1e-15)
    assert load_saved_rates(tmp_path / "nowhere") == NO_RATES


# The command line


@pytest.fixture
def _inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    swf = "; MaxProcs: 2\n; UnixStartTime: 0\n"
    swf += "1 0 -1 10 1 -1 -1 1 100 -1 1 7 -1 -1 -1 -1 -1 -1\n"
    swf += "2 60 -1 20 2 -1 -1 2 100 -1 1 8 -1 -1 -1 -1 -1 -1\n"
    (tmp_path / "log.swf").write_text(swf)
    platform = "[[hosts]]\ncount = 2\npower = { idle = 100, computing = 200 }\n"
    (tmp_path / "p.toml").write_text(platform)
    (tmp_path / "carbon.csv").write_text("time,value\n0,360\n5,720\n60,36\n")
    (tmp_path / "day.csv").write_text("time,value\n1970-01-01,1\n1970-01-02,repeat\n")


def command(*words: str) -> int:
    policy = ("--platform", "p.toml", "--policy", "fcfs", "-o", "out", "--quiet")
    return main(["run", "log.swf", *policy, *words])


@pytest.mark.usefixtures("_inputs")
def test_a_run_keeps_its_carbon_and_its_price(tmp_path, capsys):
    assert command("--energy", "exact", "--carbon", "carbon.csv", "--price", "3.6") == 0
    # 300 W up to 10, then 200 W, and 400 W from 60 on
    milligrams = 1500 * 0.1 + (1500 + 10_000) * 0.2 + 8000 * 0.01
    assert rows((tmp_path / "out" / "footprint.csv").read_text()) == [
        ["part", "user", "n_jobs", "joules", "co2_kg", "cost_eur"],
        ["user", "7", "1", "2000.000000", "0.000300000", "0.002000000"],
        ["user", "8", "1", "8000.000000", "0.000080000", "0.008000000"],
        ["nobody", "", "0", "11000.000000", "0.002150000", "0.011000000"],
        ["run", "", "2", "21000.000000", f"{milligrams * 1e-6:.9f}", "0.021000000"],
    ]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["options"]["footprint"] == {"carbon": "carbon.csv", "price": "3.6"}
    assert [file["path"] for file in manifest["inputs"]] == ["log.swf", "p.toml", "carbon.csv"]
    assert "power.csv" in [file["path"] for file in manifest["outputs"]]
    assert main(["metrics", "out", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["runs"]
    assert told["metrics"]["co2_kg"] == pytest.approx(milligrams * 1e-6, rel=1e-12)
    assert told["metrics"]["cost_eur"] == pytest.approx(21_000e-6, rel=1e-12)
    assert main(["rerun", "out/manifest.json", "--quiet"]) == 0
    assert command("--energy", "exact", "--price", "1", "--force") == 0
    assert not (tmp_path / "out" / "carbon.csv").exists()


@pytest.mark.usefixtures("_inputs")
def test_a_run_says_how_many_jobs_may_have_drawn_unevenly(capsys):
    words = ["run", "log.swf", "--platform", "p.toml", "--policy", "fcfs", "--energy", "exact"]
    said = "2 jobs may have drawn more at one time than at another: what they emitted and cost is"
    for more, is_said in (
        (["--price", "1"], False),
        (["--price", "1", "--launch-delay", "2"], True),
        (["--launch-delay", "2"], False),
    ):
        assert main([*words, *more]) == 0
        assert (said in capsys.readouterr().err) == is_said


@pytest.mark.usefixtures("_inputs")
def test_a_run_done_again_finds_its_series_and_refuses_another(tmp_path, monkeypatch, capsys):
    assert command("--energy", "exact", "--carbon", "carbon.csv") == 0
    for name in ("log.swf", "p.toml"):
        (tmp_path / "out" / name).write_bytes((tmp_path / name).read_bytes())
    (tmp_path / "carbon.csv").write_text("time,value\n0,1\n")
    assert main(["rerun", "out/manifest.json"]) == 3
    assert "carbon.csv: has changed since the run" in capsys.readouterr().err


@pytest.mark.usefixtures("_inputs")
def test_dates_of_a_series_are_those_of_the_log(tmp_path):
    assert command("--energy", "exact", "--carbon", "day.csv") == 0
    assert (tmp_path / "out" / "carbon.csv").read_text() == "time,value\n0.0,1.0\n86400.0,repeat\n"


@pytest.mark.usefixtures("_inputs")
def test_a_run_that_begins_with_the_first_submission_begins_at_its_date(tmp_path):
    later = (tmp_path / "log.swf").read_text().replace("1 0 -1 10", "1 40 -1 10")
    (tmp_path / "log.swf").write_text(later)
    assert command("--energy", "exact", "--carbon", "day.csv") == 0
    text = (tmp_path / "out" / "carbon.csv").read_text()
    assert text == "time,value\n-40.0,1.0\n86360.0,repeat\n"


@pytest.mark.usefixtures("_inputs")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--carbon", "1"], "--carbon: no energy is counted, expected --energy exact or simgrid"),
        (["--price", "1"], "--price: no energy is counted, expected --energy exact or simgrid"),
        (["--energy", "exact", "--carbon", "-1"], "carbon: got '-1', expected a number >= 0"),
        (["--energy", "exact", "--carbon", "no.csv"], "no.csv: no such file"),
        (
            ["--energy", "exact", "--carbon", "late.csv"],
            "late.csv: line 2: got 5 s of the run as the first date, expected 0 or before",
        ),
        (
            ["--energy", "exact", "--carbon", "short.csv"],
            "short.csv: line 3: got values up to 40 s of the run, expected some up to 60, or a "
            "last line such as 86400,repeat",
        ),
        (
            ["--energy", "exact", "--price", "shorter.csv"],
            "shorter.csv: line 3: got values up to 70 s of the run, expected some up to 80, or a "
            "last line such as 86400,repeat",
        ),
    ],
)
def test_what_is_wrong_with_a_series_is_a_sentence(tmp_path, capsys, words, message):
    (tmp_path / "late.csv").write_text("time,value\n5,1\n")
    (tmp_path / "short.csv").write_text("time,value\n0,1\n20,2\n")
    (tmp_path / "shorter.csv").write_text("time,value\n0,1\n35,2\n")
    assert command(*words) == 3
    assert capsys.readouterr().err.splitlines()[-1] == f"noctule: {message}"
    assert not (tmp_path / "out").exists()
