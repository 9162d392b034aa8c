"""Batsim 4's files: rows and numbers worked out by hand."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

import noctule as nt
from noctule.batsim.outputs import BatsimOutcome
from noctule.batsim.outputs4 import output_texts
from noctule.batsim.witness import Availability, Witness
from noctule.messages import Decision, Event, JobSubmitted, RejectJob, SetPowerState, StartJob
from noctule.platform import PowerModel
from noctule.policy import View
from noctule.workload import Delay, Job, Request

POWER = PowerModel(idle=100, computing=200, off=10, switch_off_seconds=5, switch_on_seconds=10)


def delay(
    job_id: str, submit: float, n_hosts: int, seconds: float, walltime: float = math.inf
) -> Job:
    profile = Delay(seconds)
    return Job(job_id, submit, Request(n_hosts), profile, walltime, profile_name=f"w0!d{seconds:g}")


class Scripted:
    """Does what it was told for each job, when it comes: hosts, or None to reject it."""

    def __init__(self, hosts: Mapping[str, str | None], *first: Decision) -> None:
        self._hosts = hosts
        self._first = first

    def decide(self, view: View, events: Sequence[Event]) -> Iterator[Decision]:
        yield from self._first
        self._first = ()
        for event in events:
            if isinstance(event, JobSubmitted):
                hosts = self._hosts[str(event.job.id)]
                yield (
                    RejectJob(event.job)
                    if hosts is None
                    else StartJob(event.job, nt.HostSet(hosts))
                )


def outcome(
    jobs: Sequence[Job],
    policy: Scripted,
    platform: nt.Platform | None = None,
    **options: object,
) -> BatsimOutcome:
    witness = Witness(policy)
    schedule = nt.simulate(
        platform or nt.Platform.homogeneous(4),
        nt.Workload.from_jobs(jobs),
        witness,
        machine=True,
        **options,  # type: ignore[arg-type]
    )
    return BatsimOutcome(schedule, witness, shares_hosts=bool(options.get("share_hosts")))


def texts(result: BatsimOutcome) -> dict[str, str]:
    return {name: "".join(pieces) for name, pieces in output_texts(result)}


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def states(text: str) -> list[str]:
    return text.splitlines()[1:]


def test_rows_of_jobs_are_in_the_order_of_their_ends_and_rejections() -> None:
    jobs = [delay("w0!a", 0, 2, 10), delay("w0!b", 1, 1, 3, walltime=2), delay("w1!c", 2, 4, 5)]
    files = texts(outcome(jobs, Scripted({"w0!a": "0-1", "w0!b": "3", "w1!c": None})))
    assert files["jobs.csv"].splitlines()[1:] == [
        'c,w1,d5,2.000000,4,-1.000000,0,REJECTED,,,,,,,,,""',
        "b,w0,d3,1.000000,1,2.000000,0,COMPLETED_WALLTIME_REACHED,1.000000,2.000000,3.000000,"
        '0.000000,2.000000,1.000000,3,-1.000000,""',
        "a,w0,d10,0.000000,2,-1.000000,1,COMPLETED_SUCCESSFULLY,0.000000,10.000000,10.000000,"
        '0.000000,10.000000,1.000000,0-1,-1.000000,""',
    ]


def test_the_summary_counts_rejected_jobs_among_those_it_divides_by() -> None:
    jobs = [delay("w0!a", 0, 2, 10), delay("w0!b", 1, 1, 3, walltime=2), delay("w0!c", 2, 4, 5)]
    files = texts(outcome(jobs, Scripted({"w0!a": "0-1", "w0!b": "3", "w0!c": None})))
    (row,) = table(files["schedule.csv"])
    names = list(row)
    assert names == sorted(names)
    assert row["nb_jobs"] == "3"
    assert row["nb_jobs_finished"] == "2"
    assert row["nb_jobs_killed"] == "1"
    assert row["nb_jobs_rejected"] == "1"
    assert row["success_rate"] == "0.333333"
    assert row["mean_turnaround_time"] == "4.000000"  # (10 + 2) / 3
    assert row["makespan"] == "10.000000"
    # hosts 0 and 1 compute for 10 s, host 3 waits 1 s and computes 2 s, host 2 never changes
    assert row["time_computing"] == "22.000000"
    assert row["time_idle"] == "1.000000"
    assert row["consumed_joules"] == "0.000000"


def test_no_jobs_at_all_make_minus_nan() -> None:
    (row,) = table(texts(outcome([], Scripted({})))["schedule.csv"])
    assert row["nb_jobs"] == "0"
    assert row["mean_slowdown"] == row["success_rate"] == "-nan"
    assert row["makespan"] == "0.000000"


def test_a_job_that_takes_no_time_is_said_to_take_10_microseconds() -> None:
    files = texts(outcome([delay("w0!a", 1, 1, 0)], Scripted({"w0!a": "0"})))
    (row,) = table(files["jobs.csv"])
    assert row["execution_time"] == "0.000010"
    assert row["finish_time"] == "1.000010"
    assert row["stretch"] == "1.000000"
    assert table(files["schedule.csv"])[0]["time_computing"] == "0.000000"


def test_a_row_of_machine_states_follows_each_start_and_end() -> None:
    jobs = [delay("w0!a", 0, 2, 10), delay("w0!b", 0, 1, 100000.25)]
    files = texts(outcome(jobs, Scripted({"w0!a": "0-1", "w0!b": "3"})))
    assert states(files["machine_states.csv"]) == [
        "0,0,0,0,2,2",
        "0,0,0,0,1,3",
        "10,0,0,0,3,1",
        "100000,0,0,0,4,0",
    ]


def test_a_job_that_takes_no_time_ends_before_the_next_start_on_its_hosts() -> None:
    jobs = [delay("w0!a", 0, 4, 0), delay("w0!b", 0, 1, 5)]
    files = texts(outcome(jobs, Scripted({"w0!a": "0-3", "w0!b": "0"}), share_hosts=True))
    assert states(files["machine_states.csv"]) == [
        "0,0,0,0,0,4",
        "0,0,0,0,4,0",
        "0,0,0,0,3,1",
        "5,0,0,0,4,0",
    ]


def test_hosts_that_jobs_share_compute_only_once() -> None:
    jobs = [delay("w0!a", 0, 1, 10), delay("w0!b", 4, 1, 10)]
    files = texts(outcome(jobs, Scripted({"w0!a": "0", "w0!b": "0"}), share_hosts=True))
    assert states(files["machine_states.csv"]) == [
        "0,0,0,0,3,1",
        "4,0,0,0,3,1",
        "10,0,0,0,3,1",
        "14,0,0,0,4,0",
    ]
    assert table(files["schedule.csv"])[0]["time_computing"] == "14.000000"


def test_power_states_are_told_when_they_are_asked_for_and_when_all_hosts_have_them() -> None:
    platform = nt.Platform.homogeneous(3, power=POWER)
    policy = Scripted(
        {"w0!a": "0"}, SetPowerState(nt.HostSet("1-2"), 1), SetPowerState([1, 2], 0, 20)
    )
    files = texts(outcome([delay("w0!a", 0, 1, 40)], policy, platform, energy="exact"))
    assert files["pstate_changes.csv"].splitlines() == [
        "time,machine_id,new_pstate",
        "0,0-2,0",
        "0,1-2,-2",
        "5,1-2,1",
        "20,1-2,-1",
        "30,1-2,0",
    ]
    assert states(files["machine_states.csv"]) == [
        "0,0,0,2,1,0",
        "0,0,0,2,0,1",
        "5,2,0,0,0,1",
        "20,0,2,0,0,1",
        "30,0,0,0,2,1",
        "40,0,0,0,3,0",
    ]
    (row,) = table(files["schedule.csv"])
    assert (row["nb_grouped_switches"], row["nb_machine_switches"]) == ("2", "4")
    assert row["time_switching_off"] == "10.000000"
    assert row["time_sleeping"] == "30.000000"
    assert row["time_switching_on"] == "20.000000"
    assert row["time_computing"] == "40.000000"
    assert row["time_idle"] == "0.000000"
    assert len(table(files["consumed_energy.csv"])) == 6
    assert float(table(files["jobs.csv"])[0]["consumed_energy"]) == pytest.approx(40 * 100)


def test_hosts_that_are_away_are_in_no_column_and_a_job_on_them_goes_on() -> None:
    result = outcome([delay("w0!a", 0, 2, 10)], Scripted({"w0!a": "0-1"}))
    result.witness.availabilities += [
        Availability(4.0, nt.HostSet("1-2"), is_back=False),
        Availability(12.0, nt.HostSet("1-2"), is_back=True),
    ]
    files = texts(result)
    assert states(files["machine_states.csv"]) == ["0,0,0,0,2,2", "10,0,0,0,2,0"]
    (row,) = table(files["schedule.csv"])
    assert row["time_computing"] == "14.000000"
    assert row["time_unavailable"] == "16.000000"
    assert row["time_idle"] == "4.000000"


def test_without_a_scheduler_jobs_are_not_told_of() -> None:
    result = replace(outcome([delay("w0!a", 0, 2, 10)], Scripted({"w0!a": "0-1"})), has_jobs=False)
    files = texts(result)
    assert table(files["jobs.csv"]) == []
    assert table(files["schedule.csv"])[0]["nb_jobs"] == "0"
    assert table(files["schedule.csv"])[0]["time_computing"] == "20.000000"
    assert len(states(files["machine_states.csv"])) == 2


def test_jobs_that_were_dropped_are_not_told_of() -> None:
    result = outcome(
        [delay("w0!a", 0, 1, 10), delay("w0!b", 1, 1, 1)], Scripted({"w0!a": "0", "w0!b": None})
    )
    (row,) = table(texts(replace(result, dropped={"w0!b"}))["jobs.csv"])
    assert row["job_id"] == "a"


def test_names_that_would_break_a_line_are_quoted() -> None:
    job = replace(delay("w0!a,b", 0, 1, 1), profile_name='w0!d"1')
    (row,) = table(texts(outcome([job], Scripted({"w0!a,b": "0"})))["jobs.csv"])
    assert (row["job_id"], row["profile"]) == ("a,b", 'd"1')


def paje_lines(text: str) -> list[list[str]]:
    return [line.split(" ") for line in text.splitlines() if not line.startswith("%")]


def test_the_trace_shows_who_is_on_each_machine() -> None:
    jobs = [delay("w0!b", 0, 2, 10), delay("w0!a", 4, 1, 3, walltime=2)]
    files = texts(outcome(jobs, Scripted({"w0!b": "0-1", "w0!a": "1"}), share_hosts=True))
    lines = paje_lines(files["schedule.trace"])
    set_state = [line[1:] for line in lines if line[0] == "6"][4:]
    assert set_state == [
        ["0.000000", "machine_state", "m0", "jw0!b"],
        ["0.000000", "machine_state", "m1", "jw0!b"],
        ["4.000000", "machine_state", "m1", "jw0!a"],
        ["6.000000", "machine_state", "m1", "jw0!b"],
        ["10.000000", "machine_state", "m0", "w"],
        ["10.000000", "machine_state", "m1", "w"],
    ]
    events = [line[1:] for line in lines if line[0] == "8"]
    assert events == [["6.000000", "kk", "k", "jw0!a"], ["6.000000", "km", "m1", "jw0!a"]]


def test_the_trace_is_well_formed_and_the_same_each_time() -> None:
    jobs = [delay(f"w0! {i}", i, 1, 10) for i in range(4)]
    policy = {f"w0! {i}": str(i) for i in range(4)}
    trace = texts(outcome(jobs, Scripted(policy)))["schedule.trace"]
    assert trace == texts(outcome(jobs, Scripted(policy)))["schedule.trace"]
    n_fields = {}
    for block in trace.split("%EndEventDef\n")[:-1]:
        first, *fields = block.splitlines()
        n_fields[first.split()[2]] = len(fields)
    assert list(n_fields) == [str(i) for i in range(1, 11)]
    times = []
    for row in csv.reader(io.StringIO(trace), delimiter=" "):
        if not row[0].startswith("%"):
            assert len(row) - 1 == n_fields[row[0]], row
            times += [float(row[1])] if row[0] in ("2", "3", "6", "8") else []
    assert times == sorted(times)
    colours = [line for line in trace.splitlines() if line.startswith('5 "jw0!')]
    assert len({line.rpartition(' "')[2] for line in colours}) == 4


def test_a_large_plain_run_is_counted_as_a_small_one() -> None:
    """The two ways to follow hosts agree."""
    random = np.random.default_rng(1)
    jobs, hosts, free_at = [], {}, np.zeros(16)
    for i in range(200):
        first, n = int(random.integers(0, 12)), int(random.integers(1, 5))
        start = float(free_at[first : first + n].max()) + 1
        jobs.append(delay(f"w0!{i}", start, n, float(random.integers(1, 9))))
        free_at[first : first + n] = start + jobs[-1].profile.duration  # type: ignore[union-attr]
        hosts[f"w0!{i}"] = f"{first}-{first + n - 1}"
    jobs.sort(key=lambda job: job.submit_time)
    result = outcome(jobs, Scripted(hosts), nt.Platform.homogeneous(16))
    plain, careful = texts(result), texts(replace(result, shares_hosts=True))
    assert plain["machine_states.csv"] == careful["machine_states.csv"]
    (a,), (b,) = table(plain["schedule.csv"]), table(careful["schedule.csv"])
    assert a == b
