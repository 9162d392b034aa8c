"""Schedules in Parquet: nothing is lost, not even the last bit, and nonsense is refused."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from built_schedules import Row, a_schedule, rejected
from hypothesis import given
from hypothesis import strategies as st

import noctule as nt
from noctule.errors import InputError
from noctule.record import JobState, PlainJobs
from noctule.schedule import COLUMNS

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

NIGHT = Path(__file__).parents[2] / "examples" / "night.swf"
THIRD = 1.0 / 3.0


def save(schedule: nt.Schedule, folder: Path) -> None:
    schedule.save(folder, parquet=True)


def load(folder: Path) -> nt.Schedule:
    return nt.Schedule.load(folder)


def assert_same(one: nt.Schedule, other: nt.Schedule) -> None:
    assert one.platform.n_hosts == other.platform.n_hosts
    for name in COLUMNS:
        first, second = one.column(name), other.column(name)
        if first.dtype.kind == "f":
            # bit for bit, but for the sign of what is not a number
            assert first[~np.isnan(first)].tobytes() == second[~np.isnan(second)].tobytes(), name
            assert (np.isnan(first) == np.isnan(second)).all(), name
        else:
            assert first.tolist() == second.tolist(), name
    assert one.profile_names() == other.profile_names()
    for name in ("job", "n_hosts", "host_state_time", "host_state_idle", "host_state_computing"):
        if name != "job":
            first, second = getattr(one.record, name), getattr(other.record, name)
            assert first.tobytes() == second.tobytes(), name
            assert first.dtype == second.dtype
    texts = [{name: "".join(t) for name, t in schedule.texts()} for schedule in (one, other)]
    assert texts[0] == texts[1]


@pytest.fixture
def schedule() -> nt.Schedule:
    return a_schedule(
        [
            Row("A", THIRD, THIRD, 1e9 + THIRD, "0-1"),
            Row("B", 0.1, 0.1 + 0.2, 0.7, "0 2-3", JobState.TIMED_OUT, walltime=0.4),
            rejected("R", 5e-324, n_hosts=9),
            Row("X", 15.0, state=JobState.CANCELLED, asked=1),
            Row("N", 30.0, 54.0, math.nan, "1-2", JobState.RUNNING),
            Row("W", 40.0, state=JobState.WAITING, asked=1),
            Row("Z", 41.0, 41.0, 41.0, "3"),
            Row(7, 1.0, 2.0, 3.0, "0", workload="dyn!x".replace("!", "")),
        ]
    )


def test_a_schedule_is_the_same_after_a_round_trip(schedule, tmp_path):
    save(schedule, tmp_path)
    assert_same(schedule, load(tmp_path))


def test_a_simulated_schedule_keeps_its_users(tmp_path):
    workload = nt.load_workload(NIGHT)
    schedule = nt.simulate(nt.Platform.homogeneous(128), workload, "easy")
    save(schedule, tmp_path)
    again = load(tmp_path)
    assert_same(schedule, again)
    assert nt.metrics.summary(schedule) == nt.metrics.summary(again)


def test_what_was_read_from_rounded_files_is_kept_as_they_said_it(schedule, tmp_path):
    (tmp_path / "csv").mkdir()
    schedule.save(tmp_path / "csv")
    read = nt.Schedule.load(tmp_path / "csv")
    save(read, tmp_path)
    again = load(tmp_path)
    again.save(tmp_path / "again")
    for name in ("jobs.csv", "schedule.csv", "machine_states.csv"):
        expected = (tmp_path / "csv" / name).read_bytes()
        assert (tmp_path / "again" / name).read_bytes() == expected


@pytest.mark.parametrize("users", [[1, 2], ["x", "y"], [1, "1"], [None, 3], [None, None]])
def test_users_stay_numbers_or_texts(users, tmp_path):
    plain = a_schedule([Row("A", 0.0, 0.0, 1.0, "0"), Row("B", 0.0, 0.0, 1.0, "1")])
    (table,) = plain.tables
    named = PlainJobs(
        table.name, table.job_ids, table.n_hosts, table.walltime, table.profile_names, users
    )
    save(nt.Schedule(plain.platform, [named], plain.record), tmp_path)
    assert load(tmp_path).column("user").tolist() == users


def test_hosts_that_are_not_known_stay_so(tmp_path):
    (tmp_path / "jobs.csv").write_text(
        "job_id,submission_time,starting_time,finish_time,n_hosts\n1,0,1,2,3\n"
    )
    schedule = nt.Schedule.from_jobs_csv(tmp_path / "jobs.csv", 4)
    save(schedule, tmp_path)
    again = load(tmp_path)
    assert again.record.n_hosts.tolist() == [3]
    assert len(again.column("hosts")[0]) == 0
    assert_same(schedule, again)


def test_no_jobs_are_saved_too(tmp_path):
    save(a_schedule([]), tmp_path)
    assert len(load(tmp_path)) == 0


def test_other_programs_read_the_columns_of_jobs(schedule, tmp_path):
    save(schedule, tmp_path)
    table = parquet.read_table(tmp_path / "jobs.parquet")
    assert table.column_names == [
        *("job_id", "workload", "user", "submit_time", "start_time", "finish_time"),
        *("waiting_time", "turnaround_time", "runtime", "walltime", "n_hosts", "hosts", "state"),
        *("energy", "profile", "slowdown"),
    ]
    assert table.column("state").to_pylist()[:3] == ["completed", "timed_out", "rejected"]
    # a date that never came is null and not a number that is none
    assert table.column("start_time").null_count == 3
    states = parquet.read_table(tmp_path / "host_states.parquet")
    assert states.column_names == ["time", "n_idle", "n_computing"]


def test_the_same_schedule_gives_the_same_bytes(schedule, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        save(schedule, tmp_path / name)
    for file in ("jobs.parquet", "host_states.parquet"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


dates = st.floats(0, 1e12, allow_nan=False)


@given(st.lists(st.tuples(dates, dates, dates, st.floats(1e-3, 1e9)), max_size=8))
def test_every_bit_of_a_date_survives(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("parquet")
    schedule = a_schedule(
        [Row(i, *sorted(dates), "0", walltime=w) for i, (*dates, w) in enumerate(rows)]
    )
    save(schedule, folder)
    assert_same(schedule, load(folder))


# what is refused


def damaged(folder: Path, change) -> str:
    """Change the table of the jobs of a good folder; return the message that loading gives."""
    save(a_schedule([Row("A", 0.0, 0.0, 1.0, "0"), rejected("B", 0.0)]), folder)
    path = folder / "jobs.parquet"
    table = change(parquet.read_table(path))
    parquet.write_table(table, path)
    with pytest.raises(InputError) as error:
        load(folder)
    return str(error.value).removeprefix(f"{path}: ")


def replaced(name, values):
    def change(table):
        return table.set_column(table.column_names.index(name), name, pa.array(values))

    return change


def about(**changes):
    def change(table):
        old = json.loads(table.schema.metadata[b"noctule"])
        return table.replace_schema_metadata({"noctule": json.dumps(old | changes)})

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda table: table.drop_columns(["state"]),
            "no column state, got job_id, workload, user, submit_time, start_time, finish_time, "
            "waiting_time, turnaround_time, runtime, walltime, n_hosts, hosts, energy, "
            "profile, slowdown",
        ),
        (replaced("start_time", ["x", "y"]), "start_time: got string, expected double"),
        (replaced("n_hosts", [1, 2]), "n_hosts: got int64, expected uint32"),
        (
            replaced("n_hosts", pa.array([1, None], pa.uint32())),
            "n_hosts: got 1 nulls, expected none",
        ),
        (
            replaced("state", ["completed", "lost"]),
            "state: got 'lost', expected one of waiting, running, completed, timed_out, killed, "
            "failed, rejected, cancelled",
        ),
        (replaced("hosts", ["0", "a-b"]), "row 1: hosts: got 'a-b', expected hosts such as 0-3 7"),
        (replaced("job_id", ["A", None]), "job_id: got nulls, expected none"),
        (
            lambda table: table.replace_schema_metadata({}),
            "metadata: none, expected those of format 1 of Noctule",
        ),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(tmp_path, change, message):
    assert damaged(tmp_path, change) == message


@pytest.mark.parametrize(
    "changes", [{"format": 2}, {"n_hosts": 0}, {"user": "what"}, {"totals": {"a": 1}}]
)
def test_metadata_that_make_no_sense_are_refused(tmp_path, changes):
    message = damaged(tmp_path, about(**changes))
    assert message.startswith("metadata: got '{")
    assert message.endswith(", expected those of format 1 of Noctule")


def test_a_folder_without_one_of_the_files_is_refused(schedule, tmp_path):
    save(schedule, tmp_path)
    (tmp_path / "host_states.parquet").unlink()
    with pytest.raises(InputError) as error:
        load(tmp_path)
    assert str(error.value) == (
        f"{tmp_path}: no file host_states.parquet, "
        "expected a folder with jobs.parquet, host_states.parquet"
    )


def test_a_file_that_is_no_parquet_is_refused(tmp_path):
    save(a_schedule([]), tmp_path)
    path = tmp_path / "jobs.parquet"
    good = path.read_bytes()
    for text in (b"", b"job_id,submit\n1,2\n", good[:-20], good[:-108] + b"\xff" * 100 + good[-8:]):
        path.write_bytes(text)
        with pytest.raises(InputError, match=r"jobs\.parquet: not a Parquet file: "):
            load(tmp_path)


def test_a_folder_that_cannot_be_written_is_an_input_error(tmp_path):
    (tmp_path / "taken").touch()
    with pytest.raises(InputError, match="taken: cannot be written: "):
        save(a_schedule([]), tmp_path / "taken")


def test_without_the_library_the_message_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError) as error:
        save(a_schedule([]), tmp_path)
    assert str(error.value) == (
        "Parquet: pyarrow is not installed, expected it from pip install 'noctule[parquet]'"
    )
