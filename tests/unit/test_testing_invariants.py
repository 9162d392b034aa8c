"""What a schedule breaks, on recorded schedules written down by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from noctule import HostSet, Platform, Schedule
from noctule.errors import InputError
from noctule.record import STATE_WORDS, PlainJobs, PlainRecord
from noctule.testing import a_job, check_schedule, run

NAN = math.nan


@dataclass
class Row:
    """A job as somebody recorded it."""

    id: str
    submit: float
    start: float
    finish: float
    n_hosts: int = 1
    walltime: float = math.inf
    hosts: str = ""
    state: str = "completed"


def recorded(*rows, n_hosts=4):
    jobs = PlainJobs(
        name="w0",
        job_ids=np.array([row.id for row in rows], dtype=object),
        n_hosts=np.array([row.n_hosts for row in rows], dtype=np.uint32),
        walltime=np.array([row.walltime for row in rows], dtype=float),
        profile_names=[""] * len(rows),
        users=None,
    )
    record = PlainRecord(
        job=np.arange(len(rows), dtype=np.uint32),
        state=np.array([STATE_WORDS.index(row.state) for row in rows], dtype=np.uint8),
        n_hosts=jobs.n_hosts,
        submit_time=np.array([row.submit for row in rows], dtype=float),
        start_time=np.array([row.start for row in rows], dtype=float),
        finish_time=np.array([row.finish for row in rows], dtype=float),
        host_sets=[HostSet.from_str(row.hosts) for row in rows],
    )
    return Schedule(Platform.homogeneous(n_hosts), [jobs], record)


def messages(*rows, n_hosts=4, **options):
    found = check_schedule(recorded(*rows, n_hosts=n_hosts), **options)
    return [(violation.rule, violation.message) for violation in found]


def test_a_good_schedule_breaks_nothing():
    a = Row("A", 0, 0, 10, 2, 10, "0-1")
    b = Row("B", 1, 10, 15, 3, 5, "0-2")
    c = Row("C", 0, NAN, NAN, 9, 5, state="rejected")

    assert messages(a, b, c) == []


def test_an_empty_schedule_breaks_nothing():
    assert messages(policy="easy") == []


def test_a_start_before_the_submission_is_found():
    assert messages(Row("A", 5, 4, 6)) == [
        ("started before submission", "job A: started at 4, submitted at 5")
    ]


def test_a_finish_before_the_start_is_found():
    assert messages(Row("A", 0, 4, 3)) == [
        ("finished before its start", "job A: finished at 3, started at 4")
    ]


def test_a_job_that_overruns_is_found():
    assert messages(Row("A", 0, 0.5, 11, walltime=10)) == [
        ("overran its walltime", "job A: ran for 10.5 s of 10 s")
    ]


def test_the_time_to_launch_is_not_part_of_the_walltime():
    row = Row("A", 0, 0, 13, walltime=10)

    assert messages(row, launch_delay=3) == []
    assert len(messages(row, launch_delay=2)) == 1


def test_a_runtime_is_not_judged_by_its_last_binary_digit():
    # 0.1 + 0.2 - 0.1 is a little more than 0.2
    assert messages(Row("A", 0, 0.1, 0.1 + 0.2, walltime=0.2)) == []


def test_a_wrong_number_of_hosts_is_found():
    assert messages(Row("A", 0, 0, 1, 2, hosts="0-2"), Row("B", 0, 0, 1, 1, hosts="3")) == [
        ("wrong number of hosts", "job A: holds 3 hosts of 2")
    ]


def test_a_host_that_does_not_exist_is_found():
    assert messages(Row("A", 0, 0, 1, 2, hosts="3-4")) == [
        ("host does not exist", "job A: holds host 4 of 0 to 3")
    ]


def test_a_host_used_twice_is_found():
    a = Row("A", 0, 0, 10, 2, hosts="0-1")
    b = Row("B", 0, 9, 12, 3, hosts="0-2")

    assert messages(a, b) == [
        ("host used twice", "job B: started at 9 on host 0 and 1 more, which job A holds until 10")
    ]


def test_a_host_may_be_used_from_the_instant_at_which_it_comes_free():
    assert messages(Row("A", 0, 0, 10, hosts="0"), Row("B", 0, 10, 12, hosts="0")) == []


def test_a_host_is_not_free_during_an_epilogue():
    rows = (Row("A", 0, 0, 10, hosts="0"), Row("B", 0, 11, 12, hosts="0"))

    assert messages(*rows, epilogue_delay=1) == []
    assert messages(*rows, epilogue_delay=2) == [
        ("host used twice", "job B: started at 11 on host 0, which job A holds until 12")
    ]


def test_a_running_job_holds_its_hosts_without_end():
    a = Row("A", 0, 0, NAN, hosts="0", state="running")

    assert [rule for rule, _ in messages(a, Row("B", 0, 99, 100, hosts="0"))] == ["host used twice"]


def test_many_hosts_are_looked_at_in_parts(monkeypatch):
    monkeypatch.setattr("noctule.testing.invariants._PAIRS_AT_ONCE", 2)
    a = Row("A", 0, 0, 10, 4, hosts="0-3")

    assert messages(a, Row("B", 0, 9, 12, 2, hosts="2-3")) == [
        ("host used twice", "job B: started at 9 on host 2 and 1 more, which job A holds until 10")
    ]


def test_without_host_ids_the_capacity_is_checked():
    a, b = Row("A", 0, 0, 10, 3), Row("B", 0, 9, 12, 2)

    assert messages(a, b) == [
        ("more hosts used than there are", "job B: starts on 2 hosts, which makes 5 of 4 in use")
    ]
    assert messages(a, Row("B", 0, 10, 12, 2)) == []


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (Row("A", 0, 1, NAN), "completed, start 1, finish inf; expected a start and a finish"),
        (
            Row("A", 0, 1, 2, state="running"),
            "running, start 1, finish 2; expected a start and no finish",
        ),
        (
            Row("A", 0, 1, 2, state="rejected"),
            "rejected, start 1, finish 2; expected neither start nor finish",
        ),
        (Row("A", 0, 0, 5, walltime=10, state="timed_out"), "timed out after 5 s of 10 s"),
    ],
)
def test_a_state_that_contradicts_the_dates_is_found(row, said):
    assert messages(row) == [("inconsistent state", f"job A: {said}")]


def test_a_violation_tells_rule_job_and_time():
    (violation,) = check_schedule(recorded(Row("A", 5, 4, 6)))

    assert (violation.rule, violation.job_id, violation.time, violation.n) == (
        "started before submission", "A", 4.0, 1
    )  # fmt: skip


def test_violations_beyond_the_limit_are_counted():
    rows = [Row(f"J{i}", 5, 4, 6) for i in range(7)]

    found = check_schedule(recorded(*rows, n_hosts=9), max_per_rule=3)

    assert [violation.job_id for violation in found] == ["J0", "J1", "J2", None]
    assert found[-1].message == "and 4 more, 7 in all"
    assert sum(violation.n for violation in found) == 7
    assert len(check_schedule(recorded(*rows, n_hosts=9), max_per_rule=None)) == 7


def test_an_unknown_policy_is_refused():
    with pytest.raises(InputError) as error:
        check_schedule(recorded(), policy="slurm")
    assert str(error.value) == (
        "policy slurm: has no rules to check; conservative, easy, fcfs, replanning have"
    )


@pytest.mark.parametrize("tolerance", [-1, NAN, math.inf])
def test_a_meaningless_tolerance_is_refused(tolerance):
    with pytest.raises(InputError) as error:
        check_schedule(recorded(), tolerance=tolerance)
    assert str(error.value) == f"tolerance: got {tolerance}, expected a number >= 0"


# The first three rows are those of the EASY cases: A holds 3 of 4 hosts until 100, B waits for all.
A = Row("A", 0, 0, 100, 3, 100)


def test_fcfs_finds_a_job_that_was_overtaken():
    rows = (A, Row("B", 1, 100, 150, 4, 50), Row("C", 2, 2, 12, 1, 10))

    assert messages(*rows, policy="fcfs") == [
        ("job overtaken", "job C: started at 2 ahead of job B, which is first in the queue")
    ]


def test_fcfs_finds_a_first_job_left_waiting():
    assert messages(A, Row("B", 1, 100, 150, 1, 50), policy="fcfs") == [
        (
            "job left waiting",
            "job B: is first in the queue at 1 and needs 1 of 1 free hosts, but does not start",
        )
    ]


def test_easy_finds_a_first_job_that_a_backfilled_one_delays():
    # C ends at 202 > 100 and needs 1 > 0 extra hosts
    rows = (A, Row("B", 1, 202, 252, 4, 50), Row("C", 2, 2, 202, 1, 200))

    assert messages(*rows, policy="easy") == [
        (
            "first job delayed by a backfilled one",
            "job C: started at 2 and delays job B, first in the queue: it may end at 202, after "
            "the shadow 100, and needs 1 hosts of 0 extra",
        )
    ]


def test_easy_finds_a_job_left_waiting_that_would_end_in_time():
    rows = (A, Row("B", 1, 100, 150, 4, 50), Row("C", 2, 150, 200, 1, 50))

    assert messages(*rows, policy="easy") == [
        (
            "job left waiting",
            "job C: EASY would start it at 2: it needs 1 of 1 free hosts and would end at 52, by "
            "the shadow 100, so job B is not delayed",
        )
    ]


def test_easy_finds_a_job_left_waiting_that_would_fit_beside_the_first():
    # B needs 2 of the 4 hosts of 100: 2 are extra
    rows = (A, Row("B", 1, 100, 150, 2, 50), Row("C", 2, 100, 600, 1, 500))

    assert messages(*rows, policy="easy") == [
        (
            "job left waiting",
            "job C: EASY would start it at 2: it needs 1 of 1 free hosts and needs no more than "
            "the 2 extra hosts, so job B is not delayed",
        )
    ]


def test_a_job_left_waiting_is_named_once():
    # D's arrival is one more instant at which C could have started
    rows = (
        A,
        Row("B", 1, 100, 150, 4, 50),
        Row("C", 2, 150, 200, 1, 50),
        Row("D", 3, 200, 210, 4, 10),
    )

    assert [rule for rule, _ in messages(*rows, policy="easy")] == ["job left waiting"]


def test_a_mistake_is_not_reported_again_as_its_consequences():
    # C delays B at 2; that D then starts with it at 202 is as it should be
    rows = (
        A,
        Row("B", 1, 202, 252, 4, 50),
        Row("C", 2, 2, 202, 1, 200),
        Row("D", 3, 252, 262, 4, 10),
    )

    assert len(messages(*rows, policy="easy")) == 1


def test_latencies_within_the_tolerance_are_forgiven():
    # starts and ends come a few milliseconds after their causes, as in Batsim
    rows = (
        Row("A", 0, 0.002, 100.002, 3, 100),
        Row("B", 1, 100.005, 150.005, 4, 50),
        Row("C", 2, 2.004, 100.004, 1, 98),
    )

    assert messages(*rows, policy="easy", tolerance=0.01) == []
    assert len(messages(*rows, policy="easy")) == 4


def test_two_calls_within_the_tolerance_explain_what_one_cannot():
    # C is submitted at 10 and passes (10 + 50 <= 100); then A is seen to end, and B must wait
    rows = (
        Row("A", 0, 0, 10.001, 3, 100),
        Row("B", 1, 60.002, 110.002, 4, 50),
        Row("C", 10, 10.0005, 60.0005, 1, 50),
    )

    assert messages(*rows, policy="easy", tolerance=0.01) == []


def test_tolerance_does_not_forgive_what_no_order_of_calls_explains():
    # 3 hosts come free at 10, B needs 2 of the 4 and is left waiting until 50
    rows = (Row("A", 0, 0, 10, 3, 100), Row("B", 1, 50, 60, 2, 10), Row("C", 10.004, 20, 30, 4, 10))

    found = messages(*rows, policy="easy", tolerance=0.01)

    assert found[0] == (
        "job left waiting",
        "job B: is first in the queue at 10.004 and needs 2 of 4 free hosts, but does not start",
    )


def test_conservative_finds_the_first_job_that_leaves_the_plan():
    # C is promised 150, behind B; the plan has no other hole of 200 s
    rows = (A, Row("B", 1, 202, 252, 4, 50), Row("C", 2, 2, 202, 1, 200))

    assert messages(*rows, policy="conservative") == [
        ("start not as planned", "job C: starts at 2, its reservation begins at 150")
    ]


def test_conservative_finds_a_reservation_that_nobody_kept():
    rows = (A, Row("B", 1, 120, 170, 4, 50))

    assert messages(*rows, policy="conservative") == [
        ("start not as planned", "job B: does not start at 100, its reservation begins at 100")
    ]


def test_conservative_finds_a_reservation_missed_where_nothing_else_happens():
    # the case "one pass, and a start where nothing else happens", without a clock: X waits for W
    rows = (
        Row("V", 0, 0, 60, 2, 60),
        Row("Y", 0, 0, 50, 2, 100),
        Row("X", 1, 120, 170, 4, 50),
        Row("Z", 2, 50, 90, 2, 40),
        Row("W", 120, 170, 180, 1, 10),
    )

    assert messages(*rows, policy="conservative")[0] == (
        "start not as planned",
        "job X: does not start at 100, its reservation begins at 100",
    )


def test_jobs_submitted_together_in_a_file_are_in_order_of_their_ids():
    # J9 comes before J10: it takes the 4 hosts first
    rows = (Row("J10", 0, 10, 20, 4, 10), Row("J9", 0, 0, 10, 4, 10))

    assert messages(*rows, policy="fcfs") == []


def test_jobs_submitted_together_in_a_workload_are_in_its_order():
    jobs = [a_job("B", hosts=4), a_job("A", hosts=4)]

    assert check_schedule(run("fcfs", jobs=jobs), policy="fcfs") == []


def test_a_job_whose_user_gave_up_leaves_the_queue_then():
    # B is first until 50, when it is cancelled; only then may C, which would delay it, start
    jobs = [
        a_job("A", hosts=3, runtime=100),
        a_job("B", hosts=4, submit=1, cancel_time=50),
        a_job("C", runtime=200, submit=2),
    ]

    schedule = run("easy", jobs=jobs)

    assert schedule.column("start_time")[schedule.column("job_id") == "C"] == 50
    assert check_schedule(schedule, policy="easy") == []


def test_plans_with_delays_are_not_judged():
    schedule = run("conservative", hosts=2, jobs=[a_job("A")], epilogue_delay=1)
    with pytest.raises(InputError, match="policy conservative: its plan with launch and epilogue"):
        check_schedule(schedule, policy="conservative", epilogue_delay=1)


def test_a_long_job_conflicts_with_all_that_start_meanwhile(tmp_path):
    path = tmp_path / "jobs.csv"
    rows = ["A,0,0,100,100,1,0", "B,0,10,20,10,1,0", "C,0,30,40,10,1,0"]
    header = "job_id,submit_time,start_time,finish_time,walltime,n_hosts,hosts"
    path.write_text("\n".join([header, *rows, ""]))
    found = check_schedule(Schedule.from_jobs_csv(path, 2))
    assert [v.job_id for v in found if v.rule == "host used twice"] == ["B", "C"]
