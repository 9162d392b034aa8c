"""Jobs from the accounting: states, attempts, ids, times, and rows that are no good."""

from __future__ import annotations

import gzip
import math

import pytest
from slurm_rows import T0, row, sacct_file, settings

from noctule.errors import InputError
from noctule.slurm.jobs.import_report import ImportReport
from noctule.slurm.jobs.requests import NO_LIMIT
from noctule.slurm.jobs.sacct import ENDLESS, export_command
from noctule.slurm.jobs.sacct_rows import COLUMNS
from noctule.slurm.jobs.sources import jobs_from_sacct
from noctule.slurm.jobs.stamps import find_zone


@pytest.fixture
def jobs_of(tmp_path):
    """Return a function that reads rows, and gives the jobs and the report."""

    def read(*rows, zone=None, **more):
        report = ImportReport()
        path = sacct_file(tmp_path, *rows, **more)
        return jobs_from_sacct([path], settings(), report, zone=zone), report

    return read


def counts(tallies):
    return {reason: tally.count for reason, tally in tallies.items()}


def test_a_completed_job_runs_as_long_as_it_did(jobs_of):
    jobs, report = jobs_of(row("7"))
    assert (jobs.ids, jobs.submit, jobs.runtime, jobs.origin) == (["7"], [0.0], [60.0], T0)
    assert jobs.cancel == [math.inf]
    request = jobs.requests[0]
    assert (request.partitions, request.limit, request.user) == (("main",), 10, "ada")
    assert (request.account, request.qos, request.cpus) == ("physics", "normal", 8)
    recorded = jobs.recorded
    assert (recorded.start, recorded.end, recorded.nodes) == ([10.0], [70.0], ["n1"])
    assert (recorded.scheduler, recorded.priority) == (["Main"], [100])
    assert not report.dropped


def test_a_job_cancelled_while_waiting_leaves_the_queue_then(jobs_of):
    jobs, _ = jobs_of(
        row("1", State="CANCELLED by 1000", Start="None", End=50, NodeList="None assigned"),
        row("2", State="CANCELLED by 1000", Start=60, End=60, NodeList="None assigned"),
        row("3", State="CANCELLED by 1000", Start=20, End=45),
    )
    assert jobs.cancel == [50.0, 60.0, math.inf]
    assert jobs.recorded.start == [None, None, 20.0]
    assert jobs.runtime == [600.0, 600.0, 25.0]


def test_a_job_that_reached_its_limit_would_run_to_any(jobs_of):
    jobs, report = jobs_of(row(State="TIMEOUT", End=640))
    assert jobs.runtime == [ENDLESS]
    assert counts(report.rules)["TIMEOUT: would run to any limit"] == 1


@pytest.mark.parametrize("state", ["FAILED", "OUT_OF_MEMORY"])
def test_a_failed_job_keeps_its_runtime_and_fails(jobs_of, state):
    jobs, _ = jobs_of(row(State=state, ExitCode="1:0"))
    assert (jobs.runtime, jobs.fails) == ([60.0], [True])


@pytest.mark.parametrize("state", ["PREEMPTED", "NODE_FAIL", "REQUEUED"])
def test_attempts_are_one_job_submitted_when_the_first_was(jobs_of, state):
    jobs, report = jobs_of(
        row("5", Submit=0, Start=10, End=30, State=state),
        row("5", Submit=30, Start=100, End=160),
    )
    assert (jobs.ids, jobs.submit, jobs.runtime) == (["5"], [0.0], [60.0])
    assert (jobs.recorded.start, jobs.recorded.end) == ([10.0], [160.0])
    assert jobs.recorded.n_attempts == [2]
    assert counts(report.rules)["several attempts: one job, which runs as the last"] == 1


def test_a_preempted_job_that_is_not_seen_again_runs_as_long_as_it_did(jobs_of):
    jobs, report = jobs_of(row(State="PREEMPTED", End=30))
    assert jobs.runtime == [20.0]
    assert counts(report.rules) == {"PREEMPTED and not seen again: runs as long as it did": 1}


def test_pieces_of_a_job_that_changed_its_size_are_one_run(jobs_of):
    jobs, report = jobs_of(
        row("5", State="RESIZING", Start=10, End=30),
        row("5", State="RESIZING", Start=30, End=50),
        row("5", Start=50, End=90),
    )
    assert (jobs.runtime, jobs.recorded.start, jobs.recorded.n_attempts) == ([80.0], [10.0], [1])
    assert counts(report.rules) == {"RESIZING: rows of one run merged": 1}


def test_jobs_that_had_not_ended_run_to_their_limit(jobs_of):
    jobs, report = jobs_of(
        row("1", State="RUNNING", Start=10, End="Unknown"),
        row("2", State="PENDING", Start="Unknown", End="Unknown", NodeList="None assigned"),
        row("3", State="RUNNING", Start=10, End="Unknown", Timelimit="UNLIMITED"),
        row("4", Submit=5000, Start=5000, End=5001),
    )
    # the last date of the log is 5001: job 3 has run for 4991 s by then
    assert jobs.runtime == [4991.0, 600.0, 4991.0, 1.0]
    assert jobs.requests[2].limit == NO_LIMIT
    assert jobs.recorded.end[:2] == [None, None]
    assert counts(report.rules)["running when exported: runs to its limit"] == 2


def test_the_same_row_twice_is_one_job(jobs_of):
    jobs, report = jobs_of(row("1"), row("1"))
    assert len(jobs) == 1
    assert counts(report.dropped) == {"there already: the same attempt in another row": 1}


def test_a_row_exported_while_the_job_ran_gives_way_to_the_later_one(jobs_of):
    jobs, _ = jobs_of(row("1", State="RUNNING", End="Unknown"), row("1", End=400))
    assert (jobs.ids, jobs.runtime) == (["1"], [390.0])


def test_an_id_that_is_used_again_is_another_job(jobs_of):
    jobs, report = jobs_of(row("1"), row("1", Submit=9000, Start=9001, End=9002))
    assert (jobs.ids, jobs.submit) == (["1", "1@2"], [0.0, 9000.0])
    assert counts(report.rules) == {"JobID used again: another job": 1}


def test_tasks_of_arrays_and_parts_of_heterogeneous_jobs(jobs_of):
    jobs, _ = jobs_of(
        row("12_10", JobIDRaw="15", SubmitLine="sbatch --array=2-10%3 x.sh"),
        row("12_2", JobIDRaw="13", SubmitLine="sbatch --array=2-10%3 x.sh"),
        row("20+0"),
        row("20+1"),
    )
    assert jobs.ids == ["12_2", "12_10", "20+0", "20+1"]
    first = jobs.requests[0]
    assert (first.array, first.array_task, first.array_throttle) == ("12", 2, 3)
    assert jobs.requests[3].het_group == "20"


def test_an_array_that_never_started_is_a_job_for_each_task(jobs_of):
    jobs, report = jobs_of(
        row(
            "12_[3-5,9%2]",
            JobIDRaw="12",
            State="CANCELLED by 7",
            Start="None",
            End=40,
            NodeList="None assigned",
        ),
        row("12_3", JobIDRaw="14"),
    )
    assert jobs.ids == ["12_3", "12_4", "12_5", "12_9"]
    assert jobs.requests[3].array_throttle == 2
    assert jobs.cancel[1:] == [40.0, 40.0, 40.0]
    assert counts(report.dropped) == {"there already: a task of an array in two rows": 1}


def test_steps_and_other_rows_that_are_no_jobs_are_dropped_with_a_reason(jobs_of):
    whole = row("9")
    jobs, report = jobs_of(
        whole,
        row("9.batch"),
        row("x"),
        whole[: len(whole) // 2].replace("9|9", "10|10", 1),
        row("11", Submit="soon"),
        row("12", Submit="Unknown"),
        row("13", State="ASLEEP"),
        row("14", ReqTRES="cpu"),
        row("15", Timelimit="long"),
        row("16", Start=100, End=50),
        row("17", State="REVOKED"),
        row("18", ReqCPUS="many"),
    )
    assert jobs.ids == ["9"]
    assert counts(report.dropped) == {
        "a step of a job, not an allocation": 1,
        "JobID: expected a number such as 12, 12_3 or 12+0": 1,
        "cut off: too few columns": 1,
        "Submit: expected a time": 1,
        "Submit: not known": 1,
        "State: 'ASLEEP' is none that Slurm has": 1,
        "ReqTRES: expected resources such as cpu=4,mem=2G": 1,
        "Timelimit: expected a time such as 1-00:00:00": 1,
        "End: before Start": 1,
        "REVOKED: ran on another cluster of a federation": 1,
        "ReqCPUS: expected a number": 1,
    }
    assert report.dropped["Submit: expected a time"].first.endswith("sacct.txt: line 6")


def test_a_clock_that_jumped_back_submits_the_job_when_it_started(jobs_of):
    jobs, report = jobs_of(row("1", Submit=0, Start=5, End=9), row("2", Submit=20, Start=15))
    assert jobs.submit == [0.0, 15.0]
    assert counts(report.rules) == {
        "Start before Submit: submitted when it started": 1,
        "Eligible after Submit: begins then": 1,
    }


def test_bars_and_line_breaks_in_texts_do_no_harm(jobs_of):
    jobs, report = jobs_of(
        row("1", JobName="a|b", SubmitLine="sbatch -p main,large --wrap=echo a|wc"),
        "second line of a submission",
        row("2", SubmitLine="sbatch --wrap='echo"),
        "done'",
        row("3"),
    )
    assert jobs.ids == ["1", "2", "3"]
    assert jobs.requests[0].partitions == ("main", "large")
    assert not report.dropped


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("1-00:00:00", 1440), ("UNLIMITED", NO_LIMIT), ("Partition_Limit", None), ("00:00:30", 1)],
)
def test_limits(jobs_of, text, minutes):
    assert jobs_of(row(Timelimit=text))[0].requests[0].limit == minutes


def test_memory_and_its_old_suffixes(jobs_of):
    jobs, _ = jobs_of(
        row("1", ReqMem="4Gn"),
        row("2", ReqMem="2Gc"),
        row("3", ReqTRES="cpu=16,mem=32000M,node=2", ReqNodes="2"),
        row("4", SubmitLine="sbatch --mem-per-cpu=500M x.sh"),
        row("5", ReqTRES="cpu=1,node=1", ReqMem=""),
    )
    found = [(r.memory_mb, r.memory_is_per_cpu) for r in jobs.requests]
    assert found == [(4096, False), (2048, True), (16000, False), (500, True), (None, False)]


def test_typed_resources_are_not_added_to_untyped_ones(jobs_of):
    jobs, _ = jobs_of(
        row("1", ReqTRES="cpu=8,gres/gpu:a100=4,gres/gpu=4,node=2", ReqNodes="2"),
        row("2", ReqTRES="cpu=8,gres/gpu=3,node=2", ReqNodes="2"),
        row("3", SubmitLine="sbatch --gpus=tesla:2 x", ReqTRES="cpu=1,gres/gpu=2,node=1"),
    )
    assert [list(map(str, r.gres_per_node)) for r in jobs.requests] == [["gpu:a100:2"], [], []]
    assert [list(map(str, r.gres_per_job)) for r in jobs.requests] == [
        [],
        ["gpu:3"],
        ["gpu:tesla:2"],
    ]


def test_an_energy_that_nobody_measured_is_no_number(jobs_of):
    jobs, report = jobs_of(row(AllocTRES="cpu=8,energy=18446744073709551614,node=1"))
    assert len(jobs) == 1
    assert not report.dropped


def test_dependencies_partitions_and_more_come_from_the_submitting_line(jobs_of):
    jobs, report = jobs_of(
        row("1"),
        row(
            "2",
            SubmitLine="sbatch -d afterok:1:99 -N 2-4 -n8 -c 2 -p large,main --exclusive=user x",
            Eligible=70,
        ),
        row("3", SubmitLine="/usr/bin/sbatch --dependency afterany:1?after:2+5 --nice x.sh"),
        row("4", SubmitLine="sbatch --gres=odd:thing:x:3 --exclusive -H --switches=2@10 x.sh -d 1"),
    )
    second, third, fourth = jobs.requests[1], jobs.requests[2], jobs.requests[3]
    assert [str(d) for d in second.dependencies] == ["afterok:1"]
    assert second.begin is None
    assert (second.exclusive, second.exclusive_user) == (False, True)
    assert (second.min_nodes, second.max_nodes, second.tasks, second.cpus_per_task) == (2, 4, 8, 2)
    assert second.partitions == ("large", "main")
    assert [str(d) for d in third.dependencies] == ["afterany:1", "after:2+5"]
    assert (third.any_dependency, third.nice) == (True, 100)
    assert (fourth.exclusive, fourth.held) == (True, False)
    assert (fourth.switches, fourth.switch_wait) == (2, 600.0)
    assert fourth.dependencies == ()
    told = counts(report.rules)
    assert told["dependency on a job that is not in the log: left out"] == 1
    assert told["SubmitLine: --gres not understood"] == 1


def test_a_dependency_on_an_array_is_one_on_its_tasks(jobs_of):
    jobs, _ = jobs_of(
        row("5_1"),
        row("5_2"),
        row("8", SubmitLine="sbatch -d afterok:5 x.sh"),
        row("9_1", SubmitLine="sbatch -d aftercorr:5 -a 1-2 x.sh"),
    )
    assert [d.job_id for d in jobs.requests[2].dependencies] == ["5_1", "5_2"]
    assert [d.job_id for d in jobs.requests[3].dependencies] == ["5_1"]


def test_a_job_that_became_eligible_later_begins_then(jobs_of):
    jobs, _ = jobs_of(
        row("1", Submit=0, Eligible=500, Start=510, End=520),
        row("2", Submit=0, Eligible="Unknown", Start="None", End=90, State="CANCELLED"),
    )
    assert (jobs.requests[0].begin, jobs.requests[1].held) == (500.0, True)


def test_names_are_kept_only_where_a_singleton_needs_them(jobs_of):
    jobs, _ = jobs_of(row("1"), row("2"))
    assert "name" not in jobs.requests.told
    jobs, _ = jobs_of(row("1"), row("2", SubmitLine="sbatch -d singleton x.sh"))
    assert jobs.requests.column("name") == ["sim", "sim"]


def test_local_times_need_a_zone(jobs_of):
    stamp = "2026-07-01T12:00:00"
    with pytest.raises(InputError) as error:
        jobs_of(row(Submit=stamp))
    assert "line 2: got the local time '2026-07-01T12:00:00'" in str(error.value)
    assert "--time-zone Europe/Paris" in str(error.value)


def test_local_times_and_the_hours_that_summer_time_skips_and_repeats(jobs_of):
    paris = find_zone("Europe/Paris", "--time-zone")
    dates = {
        # 2026-03-29 02:00 becomes 03:00; 2026-10-25 03:00 becomes 02:00
        "1": ("2026-03-29T01:00:00", "2026-03-29T01:59:50", "2026-03-29T03:00:10"),
        "2": ("2026-03-29T01:00:00", "2026-03-29T02:30:00", "2026-03-29T03:40:00"),
        "3": ("2026-10-25T02:10:00", "2026-10-25T02:50:00", "2026-10-25T02:10:00"),
    }
    jobs, report = jobs_of(
        *(
            row(job_id, Submit=submit, Eligible=submit, Start=start, End=end)
            for job_id, (submit, start, end) in dates.items()
        ),
        zone=paris,
    )
    # the last one starts at 02:50 summer time and ends at 02:10 winter time, 20 minutes later
    assert jobs.runtime == [20.0, 600.0, 1200.0]
    told = counts(report.rules)
    assert told["local times that summer time skips: moved by the change"] == 1
    assert told["local times that are there twice: the first one taken"] == 2


@pytest.mark.parametrize("name", ["Mars/Olympus", "../../etc/passwd", "/etc/passwd", "UTC+99"])
def test_an_unknown_zone_is_refused(name):
    with pytest.raises(InputError, match="expected a time zone such as Europe/Paris"):
        find_zone(name, "--time-zone")


def test_a_file_with_fewer_columns_says_what_is_not_known(jobs_of):
    header = "JobID|Submit|Start|End|State|Partition"
    line = f"1|{T0}|{T0 + 5}|{T0 + 9}|COMPLETED|main"
    jobs, report = jobs_of(line, header=header)
    assert jobs.runtime == [4.0]
    absent = " ".join(report.absent)
    for column in ("SubmitLine", "ReqTRES", "Timelimit", "NodeList", "Priority", "Eligible"):
        assert f"column {column}:" in absent


def test_a_file_without_a_needed_column_is_refused(jobs_of):
    with pytest.raises(InputError, match=r"sacct.txt: line 1: no column State, expected what"):
        jobs_of("1|2|3|4", header="JobID|Submit|Start|End")


def test_a_compressed_file_is_read_and_a_torn_one_refused(tmp_path):
    text = "\n".join(["|".join(COLUMNS), row("1"), ""]).encode()
    path = tmp_path / "sacct.txt.gz"
    path.write_bytes(gzip.compress(text))
    assert len(jobs_from_sacct([path], settings(), ImportReport())) == 1
    path.write_bytes(gzip.compress(text)[:-9])
    with pytest.raises(InputError, match="truncated or corrupt compressed data"):
        jobs_from_sacct([path], settings(), ImportReport())


def test_the_export_command_asks_for_all_that_is_read():
    command = export_command("2026-01-01", "2026-02-01")
    assert command.startswith("SLURM_TIME_FORMAT=%s sacct --allusers --allocations --duplicates ")
    assert "--parsable2 --starttime 2026-01-01 --endtime 2026-02-01" in command
    assert command.endswith("Reason,JobName,SubmitLine")
