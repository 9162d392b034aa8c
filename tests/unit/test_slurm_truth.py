"""Sets of files of a real Slurm's run: what is read of them, and what is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from slurm_sets import EPOCH, HEADER, LOG, ROWS, full, quick, row, stamp, write_set

from noctule.errors import InputError
from noctule.slurm.truth.controller_log import MainPass, parse_controller_log
from noctule.slurm.truth.sets import read_truth
from noctule.slurm.truth.tick_grid import TICK_PERIOD, passes_at_once, tick_grid


def test_jobs_have_their_request_and_dates_to_the_millisecond(tmp_path):
    job = read_truth(write_set(tmp_path)).jobs[0]
    assert (job.job_id, job.n_nodes, job.limit_minutes, job.partitions) == (1, 3, 2, ("main",))
    assert (job.submit, job.start, job.end) == (EPOCH + 2, EPOCH + 5, EPOCH + 40)
    assert job.runtime == pytest.approx(35.1)
    assert job.wait == 3
    assert job.nodes == "n[1-3]"


def test_the_log_tells_of_passes_cycles_and_allocations(tmp_path):
    log = read_truth(write_set(tmp_path)).log
    assert [(round(p.date - EPOCH, 3), p.is_full) for p in log.passes] == [
        (2.02, False),
        (5.5, False),
        (8.5, False),
        (43.7, True),
        (53.8, False),
    ]
    assert log.cycles == [EPOCH + 31.25]
    assert log.cycle_costs == [pytest.approx(0.002064)]
    assert {n: (a.scheduler, a.nodes) for n, a in log.allocations.items()} == {
        1: ("Main", "n[1-3]"),
        2: ("Main", "n[1-2]"),
        3: ("Backfill", "n4"),
    }
    assert log.ends[2] == EPOCH + 63.8


def test_a_detailed_log_tells_when_nodes_came_back_and_priorities_were_computed():
    # n1 answers when job 3 starts, and again after its end; of n2 nothing is told
    prio = "priority/multifactor: _decay_thread: PRIO: Decay factor over 60 seconds goes from 1"
    lines = [quick(1), f"{stamp(1.1)} debug2: node_did_resp n1", f"{stamp(2)} {prio}"]
    lines += [f"{stamp(3)} _job_complete: JobId=3 done", f"{stamp(3.25)} debug2: node_did_resp n1"]
    log = parse_controller_log("\n".join([*lines, ""]), "log").shifted(0.5)
    assert log.calculations == [EPOCH + 2.5]
    assert log.release(3, ["n1"], EPOCH + 3.5) == EPOCH + 3.75
    assert log.release(3, ["n1", "n2"], EPOCH + 3.5) is None
    assert log.release(3, ["n1"], EPOCH + 4) is None


def test_nodes_of_a_killed_job_come_back_when_the_last_tells_so_not_when_they_answer():
    done = "debug2: _slurm_rpc_epilog_complete: JobId=3 Node="
    lines = [quick(1), f"{stamp(2)} Time limit exhausted for JobId=3"]
    lines += [f"{stamp(2.1)} debug2: node_did_resp n1"]
    assert parse_controller_log("\n".join([*lines, ""]), "log").release(3, ["n1"], EPOCH) is None
    lines += [f"{stamp(5.7)} {done}n1 ", f"{stamp(5.8)} {done}n2 "]
    log = parse_controller_log("\n".join([*lines, ""]), "log").shifted(0.5)
    assert log.release(3, ["n1", "n2"], EPOCH + 2.5) == EPOCH + 6.3


def test_tasks_of_arrays_are_known_by_their_own_number():
    log = parse_controller_log(f"{quick(1)}\n{stamp(2)} _job_complete: JobId=7_3(12) done\n", "log")
    assert list(log.ends) == [12]


def test_a_log_in_local_time_is_moved_to_the_clock_of_the_jobs(tmp_path):
    # a log written two hours east of the jobs' epoch seconds
    local = tuple(line.replace("T00:", "T02:") for line in LOG)
    base = write_set(tmp_path, log=local)
    assert read_truth(base).log.cycles == [EPOCH + 31.25]


def test_dates_without_milliseconds_come_from_the_log_else_from_the_seconds(tmp_path):
    cells = ROWS[0].split(",")
    without = ",".join([*cells[:-4], "", "", "", ""])
    job = read_truth(write_set(tmp_path, rows=(without, *ROWS[1:]))).jobs[0]
    assert job.start_date == EPOCH + 5.5
    silent = tuple(line for line in LOG if "JobId=1 " not in line)
    job = read_truth(write_set(tmp_path, rows=(without, *ROWS[1:]), log=silent)).jobs[0]
    assert (job.submit_date, job.start_date, job.end_date) == (EPOCH + 2, EPOCH + 5, EPOCH + 40)


def test_a_job_that_its_time_limit_ended_ends_when_the_limit_was_tested(tmp_path):
    base = write_set(tmp_path, log=(*LOG, f"{stamp(70)} Time limit exhausted for JobId=9"))
    killed = row(9, 1, (64.0, 64.5, 70.0), "n1").replace("COMPLETED", "TIMEOUT")
    killed = f"{killed.rsplit(',', 2)[0]},,{EPOCH + 70.004:.3f}"
    Path(f"{base}.csv").write_text("\n".join([HEADER, *ROWS, killed, ""]))
    job = read_truth(base).jobs[-1]
    assert job.is_timed_out
    assert job.end_date == EPOCH + 70.004


def test_a_job_has_all_the_partitions_that_it_named(tmp_path):
    base = write_set(tmp_path)
    Path(f"{base}.trace.csv").write_text(
        "idx,submit,nodes,cpus,duration,limit,partition,name\n"
        '0,2.1,3,0,35,2,"short,main",j1\n'
        "1,6.2,2,0,20,2,main,j2\n"
    )
    assert [job.partitions for job in read_truth(base).jobs] == [
        ("short", "main"),
        ("main",),
        ("main",),
    ]


def test_jobs_cancelled_while_they_waited_are_apart_and_those_without_end_left_out(tmp_path):
    cells = ROWS[2].split(",")
    waited = [*cells[:10], "", cells[11], "CANCELLED", *cells[13:19], "", "", "", ""]
    endless = ["4", *cells[1:10], "", "", "PENDING", *cells[13:19], "", "", "", ""]
    truth = read_truth(write_set(tmp_path, rows=(*ROWS[:2], ",".join(waited), ",".join(endless))))
    assert [job.job_id for job in truth.jobs] == [1, 2]
    assert [(job.job_id, job.end) for job in truth.cancelled] == [(3, EPOCH + 50)]
    assert truth.n_left_out == 1


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((ROWS[0][:60],), "tiny.csv: line 2: got 12 cells, expected 23 as in line 1"),
        ((ROWS[0], ROWS[0]), "tiny.csv: line 3: job 1 is in line 2 already"),
        (
            (ROWS[0].replace("1,j1", "x,j1", 1),),
            "tiny.csv: line 2: column jobid: got 'x', expected a whole number",
        ),
        (
            (row(1, 1, (9, 5, 20), "n1"),),
            f"job 1: got submit {EPOCH + 9}, start {EPOCH + 5}, end {EPOCH + 20}, expected them in",
        ),
        ((), "tiny.csv: no rows, expected a job in each line after the first"),
    ],
)
def test_a_table_that_is_cut_or_wrong_is_refused_with_its_line(tmp_path, rows, message):
    with pytest.raises(InputError) as caught:
        read_truth(write_set(tmp_path, rows=rows))
    assert message in str(caught.value)


def test_a_table_without_a_column_names_it(tmp_path):
    header = HEADER.replace("nodelist", "hosts")
    with pytest.raises(InputError, match=r"tiny.csv: line 1: no column nodelist"):
        read_truth(write_set(tmp_path, header=header))


def test_a_date_far_from_its_second_is_refused(tmp_path):
    rows = (ROWS[0].replace(f"{EPOCH + 5.5:.3f}", f"{EPOCH + 500:.3f}"),)
    with pytest.raises(InputError, match=r"line 2: column start_ms: got .*, expected a date near"):
        read_truth(write_set(tmp_path, rows=rows))


def test_logs_that_are_cut_empty_or_run_backwards_are_refused(tmp_path):
    base = write_set(tmp_path)
    whole = Path(f"{base}.log.gz").read_bytes()
    for data, message in [
        (whole[:-20], "tiny.log.gz: truncated or corrupt gzip data"),
        (gzip.compress(b"nothing of use\n"), "no pass of the main scheduler in it"),
        (gzip.compress(f"{quick(1)}\n{quick(4)[:30]}".encode()), "line 2: cut off"),
        (gzip.compress(f"{quick(90)}\n{quick(4)}\n".encode()), "line 2: the clock goes back by 86"),
    ]:
        Path(f"{base}.log.gz").write_bytes(data)
        with pytest.raises(InputError) as caught:
            read_truth(base)
        assert message in str(caught.value)


def test_a_set_that_is_not_there_is_told_by_the_file_that_is_missing(tmp_path):
    with pytest.raises(InputError, match=r"none\.csv: no such file, expected a set DIR/NAME"):
        read_truth(tmp_path / "none")
    base = write_set(tmp_path)
    Path(f"{base}.log.gz").unlink()
    with pytest.raises(InputError, match=r"tiny\.log\.gz: no such file, expected the log"):
        read_truth(base)


def passes(*lines: str) -> list[MainPass]:
    return parse_controller_log("".join(f"{line}\n" for line in lines), "log").passes


def seconds(dates) -> list[float]:
    return [round(date - EPOCH, 3) for date in dates]


def test_ticks_between_two_passes_are_a_second_apart_and_the_one_with_the_pass_is_late():
    # 3.03 s apart are three ticks of 1.01 s in the mean; so are the next two, of 2.02 s
    grid = tick_grid(passes(quick(10), quick(13.03), full(15.05)))
    assert seconds(grid.dates) == pytest.approx(
        [10, 11.0005, 12.001, 13.03, 14.0305, 15.05], abs=1e-3
    )
    assert grid.period == pytest.approx(1.01)


def test_a_long_gap_has_as_many_ticks_as_the_period_of_the_short_ones_says():
    # 3.03 s and 60.6 s at a period of 1.01 s are 3 and 60 ticks
    grid = tick_grid(passes(quick(10), quick(13.03), full(73.63)))
    assert len(grid.dates) == 1 + 3 + 60


def test_a_pass_that_comes_too_soon_for_a_tick_is_none():
    # spaced by less than three whole seconds: the end of a killed job asked for it at once
    grid = tick_grid(passes(quick(10), quick(11.5), quick(14.04)))
    assert seconds(grid.dates) == pytest.approx([10, 11.0005, 12.001, 13.0015, 14.04], abs=1e-3)


def test_a_pass_between_two_ticks_some_seconds_after_a_kill_is_none():
    # 13.7 is far enough from 10 for a tick, but not a whole number of seconds
    told = passes(full(10), quick(13.7), quick(17.01))
    assert len(tick_grid(told, kills=[EPOCH + 10]).dates) == 1 + 7
    assert passes_at_once(told, kills=[EPOCH + 10]) == [EPOCH + 13.7]
    assert passes_at_once(told, kills=[EPOCH + 8.7]) == passes_at_once(told) == []


def test_a_tick_is_never_early():
    # 12.7 s are thirteen periods by their mean, but twelve that one late tick has stretched
    grid = tick_grid(passes(full(10), full(22.7)))
    assert len(grid.dates) == 1 + 12


def test_one_pass_gives_one_tick_and_the_usual_period():
    grid = tick_grid(passes(quick(10)))
    assert (seconds(grid.dates), grid.period) == ([10], TICK_PERIOD)
