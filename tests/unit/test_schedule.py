"""Schedules: their columns, and the files they are saved to and loaded from."""

from __future__ import annotations

import lzma
import math
from pathlib import Path

import numpy as np
import pytest
from built_schedules import Row, a_schedule, rejected
from hypothesis import given
from hypothesis import strategies as st

from noctule import HostSet, Platform, Schedule, load_workload, simulate
from noctule.errors import InputError
from noctule.record import JobState
from noctule.workload import Delay, Job, Request, Workload

HEADER = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,"
    "success,final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,"
    "stretch,allocated_resources,consumed_energy,metadata\n"
)


def texts_of(schedule: Schedule) -> dict[str, str]:
    return {name: "".join(pieces) for name, pieces in schedule.texts()}


def totals_of(schedule: Schedule) -> dict[str, str]:
    names, values = texts_of(schedule)["schedule.csv"].splitlines()
    return dict(zip(names.split(","), values.split(","), strict=True))


# Columns


def test_columns_follow_from_the_three_instants() -> None:
    schedule = a_schedule([Row(7, 1.0, 4.0, 10.0, "0-1 3", walltime=20.0)])
    expected = {
        "job_id": 7,
        "workload": "w0",
        "user": None,
        "submit_time": 1.0,
        "start_time": 4.0,
        "finish_time": 10.0,
        "waiting_time": 3.0,
        "turnaround_time": 9.0,
        "runtime": 6.0,
        "walltime": 20.0,
        "n_hosts": 3,
        "hosts": HostSet("0-1 3"),
        "state": "completed",
    }
    assert {name: schedule.column(name)[0] for name in expected} == expected


def test_jobs_has_the_public_columns_in_their_order() -> None:
    schedule = a_schedule([Row(7, 1.0, 4.0, 10.0, "0")])
    assert list(schedule.jobs.columns) == [
        "job_id",
        "workload",
        "user",
        "submit_time",
        "start_time",
        "finish_time",
        "waiting_time",
        "turnaround_time",
        "runtime",
        "walltime",
        "n_hosts",
        "hosts",
        "state",
        "energy",
    ]


def test_a_rejected_job_has_no_dates_and_no_hosts() -> None:
    job = a_schedule([rejected(1, 5.0, n_hosts=9)]).jobs.iloc[0]
    assert job["state"] == "rejected"
    assert job["n_hosts"] == 9
    assert job["hosts"] == HostSet()
    for name in ("start_time", "finish_time", "waiting_time", "turnaround_time", "runtime"):
        assert math.isnan(job[name])


def test_jobs_shares_the_columns_of_the_engine() -> None:
    workload = Workload.from_jobs([Job(1, 0.0, Request(1), Delay(5.0))])
    schedule = simulate(Platform.homogeneous(1), workload, "fcfs")
    for name in ("submit_time", "start_time", "finish_time"):
        column = schedule.jobs[name].to_numpy()
        assert np.shares_memory(column, getattr(schedule.record, name))
    assert np.shares_memory(
        schedule.host_states["time"].to_numpy(), schedule.record.host_state_time
    )


def test_host_states_tell_idle_and_computing_hosts() -> None:
    # 4 hosts: A holds 2 from 0 to 5, B holds 1 from 5 to 6
    schedule = a_schedule([Row("A", 0.0, 0.0, 5.0, "0-1"), Row("B", 0.0, 5.0, 6.0, "0")])
    assert schedule.host_states.to_numpy().tolist() == [[0, 2, 2], [5, 4, 0], [5, 3, 1], [6, 4, 0]]


def test_a_column_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"^schedule: no column stop; the columns are job_id, "):
        a_schedule([]).column("stop")


def test_jobs_of_two_tables_are_joined() -> None:
    rows = [Row(1, 0.0, 0.0, 1.0, "0"), Row("x", 0.0, 0.0, 2.0, "1", workload="dyn")]
    schedule = a_schedule(rows)
    assert schedule.column("job_id").tolist() == ["1", "x"]
    assert schedule.column("workload").tolist() == ["w0", "dyn"]
    assert len(schedule) == 2


def test_users_are_known_where_the_log_tells_them(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    log.write_text(
        "1 0 -1 10 1 -1 -1 1 10 -1 1 33 -1 -1 -1 -1 -1 -1\n"
        "2 1 -1 10 1 -1 -1 1 10 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
    )
    schedule = simulate(Platform.homogeneous(2), load_workload(log), "fcfs")
    assert schedule.column("user").tolist() == [33, None]


# Saving


def test_jobs_csv_is_written_as_batsim_does() -> None:
    rows = [
        Row(0, 0.0, 0.00006, 10.00006, "0-1 3", walltime=100.0, profile="delay10"),
        rejected(1, 2.0, n_hosts=9),
    ]
    assert texts_of(a_schedule(rows))["jobs.csv"] == (
        HEADER + "0,w0,delay10,0.000000,3,100.000000,1,COMPLETED_SUCCESSFULLY,0.000060,10.000000,"
        '10.000060,0.000060,10.000060,1.000006,0-1 3,-1.000000,""\n'
        '1,w0,p,2.000000,9,-1.000000,0,REJECTED,,,,,,,,,""\n'
    )


@pytest.mark.parametrize(
    ("state", "word", "success"),
    [
        (JobState.COMPLETED, "COMPLETED_SUCCESSFULLY", "1"),
        (JobState.FAILED, "COMPLETED_FAILED", "0"),
        (JobState.TIMED_OUT, "COMPLETED_WALLTIME_REACHED", "0"),
        (JobState.KILLED, "COMPLETED_KILLED", "0"),
    ],
)
def test_ended_jobs_have_batsims_words(state: JobState, word: str, success: str) -> None:
    line = texts_of(a_schedule([Row(0, 0.0, 0.0, 5.0, "0", state)]))["jobs.csv"].splitlines()[1]
    assert line.split(",")[6:8] == [success, word]


def test_open_jobs_have_words_of_our_own() -> None:
    rows = [
        Row(0, 1.0, 3.0, math.nan, "0-1", JobState.RUNNING),
        Row(1, 1.0, state=JobState.WAITING, asked=1),
        Row(2, 1.0, state=JobState.CANCELLED, asked=1),
    ]
    assert texts_of(a_schedule(rows))["jobs.csv"] == (
        HEADER + '0,w0,p,1.000000,2,-1.000000,0,RUNNING,3.000000,,,2.000000,,,0-1,,""\n'
        '1,w0,p,1.000000,1,-1.000000,0,WAITING,,,,,,,,,""\n'
        '2,w0,p,1.000000,1,-1.000000,0,CANCELLED,,,,,,,,,""\n'
    )


def test_schedule_csv_follows_batsims_definitions() -> None:
    # on 4 hosts: A holds 0-1 for [2, 12], B, killed, holds 1 for [12, 16], C is rejected
    rows = [
        Row("A", 0.0, 2.0, 12.0, "0-1"),
        Row("B", 10.0, 12.0, 16.0, "1", JobState.KILLED),
        rejected("C", 1.0),
    ]
    totals = totals_of(a_schedule(rows))
    expected = {
        "makespan": "16.000000",  # latest finish
        "max_slowdown": "1.500000",  # B: 6 / 4; A: 12 / 10
        "max_turnaround_time": "12.000000",
        "max_waiting_time": "2.000000",
        "mean_slowdown": "0.900000",  # (1.2 + 1.5) / 3: the rejected job counts below the line
        "mean_turnaround_time": "6.000000",  # (12 + 6) / 3
        "mean_waiting_time": "1.333333",  # (2 + 2) / 3
        "nb_computing_machines": "4",
        "nb_jobs": "3",
        "nb_jobs_finished": "2",
        "nb_jobs_killed": "1",
        "nb_jobs_rejected": "1",
        "nb_jobs_success": "1",
        "success_rate": "0.333333",
        "time_computing": "24.000000",  # 2 x 10 + 1 x 4
        "time_idle": "4.000000",  # up to the last changes, 12 and 16: 28 - 24
        "simulation_time": "0.000000",
    }
    assert {name: totals[name] for name in expected} == expected
    assert list(totals) == sorted(totals)
    assert totals["batsim_version"].startswith("noctule-")


def test_schedule_csv_leaves_out_jobs_that_batsim_does_not_know() -> None:
    # host 0 changes last at 8, when the running job starts
    rows = [
        Row(0, 0.0, 0.0, 5.0, "0"),
        Row(1, 0.0, 8.0, math.nan, "0", JobState.RUNNING),
        Row(2, 0.0, state=JobState.CANCELLED, asked=1),
        Row(3, 0.0, state=JobState.WAITING, asked=1),
    ]
    totals = totals_of(a_schedule(rows))
    assert (totals["nb_jobs"], totals["time_computing"], totals["time_idle"]) == (
        "1",
        "5.000000",
        "3.000000",
    )


def test_schedule_csv_of_no_jobs_has_no_ratios() -> None:
    totals = totals_of(a_schedule([]))
    assert (totals["mean_slowdown"], totals["success_rate"]) == ("nan", "nan")
    assert (totals["makespan"], totals["time_idle"]) == ("0.000000", "0.000000")


def test_a_runtime_of_zero_makes_an_infinite_stretch() -> None:
    totals = totals_of(a_schedule([Row(0, 0.0, 1.0, 1.0, "0")]))
    assert (totals["max_slowdown"], totals["mean_slowdown"]) == ("inf", "inf")


@given(
    st.lists(
        st.tuples(st.sets(st.integers(0, 36), min_size=1), st.integers(0, 50), st.integers(0, 50)),
        max_size=12,
    )
)
def test_time_idle_counts_up_to_the_last_change_of_each_host(
    jobs: list[tuple[set[int], int, int]],
) -> None:
    rows = [
        Row(i, 0.0, float(start), float(start + runtime), str(HostSet(hosts)))
        for i, (hosts, start, runtime) in enumerate(jobs)
    ]
    last = {h: max(r.finish for r in rows if h in HostSet(r.hosts)) for j in jobs for h in j[0]}
    computing = sum(len(hosts) * runtime for hosts, _, runtime in jobs)
    totals = totals_of(a_schedule(rows, n_hosts=37))
    assert float(totals["time_computing"]) == computing
    assert float(totals["time_idle"]) == max(0, sum(last.values()) - computing)


def test_machine_states_csv_shows_six_digits_of_the_date() -> None:
    rows = [Row(0, 0.0, 0.000060008, 1234567.0, "0-2")]
    assert texts_of(a_schedule(rows))["machine_states.csv"] == (
        "time,nb_sleeping,nb_switching_on,nb_switching_off,nb_idle,nb_computing\n"
        "6.0008e-05,0,0,0,1,3\n"
        "1.23457e+06,0,0,0,4,0\n"
    )


def test_names_that_would_break_a_line_are_quoted_and_come_back(tmp_path: Path) -> None:
    rows = [Row('a,"b"', 0.0, 0.0, 1.0, "0", profile="one,two"), Row("c", 0.0, 0.0, 1.0, "1")]
    a_schedule(rows).save(tmp_path)
    assert '"a,""b""",w0,"one,two",' in (tmp_path / "jobs.csv").read_text()
    loaded = Schedule.load(tmp_path)
    assert loaded.column("job_id").tolist() == ['a,"b"', "c"]
    assert loaded.profile_names() == ["one,two", "p"]


def test_saving_where_nothing_can_be_written_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError) as caught:
        a_schedule([]).save(tmp_path / "file" / "out")
    assert str(caught.value) == f"{tmp_path}/file/out: cannot be written: Not a directory"


# Loading

dates = st.floats(0, 1e7, allow_nan=False, allow_infinity=False)


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    rows = []
    for i in range(draw(st.integers(0, 6))):
        submit, waiting, runtime = draw(dates), draw(dates), draw(dates)
        hosts = str(HostSet(draw(st.sets(st.integers(0, 7), min_size=1))))
        state = draw(st.sampled_from(JobState))
        start, finish = submit + waiting, submit + waiting + runtime
        if state in (JobState.REJECTED, JobState.CANCELLED, JobState.WAITING):
            rows.append(Row(i, submit, state=state, asked=draw(st.integers(1, 9))))
        elif state == JobState.RUNNING:
            rows.append(Row(i, submit, start, math.nan, hosts, state))
        else:
            rows.append(Row(i, submit, start, finish, hosts, state, walltime=draw(dates) + 1))
    return a_schedule(rows, n_hosts=8)


@given(schedules())
def test_what_was_saved_is_loaded_to_the_printed_digit(
    tmp_path_factory: pytest.TempPathFactory, schedule: Schedule
) -> None:
    folder = tmp_path_factory.mktemp("run")
    schedule.save(folder)
    loaded = Schedule.load(folder)
    for name in ("submit_time", "start_time", "finish_time", "walltime"):
        np.testing.assert_allclose(loaded.column(name), schedule.column(name), rtol=0, atol=6e-7)
    for name in ("job_id", "workload", "hosts", "state", "n_hosts"):
        assert loaded.column(name).tolist() == schedule.column(name).tolist()
    assert texts_of(loaded) == texts_of(schedule)


def test_an_engines_schedule_survives_saving_and_loading(tmp_path: Path) -> None:
    jobs = [Job(f"j{i}", i / 3, Request(1 + i % 3), Delay(10 / (i + 1))) for i in range(9)]
    schedule = simulate(Platform.homogeneous(4), Workload.from_jobs(jobs), "easy")
    schedule.save(tmp_path / "new" / "folder")
    loaded = Schedule.load(tmp_path / "new" / "folder")
    assert texts_of(loaded) == texts_of(schedule)
    assert loaded.platform == Platform.homogeneous(4)


# Files of real Batsim


def batsim_cases(shared: Path) -> list[Path]:
    """Return recorded runs whose hosts were neither switched, taken away nor shared."""
    cases = []
    for folder in sorted((shared / "vectors" / "batsim" / "v4").iterdir()):
        left_out = ("sleeper", "events", "energy", "sharing", "nosched", "crash", "kth")
        if (folder / "out_schedule.csv").is_file() and not any(w in folder.name for w in left_out):
            cases.append(folder)
    return cases


def test_real_batsim_files_come_out_as_they_went_in(shared: Path) -> None:
    folders = batsim_cases(shared)
    assert len(folders) > 30
    for folder in folders:
        (jobs,) = folder.glob("out_jobs.csv*")
        data = jobs.read_bytes()
        text = (lzma.decompress(data) if jobs.suffix == ".xz" else data).decode()
        assert texts_of(Schedule.from_jobs_csv(jobs, 128))["jobs.csv"] == text, folder.name


def test_totals_are_those_of_real_batsim(shared: Path) -> None:
    not_ours = {"batsim_version", "consumed_joules", "scheduling_time", "simulation_time"}
    for folder in batsim_cases(shared):
        names, values = (folder / "out_schedule.csv").read_text().splitlines()
        theirs = dict(zip(names.split(","), values.split(","), strict=True))
        (jobs,) = folder.glob("out_jobs.csv*")
        ours = totals_of(Schedule.from_jobs_csv(jobs, int(theirs["nb_computing_machines"])))
        assert list(ours) == list(theirs)
        for name in set(theirs) - not_ours:
            # dates in jobs.csv are rounded to 1e-6, and so are the sums over up to 128 hosts
            assert float(ours[name]) == pytest.approx(float(theirs[name]), abs=2e-4), name
