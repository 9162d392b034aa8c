"""What a schedule tells of energy: tables, any time, files there and back, metrics."""

from __future__ import annotations

import lzma
import math
import os
import re
from pathlib import Path

import numpy as np
import pytest
from power_runs import ASLEEP, FULL, SLOW, night_and_day, run
from small_runs import Scripted, job

import noctule as nt
from noctule import metrics
from noctule.errors import InputError
from noctule.messages import PowerStateChanged, SetPowerState, SimulationStarted, StartJob
from noctule.saved.power_text import ENERGY_FILE, POWER_FILE_NAMES, POWER_STATES_FILE
from noctule.saved.text import FILE_NAMES
from noctule.workload import Compute, Delay, Request, Sequence

RECORDED = Path(os.environ.get("NOCTULE_SHARED", "../shared")) / "vectors" / "batsim" / "v4"
BOTH = pytest.mark.parametrize("energy", ["exact", "simgrid"])


def texts(schedule: nt.Schedule) -> dict[str, str]:
    return {name: "".join(pieces) for name, pieces in schedule.texts()}


# In memory


def test_power_is_a_step_function_of_all_hosts():
    assert night_and_day().energy.power.to_numpy().tolist() == [
        [0, 200 + 50],
        [5, 200 + 10],
        [10, 100 + 10],
        [50, 100 + 150],
        [60, 400],
    ]


@BOTH
def test_joules_of_any_time(energy):
    found = night_and_day(energy=energy).energy
    assert found.joules() == 17200
    assert found.joules(0, 5) == 1250
    assert found.joules(8, 12) == 2 * 210 + 2 * 110
    assert found.joules(end=50) + found.joules(start=50) == 17200
    assert found.joules(70, 1000) == found.joules(70) == 4000
    assert found.joules(90, 100) == 0
    assert found.joules(7, 7) == 0
    assert found.mean_power() == 17200 / 80
    assert found.mean_power(60) == 400
    assert math.isnan(found.mean_power(7, 7))


def test_joules_between_dates_that_fall_are_refused():
    with pytest.raises(InputError, match="energy: got 9 to 3, expected a later date to end with"):
        night_and_day().energy.joules(9, 3)


def test_joules_are_told_by_host_and_by_what_they_were_spent_on():
    found = night_and_day().energy
    table = found.hosts
    assert list(table.columns) == ["name", "idle", "computing", "switching", "sleeping", "joules"]
    assert table.loc[1].tolist() == ["host1", 0, 4000, 1750, 450, 6200]
    assert found.by_spending == {
        "idle": 5000,
        "computing": 10000,
        "switching": 1750,
        "sleeping": 450,
    }


def test_power_states_are_told_with_those_that_hosts_begin_in():
    table = night_and_day().power_states
    assert [[t, str(h), s] for t, h, s in table.to_numpy().tolist()] == [
        [0, "0-1", 0],
        [0, "1", -2],
        [5, "1", 2],
        [50, "1", -1],
        [60, "1", 0],
    ]


def test_host_states_tell_who_sleeps_and_switches():
    table = night_and_day().host_states
    assert list(table.columns) == [
        *("time", "n_idle", "n_computing", "n_sleeping", "n_switching_on", "n_switching_off")
    ]
    assert table.to_numpy().tolist() == [
        [0, 1, 1, 0, 0, 0],
        [0, 0, 1, 0, 0, 1],
        [5, 0, 1, 1, 0, 0],
        [10, 1, 0, 1, 0, 0],
        [50, 1, 0, 0, 1, 0],
        [60, 2, 0, 0, 0, 0],
        [60, 0, 2, 0, 0, 0],
        [80, 2, 0, 0, 0, 0],
    ]


def test_power_over_time_is_a_file_without_rounding(tmp_path):
    schedule = night_and_day()
    assert texts(schedule)["power.csv"].splitlines() == [
        "time,watts",
        "0.0,250.0",
        "5.0,210.0",
        "10.0,110.0",
        "50.0,250.0",
        "60.0,400.0",
        "80.0,400.0",
    ]
    schedule.save(tmp_path)
    assert nt.Schedule.load(tmp_path).energy.joules() == schedule.energy.joules()


def test_power_between_two_lines_is_read_from_the_file_where_it_is_there(tmp_path):
    """A job that pauses draws less meanwhile, of which consumed_energy.csv tells the mean."""
    work = Sequence([Compute(10), Delay(10)])
    schedule = run("fcfs", [nt.Job("A", 0.0, Request(1), work)], n=1)
    schedule.save(tmp_path)
    assert nt.Schedule.load(tmp_path).energy.joules(0, 10) == 2000
    (tmp_path / "power.csv").unlink()
    assert nt.Schedule.load(tmp_path).energy.joules(0, 10) == 1500


def test_a_run_without_energy_says_so():
    schedule = run("fcfs", [job("A")], energy="off")
    assert not schedule.counts_energy
    assert np.isnan(schedule.column("energy")).all()
    with pytest.raises(InputError, match="schedule: no energy was counted, expected a run with"):
        _ = schedule.energy
    assert list(texts(schedule)) == list(FILE_NAMES)


# Files


def test_the_files_are_those_of_batsim():
    files = texts(night_and_day())
    assert list(files) == [*FILE_NAMES, *POWER_FILE_NAMES]
    assert files["consumed_energy.csv"].splitlines() == [
        "time,energy,event_type,wattmin,epower",
        "0.000000,0.000000,s,200.000000,NA",
        "0.000000,0.000000,p,200.000000,NA",
        "5.000000,1250.000000,p,110.000000,250.000000",
        "10.000000,2300.000000,e,110.000000,210.000000",
        "50.000000,6700.000000,p,110.000000,110.000000",
        "60.000000,9200.000000,p,200.000000,250.000000",
        "60.000000,9200.000000,s,200.000000,NA",
        "80.000000,17200.000000,e,200.000000,400.000000",
    ]
    assert files["pstate_changes.csv"].splitlines() == [
        "time,machine_id,new_pstate",
        *("0,0-1,0", "0,1,-2", "5,1,2", "50,1,-1", "60,1,0"),
    ]
    assert files["machine_states.csv"].splitlines()[1:4] == [
        "0,0,0,0,1,1",
        "0,0,0,1,0,1",
        "5,1,0,0,0,1",
    ]
    energies = [line.split(",")[-2] for line in files["jobs.csv"].splitlines()]
    assert energies == ["consumed_energy", "2000.000000", "8000.000000"]


def test_the_totals_are_those_of_batsim():
    header, values = texts(night_and_day())["schedule.csv"].splitlines()
    totals = dict(zip(header.split(","), values.split(","), strict=True))
    assert {name: float(totals[name]) for name in totals if name != "batsim_version"} | {
        "consumed_joules": 17200,
        "nb_grouped_switches": 2,
        "nb_machine_switches": 2,
        "time_computing": 50,
        "time_idle": 50,
        "time_sleeping": 45,
        "time_switching_off": 5,
        "time_switching_on": 10,
    } == {name: float(totals[name]) for name in totals if name != "batsim_version"}


def test_what_is_done_at_once_was_asked_for_before_as_in_batsim():
    def decide(view, events):
        if isinstance(events[0], SimulationStarted):
            yield SetPowerState([0], SLOW)
            yield from (StartJob(one) for one in view.waiting)

    files = texts(run(Scripted(decide), [job("A", runtime=10)]))
    assert files["pstate_changes.csv"].splitlines()[1:] == ["0,0-1,0", "0,0,-1", "0,0,1"]
    assert [line.split(",")[2:4] for line in files["consumed_energy.csv"].splitlines()[1:]] == [
        ["p", "200.000000"],
        ["p", "180.000000"],
        ["s", "180.000000"],
        ["e", "180.000000"],
    ]


@BOTH
@pytest.mark.parametrize("parquet", [False, True])
def test_files_are_read_back(tmp_path, energy, parquet):
    if parquet:
        pytest.importorskip("pyarrow")
    schedule = night_and_day(energy=energy)
    schedule.save(tmp_path, parquet=parquet)
    again = nt.Schedule.load(tmp_path)
    assert texts(again) == texts(schedule)
    assert again.end == 80
    assert again.column("energy").tolist() == [2000, 8000]
    assert again.energy.joules(8, 62) == schedule.energy.joules(8, 62)
    assert again.power_states.equals(schedule.power_states)
    assert again.host_states.equals(schedule.host_states)
    if parquet:
        assert again.energy.power.equals(schedule.energy.power)
        assert again.energy.by_spending == schedule.energy.by_spending
    else:
        assert math.isnan(again.energy.by_spending["idle"])


@pytest.mark.parametrize("parquet", [False, True])
def test_a_schedule_without_energy_leaves_none_of_another(tmp_path, parquet):
    if parquet:
        pytest.importorskip("pyarrow")
    night_and_day().save(tmp_path, parquet=parquet)
    plain = run("fcfs", [job("A")], energy="off")
    plain.save(tmp_path, parquet=parquet)
    assert not nt.Schedule.load(tmp_path).counts_energy
    assert texts(nt.Schedule.load(tmp_path)) == texts(plain)


@pytest.mark.parametrize(
    ("file", "line", "message"),
    [
        ("consumed_energy.csv", "0,0,x,0,NA", "event_type: got 'x', expected one of s, e, p"),
        ("consumed_energy.csv", "0,-1,s,0,NA", "energy: got '-1', expected a number >= 0"),
        ("consumed_energy.csv", "0,0,s,0,no", "epower: got 'no', expected a number, or NA"),
        ("consumed_energy.csv", "-1,0,s,0,NA", "time: got '-1', expected a number >= 0"),
        ("pstate_changes.csv", "0,a,1", "machine_id: got 'a', expected hosts such as 0-3 7"),
        (
            "pstate_changes.csv",
            "0,1,-3",
            "new_pstate: got '-3', expected a power state, or -1 or -2 while hosts switch",
        ),
        ("pstate_changes.csv", "0,1,1e99", "new_pstate: got '1e99', expected a power state, or"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(tmp_path, file, line, message):
    night_and_day().save(tmp_path)
    lines = (tmp_path / file).read_text().splitlines()
    (tmp_path / file).write_text("\n".join([lines[0], line, *lines[2:]]))
    with pytest.raises(InputError) as refused:
        nt.Schedule.load(tmp_path)
    assert str(refused.value).startswith(f"{tmp_path / file}: line 2: {message}")


def test_dates_that_fall_are_refused(tmp_path):
    night_and_day().save(tmp_path)
    with (tmp_path / "consumed_energy.csv").open("a") as file:
        file.write("3,0,s,0,NA\n")
    with pytest.raises(InputError, match="line 10: time: got '3', expected a date from the one be"):
        nt.Schedule.load(tmp_path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("70,1", "line 8: time: got '70', expected a date from the one before on"),
        ("90,-1", "line 8: watts: got '-1', expected a number >= 0"),
        ("90", "line 8: got 1 fields, expected 2"),
    ],
)
def test_power_that_makes_no_sense_is_refused(tmp_path, line, message):
    night_and_day().save(tmp_path)
    with (tmp_path / "power.csv").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(InputError, match=re.escape(f"power.csv: {message}")):
        nt.Schedule.load(tmp_path)


# Metrics


@BOTH
def test_the_metrics_of_energy(energy):
    found = metrics.summary(night_and_day(energy=energy))
    assert list(found)[-5:] == [metric.name for metric in metrics.ENERGY]
    assert found["joules"] == 17200
    assert found["mean_power"] == 215
    assert found["joules_per_job"] == 8600
    assert (found["n_switches"], found["n_switch_groups"]) == (2, 2)


def test_the_metrics_of_energy_are_those_of_the_window():
    found = metrics.summary(night_and_day(), warm_up=10, cool_down=20)
    assert found["joules"] == 40 * 110 + 10 * 250
    assert found["mean_power"] == 6900 / 50
    assert found["joules_per_job"] == 6900  # only B is submitted in it


def test_a_request_for_several_hosts_is_one_group_of_switches():
    def decide(view, events):
        for event in events:
            if isinstance(event, SimulationStarted):
                yield SetPowerState([0, 1, 2], ASLEEP)
                yield SetPowerState([3], SLOW)
            elif isinstance(event, PowerStateChanged) and event.state == ASLEEP:
                yield SetPowerState([0], FULL)
        for waiting in list(view.waiting)[:1]:
            if 3 in view.free:
                yield StartJob(waiting, [3])

    schedule = run(Scripted(decide), [job("A"), job("B", submit=20)], n=4)
    found = metrics.summary(schedule)
    assert (found["n_switches"], found["n_switch_groups"]) == (5, 3)
    totals = dict(
        zip(*(line.split(",") for line in texts(schedule)["schedule.csv"].split()), strict=True)
    )
    assert (totals["nb_machine_switches"], totals["nb_grouped_switches"]) == ("5", "3")
    # host 0 is asked to wake at 5, when the three are asleep
    later = metrics.summary(schedule, warm_up=1)
    assert (later["n_switches"], later["n_switch_groups"]) == (1, 1)


def test_metrics_of_a_run_in_which_nothing_ended():
    found = metrics.summary(run("fcfs", [job("A", runtime=100)], until=10))
    assert all(math.isnan(found[metric.name]) for metric in metrics.ENERGY)


# Batsim's own files


def recorded_runs() -> list[Path]:
    return sorted({path.parent for path in RECORDED.glob("*/out_consumed_energy.csv*")})


@pytest.mark.parametrize("folder", recorded_runs(), ids=lambda path: path.name)
def test_recorded_files_come_out_as_they_were(folder, tmp_path):
    unpack(folder, tmp_path)
    schedule = nt.Schedule.load(tmp_path)
    for name, text in texts(schedule).items():
        assert text == (tmp_path / name).read_text(), name


@pytest.mark.parametrize("folder", recorded_runs(), ids=lambda path: path.name)
def test_totals_of_recorded_files_follow_from_the_others(folder, tmp_path):
    unpack(folder, tmp_path)
    schedule = nt.Schedule.load(tmp_path)
    told, schedule._totals = schedule._totals, None
    header, values = texts(schedule)["schedule.csv"].splitlines()
    found = dict(zip(header.split(","), values.split(","), strict=True))
    # messages take time on these two platforms, so that hosts of one request switch one by one
    delayed = "cluster" in folder.name
    for name in told.keys() - {"batsim_version", "scheduling_time", "simulation_time"}:
        tolerance = 0.04 if delayed and name.startswith(("time_", "consumed")) else 1e-6
        assert float(found[name]) == pytest.approx(float(told[name]), rel=tolerance, abs=1e-4), name


@pytest.mark.skipif(not RECORDED.is_dir(), reason="no recordings")
def test_a_run_gives_the_files_that_batsim_gave():
    inputs = RECORDED.parent / "inputs"
    name = "energy_platform_homogeneous_no_net_128.xml"
    platform = nt.load_platform(inputs / "platforms" / name, host_order="lexicographic")
    workload = nt.load_workload(inputs / "workloads" / "test_various_profile_types.json")
    found = texts(nt.simulate(platform, workload, "easy", energy="simgrid"))
    recorded = RECORDED / "bs_easy_bf_fast_energy128_various"
    for name in (ENERGY_FILE, POWER_STATES_FILE, "machine_states.csv"):
        assert found[name] == (recorded / f"out_{name}").read_text(), name


def unpack(folder: Path, target: Path) -> None:
    for path in folder.glob("out_*"):
        data = path.read_bytes()
        name = path.name.removeprefix("out_").removesuffix(".xz")
        (target / name).write_bytes(lzma.decompress(data) if path.suffix == ".xz" else data)
