"""The model against a tiny set of a real Slurm, by the command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from slurm_sets import CONF, EPOCH, LOG, ROWS, quick, row, stamp, write_set

from noctule.cli import main
from noctule.slurm.jobs.requests import Request, with_nodes_for_tasks

AS_IT_WAS = [
    {"jobid": 1, "start": EPOCH + 5, "nodes": "n[1-3]"},
    {"jobid": 2, "start": EPOCH + 43, "nodes": "n[1-2]"},
    {"jobid": 3, "start": EPOCH + 31, "nodes": "n4"},
]


def compared(capsys, base: str, *words: str) -> dict:
    assert main(["slurm", "compare", base, "--json", *words]) == 0
    told: dict = json.loads(capsys.readouterr().out)
    return told


def test_given_the_passes_every_start_and_node_list_is_that_of_the_set(tmp_path, capsys):
    assert compared(capsys, write_set(tmp_path))["decisions"] == AS_IT_WAS


def test_nodes_that_answered_after_the_pass_are_not_there_for_it(tmp_path, capsys):
    # job 1 leaves n[1-3] at 40.6, and job 2 got two of them at 53.8, not at 43.7: they came late
    rows = (ROWS[0], row(2, 2, (6.2, 53.8, 73.9), "n[1-2]"), ROWS[2])
    late = tuple(f"{stamp(43.8)} debug2: node_did_resp n{i}" for i in (1, 2, 3))
    told = tuple(sorted([*LOG, *late], key=lambda line: line.split("]")[0]))
    starts = [
        compared(capsys, write_set(tmp_path, rows=rows, log=log))["decisions"][1]["start"]
        for log in (LOG, told)
    ]
    assert starts == [EPOCH + 43, EPOCH + 53]


def test_a_pass_of_the_first_millisecond_is_in_the_second_before(tmp_path, capsys):
    # logged at 67.000 and 70.001: jobs that they start have the seconds 66 and 70
    rows = (*ROWS, row(4, 4, (64, 66.9, 69), "n[1-4]"), row(5, 4, (65, 70, 80), "n[1-4]"))
    base = write_set(tmp_path, rows=rows, log=(*LOG, quick(67), quick(70.001)))
    told = compared(capsys, base, "--phases", "1")["decisions"]
    assert [entry["start"] - EPOCH for entry in told[3:]] == [66, 70]


def test_given_the_ticks_the_model_runs_passes_when_events_ask_for_them(tmp_path, capsys):
    # the ticks are 2.02, 3.18, 4.34, 5.5 and on: job 1 came at 2.1, after the pass of 2.02, and
    # starts at the first one three seconds later; it ends 35.1 s after that, at 40.6, and job 2
    # starts at a tick of the three seconds that follow
    told = compared(capsys, write_set(tmp_path))["triggers"]
    assert told[0] == AS_IT_WAS[0]
    assert told[2] == AS_IT_WAS[2]
    assert EPOCH + 41 <= told[1]["start"] <= EPOCH + 43


def test_an_ensemble_has_as_many_runs_as_asked_for_and_the_seed_tells_them_apart(tmp_path, capsys):
    base = write_set(tmp_path)
    first = compared(capsys, base, "--phases", "5", "--seed", "7")
    assert list(first) == ["decisions", "triggers", "ensemble"]
    assert [len(run) for run in first["ensemble"]] == [3] * 5
    assert compared(capsys, base, "--phases", "5", "--seed", "7") == first
    assert compared(capsys, base, "--phases", "5", "--seed", "8")["ensemble"] != first["ensemble"]


def test_the_table_tells_deviations(tmp_path, capsys):
    assert main(["slurm", "compare", write_set(tmp_path), "--phases", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:6] == ["truth", "21.3", "s", "46.0", "s", "2.07"]
    assert " ".join(lines[2].split()) == "decisions +0.00 % +0.00 % +0.00 % 3 3 3 0.00 %"
    assert lines[5].startswith("ensemble of 3: mean")


def test_a_job_that_its_limit_ended_is_ended_by_the_model_too(tmp_path, capsys):
    # submitted at 64 with a limit of one minute, it would sleep for 200 s; the set's limits are
    # tested at 130.2, after which nobody runs
    killed = row(4, 4, (64.0, 66.8, 130.2), "n[1-4]").replace("COMPLETED", "TIMEOUT")
    cells = killed.replace(",63.4,2,main", ",200,1,main").split(",")
    later = row(5, 4, (70.0, 133.8, 140.0), "n[1-4]")
    log = (
        *LOG,
        f"{stamp(66.8)} debug:  sched: Running job scheduler for default depth.",
        f"{stamp(130.2)} Time limit exhausted for JobId=4",
        f"{stamp(133.8)} debug:  sched: Running job scheduler for default depth.",
    )
    base = write_set(tmp_path, rows=(*ROWS, ",".join([*cells[:-2], "", cells[-2]]), later), log=log)
    told = compared(capsys, base, "--phases", "2")
    starts = {entry["jobid"]: entry["start"] - EPOCH for entry in told["decisions"]}
    assert (starts[4], starts[5]) == (66, 133)
    for run in (told["triggers"], *told["ensemble"]):
        starts = {entry["jobid"]: entry["start"] for entry in run}
        assert 60 <= starts[5] - starts[4] <= 95


def test_a_job_that_was_killed_is_over_at_the_pass_that_came_at_once(tmp_path, capsys):
    # the pass of 133.2 is that of a tick, and finds the nodes busy; 134.1 is too soon for another
    killed = row(4, 4, (64.0, 66.8, 130.2), "n[1-4]").replace("COMPLETED", "TIMEOUT").split(",")
    later = row(5, 4, (70.0, 134.1, 140.0), "n[1-4]")
    told = (quick(66.8), f"{stamp(130.2)} Time limit exhausted for JobId=4", quick(133.2))
    rows = (*ROWS, ",".join([*killed[:-2], "", killed[-2]]), later)
    base = write_set(tmp_path, rows=rows, log=(*LOG, *told, quick(134.1)))
    assert compared(capsys, base, "--phases", "1")["decisions"][4]["start"] == EPOCH + 134


def test_limits_are_tested_at_the_tick_in_whose_second_the_log_tells_so(tmp_path, capsys):
    # ticks at 129.2, 130.2005 and on; the line is logged a moment after the second of them. Job 5
    # starts in the pass after the kill, not a tick later
    killed = row(4, 4, (64.0, 66.8, 130.201), "n[1-4]").replace("COMPLETED", "TIMEOUT")
    cells = killed.replace(",63.401,2,main", ",200,1,main").split(",")
    later = row(5, 4, (70.0, 130.3, 140.0), "n[1-4]")
    told = (quick(66.8), quick(129.2), f"{stamp(130.201)} Time limit exhausted for JobId=4")
    log = (*LOG, *told, quick(130.3), quick(133.2))
    base = write_set(tmp_path, rows=(*ROWS, ",".join([*cells[:-2], "", cells[-2]]), later), log=log)
    assert compared(capsys, base, "--phases", "1")["triggers"][4]["start"] == EPOCH + 130


def test_limits_are_tested_in_the_seconds_of_full_passes_where_nobody_was_killed(tmp_path, capsys):
    # a full pass at 43.7, so tests at 103 and 133: job 4, which may run from 60.4 to 120, ends by
    # itself at 126.4; ticks are a second apart, and that of 127.4 finds its node free
    late = row(4, 1, (59.9, 60.4, 126.4), "n3").replace("COMPLETED", "TIMEOUT")
    rows = (late.replace(",66,2,main", ",66,1,main"), row(5, 4, (70.0, 128.4, 140.0), "n[1-4]"))
    log = tuple(sorted((*LOG, quick(60.4), quick(128.4))))
    base = write_set(tmp_path, rows=(*ROWS, *rows), log=log)
    assert compared(capsys, base, "--phases", "1")["triggers"][4]["start"] == EPOCH + 127


def test_numbers_that_refused_submissions_used_up_count_against_nice_jobs(tmp_path, capsys):
    # both want all nodes. Job 4 was nice by 5 and has 4294901756 - 5; before job 12 seven were
    # refused, so that it has 4294901748, not the one after that of job 4
    rows = (
        row(4, 4, (44.0, 66.8, 70.0), "n[1-4]").replace(",Main,0,", ",Main,4294901751,"),
        row(12, 4, (45.0, 73.5, 80.0), "n[1-4]").replace(",Main,0,", ",Main,4294901748,"),
    )
    base = write_set(tmp_path, rows=(*ROWS, *rows), log=(*LOG, quick(66.8), quick(73.5)))
    Path(f"{base}.trace.csv").write_text(
        "idx,submit,nodes,cpus,duration,limit,partition,name,options\n"
        "0,44,4,0,3.2,2,main,j4,--nice=5\n"
    )
    told = compared(capsys, base, "--phases", "1")["decisions"]
    assert [entry["start"] - EPOCH for entry in told[3:]] == [66, 73]


def cancelled_row(job_id: int, n_nodes: int, submit: float, end: float) -> str:
    cells = (
        row(job_id, n_nodes, (submit, end, end), "").replace("COMPLETED", "CANCELLED").split(",")
    )
    return ",".join([*cells[:10], "", *cells[11:-4], cells[-4], "", "", ""])


def test_a_set_may_begin_with_a_job_that_was_cancelled(tmp_path, capsys):
    base = write_set(tmp_path, rows=(*ROWS, cancelled_row(4, 4, 0.4, 1.5)))
    assert compared(capsys, base, "--phases", "1")["decisions"] == AS_IT_WAS


def test_a_job_cancelled_while_it_waited_holds_others_up_until_then(tmp_path, capsys):
    # job 4 wants all nodes and is the first of the queue from 55 to 70: job 5 may not pass it in a
    # main pass, nor in a cycle, as its limit reaches into what 4 was promised at 165 s
    waited = cancelled_row(4, 4, 55.0, 70.0)
    later = row(5, 1, (56.0, 71.4, 80.0), "n1").replace(",8.6,2,main", ",8.6,3,main")
    log = (*LOG, f"{stamp(71.4)} debug:  sched: Running job scheduler for default depth.")
    log = sorted((*log, f"{stamp(60)} debug:  sched: Running job scheduler for default depth."))
    base = write_set(tmp_path, rows=(*ROWS, waited, later), log=tuple(log))
    told = compared(capsys, base, "--phases", "1")["decisions"]
    assert [entry["jobid"] for entry in told] == [1, 2, 3, 5]
    assert told[3] == {"jobid": 5, "start": EPOCH + 71, "nodes": "n1"}


def test_a_partition_that_the_configuration_does_not_have_is_refused(tmp_path, capsys):
    base = write_set(tmp_path, conf=CONF.replace("PartitionName=main", "PartitionName=other"))
    assert main(["slurm", "compare", base]) == 3
    message = "tiny.csv: job 1: partition 'main' is not in "
    assert message in capsys.readouterr().err


def test_jobs_that_the_configuration_can_never_run_are_told_in_a_sentence(tmp_path, capsys):
    base = write_set(tmp_path, conf=CONF.replace("n[1-4]", "n[1-2]"))
    assert main(["slurm", "compare", base]) == 0
    message = "the model never starts some jobs, with this slurm.conf: 1\n"
    assert message in capsys.readouterr().err


def test_a_set_without_its_configuration_is_refused(tmp_path, capsys):
    base = write_set(tmp_path)
    Path(f"{base}.slurm.conf").unlink()
    assert main(["slurm", "compare", base]) == 3
    assert "tiny.slurm.conf: no such file" in capsys.readouterr().err


@pytest.mark.parametrize("names", [("a", "b", "c", "d"), ("rack1-07", "rack1-08", "x", "login")])
def test_nodes_may_have_any_names(tmp_path, capsys, names):
    # the same set on nodes that are called otherwise, in the same order
    conf = CONF.replace("n[1-4]", ",".join(names))
    lists = {"n[1-3]": ",".join(names[:3]), "n[1-2]": ",".join(names[:2]), "n4": names[3]}
    rows = tuple(
        row(i, n, seconds, lists[nodes])
        for i, n, seconds, nodes in [
            (1, 3, (2.1, 5.5, 40.6), "n[1-3]"),
            (2, 2, (6.2, 43.7, 63.8), "n[1-2]"),
            (3, 1, (7.3, 31.25, 50.35), "n4"),
        ]
    )
    base = write_set(tmp_path, rows=rows, conf=conf)
    assert main(["slurm", "compare", base, "--phases", "1"]) == 0
    assert "decisions +0.00 % +0.00 % +0.00 % 3 3 3" in " ".join(capsys.readouterr().out.split())


def test_a_job_of_fewer_tasks_than_nodes_gets_as_many_nodes_as_tasks():
    # so sbatch says, and sends: "can't run 2 processes on 3 nodes, setting nnodes to 2"
    asked = Request(min_nodes=3, tasks=2)
    assert with_nodes_for_tasks(asked) == replace(asked, min_nodes=2)
    ranged = Request(min_nodes=3, max_nodes=5, tasks=1)
    assert with_nodes_for_tasks(ranged) == replace(ranged, min_nodes=1, max_nodes=0)
    wide = Request(min_nodes=1, max_nodes=4, tasks=2)
    assert with_nodes_for_tasks(wide) == replace(wide, max_nodes=2)
    unbounded = Request(min_nodes=1, max_nodes=None, tasks=2)
    for same in (Request(min_nodes=3), Request(min_nodes=2, tasks=2), unbounded):
        assert with_nodes_for_tasks(same) is same
