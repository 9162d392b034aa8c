"""Reading schedules: what is understood, and what is refused with which words."""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from built_schedules import Row, a_schedule, rejected

from noctule import HostSet, Schedule
from noctule.errors import InputError


def refusal_of(path: Path, text: str, n_hosts: int = 4) -> str:
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        Schedule.from_jobs_csv(path, n_hosts)
    return str(caught.value).replace(str(path), "jobs.csv")


# Files of others

OURS = "job_id,submit_time,start_time,finish_time,n_hosts\n"


def test_a_csv_with_our_columns_is_read(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(
        "job_id,submit_time,start_time,finish_time,walltime,hosts,state\n"
        '1,0,1,3,10,"0-1",timed_out\n'
        "2,5,,,inf,,rejected\n"
    )
    schedule = Schedule.from_jobs_csv(path, 4)
    assert schedule.column("state").tolist() == ["timed_out", "rejected"]
    assert schedule.column("n_hosts").tolist() == [2, 0]
    assert schedule.column("waiting_time")[0] == 1.0
    assert schedule.column("walltime").tolist() == [10.0, math.inf]


def test_without_a_state_jobs_with_a_start_have_completed(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(OURS + "a,0,1,3,2\nb,0,,,9\n")
    schedule = Schedule.from_jobs_csv(path, 4)
    assert schedule.column("state").tolist() == ["completed", "rejected"]
    assert schedule.column("walltime").tolist() == [math.inf, math.inf]


def test_a_dataframe_written_by_pandas_is_read_back(tmp_path: Path) -> None:
    schedule = a_schedule([Row("a", 0.5, 1.25, 3.0, "0 2-3", walltime=9.0), rejected("b", 2.0)])
    schedule.jobs.to_csv(tmp_path / "jobs.csv")
    again = Schedule.from_jobs_csv(tmp_path / "jobs.csv", 4)
    for name in ("job_id", "hosts", "state", "n_hosts", "walltime"):
        assert again.column(name).tolist() == schedule.column(name).tolist()
    np.testing.assert_equal(again.column("start_time"), schedule.column("start_time"))


def test_old_names_of_columns_are_known(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(
        "jobID,job_id,workload_name,submission_time,requested_number_of_processors,requested_time,"
        "success,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,"
        "consumed_energy,allocated_processors\n"
        "x,3,w0,1,2,-1,1,2,4,6,1,5,1.25,-1,0-1\n"
    )
    schedule = Schedule.from_jobs_csv(path, 4)
    assert schedule.column("job_id").tolist() == [3]
    assert schedule.column("hosts").tolist() == [HostSet("0-1")]
    assert schedule.column("walltime").tolist() == [math.inf]


def test_the_number_of_hosts_held_is_the_allocations_not_the_requests(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(OURS.replace("n_hosts", "n_hosts,hosts") + "1,0,0,5,4,0-1\n")
    schedule = Schedule.from_jobs_csv(path, 4)
    assert schedule.column("n_hosts").tolist() == [4]
    assert schedule.record.n_hosts.tolist() == [2]


def test_what_a_schedule_breaks_is_not_judged_by_the_reader(tmp_path: Path) -> None:
    # started before its submission, finished before its start, on hosts that do not exist
    path = tmp_path / "jobs.csv"
    path.write_text(OURS.replace("n_hosts", "hosts") + "1,5,4,3,2-5\n")
    schedule = Schedule.from_jobs_csv(path, 4)
    assert schedule.column("waiting_time").tolist() == [-1.0]
    assert schedule.column("runtime").tolist() == [-1.0]
    assert schedule.column("hosts").tolist() == [HostSet("2-5")]
    schedule.save(tmp_path / "out")


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [(".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)],
)
def test_compressed_files_are_read(tmp_path: Path, suffix: str, compress: Any) -> None:
    path = tmp_path / f"jobs.csv{suffix}"
    path.write_bytes(compress((OURS + "1,0,1,3,2\n").encode()))
    assert Schedule.from_jobs_csv(path, 4).column("finish_time").tolist() == [3.0]
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"truncated or corrupt (gzip|xz|bzip2) data$"):
        Schedule.from_jobs_csv(path, 4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty file, expected a line of column names"),
        (
            "job_id,finish_time\n",
            "no column submission_time or submit_time; the columns are job_id, finish_time",
        ),
        (
            "job_id,submit_time,start_time,finish_time\n1,0,0,1\n",
            "no column requested_number_of_resources or requested_number_of_processors or n_hosts "
            "or allocated_resources or allocated_processors or hosts; "
            "the columns are job_id, submit_time, start_time, finish_time",
        ),
        (OURS + "1,0,1,3,2\n\n2,0,1\n", "line 4: got 3 fields, expected 5"),
        (OURS + "1,0,x,3,2\n", "line 2: start_time: got 'x', expected a number >= 0"),
        (OURS + "1,nan,1,3,2\n", "line 2: submit_time: got 'nan', expected a number >= 0"),
        (OURS + "1,0,1,inf,2\n", "line 2: finish_time: got 'inf', expected a number >= 0"),
        (OURS + "1,0,1,,2\n", "line 2: finish_time: got '', expected a number >= 0"),
        (OURS + "1,-1,1,3,2\n", "line 2: submit_time: got '-1', expected a number >= 0"),
        (
            OURS + "1,0,1,3,-2\n",
            "line 2: n_hosts: got '-2', expected a whole number from 0 to 2147483647",
        ),
        (
            OURS + "1,0,1,3,1.5\n",
            "line 2: n_hosts: got '1.5', expected a whole number from 0 to 2147483647",
        ),
        (OURS + ",0,1,3,1\n", "line 2: job_id: got '', expected the id of a job"),
        (
            OURS + "1,0,1,3,1\n1,0,1,3,1\n",
            "line 3: job_id: got 1 of w0 once more, expected each job once",
        ),
        (
            OURS.replace("n_hosts", "hosts") + "1,0,1,3,0-x\n",
            "line 2: hosts: got '0-x', expected hosts such as 0-3 7",
        ),
        (
            OURS.replace("n_hosts", "hosts") + "1,0,1,3,3-1\n",
            "line 2: hosts: got '3-1', expected hosts such as 0-3 7",
        ),
        (
            OURS.replace("n_hosts", "n_hosts,state") + "1,0,1,3,1,DONE\n",
            "line 2: state: got 'DONE', expected one of COMPLETED_SUCCESSFULLY, COMPLETED_FAILED, "
            "COMPLETED_WALLTIME_REACHED, COMPLETED_KILLED, REJECTED, CANCELLED, RUNNING, WAITING",
        ),
        (
            OURS.replace("n_hosts", "n_hosts,walltime") + "1,0,1,3,1,-5\n",
            "line 2: walltime: got '-5', expected a positive number, or -1 for none",
        ),
        (OURS + '1,0,1,3,"1\n', "line 2: unexpected end of data"),
    ],
)
def test_a_wrong_file_is_refused_with_line_and_column(
    tmp_path: Path, text: str, message: str
) -> None:
    assert refusal_of(tmp_path / "file", text) == f"jobs.csv: {message}"


@pytest.mark.parametrize("data", [b"job_id,\xff\xfe", b"job_id\0submit_time"])
def test_a_binary_file_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "jobs.csv"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"jobs.csv: not a text file, expected CSV$"):
        Schedule.from_jobs_csv(path, 4)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none.csv: no such file$"):
        Schedule.from_jobs_csv(tmp_path / "none.csv", 4)
    with pytest.raises(InputError, match=r": got a directory, expected a file$"):
        Schedule.from_jobs_csv(tmp_path, 4)


# Folders


def test_loading_a_folder_without_the_files_names_the_first_that_is_missing(
    tmp_path: Path,
) -> None:
    (tmp_path / "jobs.csv").touch()
    with pytest.raises(InputError) as caught:
        Schedule.load(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: no file schedule.csv, "
        "expected a folder with jobs.csv, schedule.csv, machine_states.csv"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nb_jobs\n3\n", "no column nb_computing_machines; the columns are nb_jobs"),
        (
            "nb_computing_machines\n-4\n",
            "line 2: nb_computing_machines: got '-4', expected a whole number >= 1",
        ),
        ("nb_computing_machines\n", "got 0 lines of values, expected 1"),
    ],
)
def test_a_wrong_schedule_csv_is_refused(tmp_path: Path, text: str, message: str) -> None:
    a_schedule([]).save(tmp_path)
    (tmp_path / "schedule.csv").write_text(text)
    with pytest.raises(InputError) as caught:
        Schedule.load(tmp_path)
    assert str(caught.value) == f"{tmp_path}/schedule.csv: {message}"


def test_a_wrong_machine_states_csv_is_refused(tmp_path: Path) -> None:
    a_schedule([Row(0, 0.0, 0.0, 1.0, "0")]).save(tmp_path)
    states = tmp_path / "machine_states.csv"
    states.write_text(states.read_text().replace("0,0,0,0,3,1", "0,0,0,0,three,1"))
    with pytest.raises(InputError) as caught:
        Schedule.load(tmp_path)
    expected = "expected a whole number from 0 to 2147483647"
    assert str(caught.value) == f"{states}: line 2: nb_idle: got 'three', {expected}"
