"""Traces that can be given away."""

from __future__ import annotations

import json

from trace_files import a_line, a_trace, column, ids, refusal, written

from noctule.formats.batsim import read_batsim
from noctule.formats.batsim_writing import batsim_text
from noctule.traces import anonymise, trace_stats
from noctule.workload import Compute, Dependency, Workload

LOG = [
    "; Computer: the one in the cellar",
    "; UnixStartTime: 1000",
    "; MaxProcs: 8",
    "; Queue: 3 bosses",
    a_line(50, 0, user=900, group=77, executable=31, queue=3, used_memory=5),
    a_line(60, 1, user=800, group=77, executable=-1, queue=3, preceding_job=50),
    a_line(70, 2, user=900, group=-1, executable=30, queue=4, run_time=0),
]


def test_numbers_are_given_as_they_appear() -> None:
    anonymous = anonymise(a_trace(*LOG))

    assert ids(anonymous) == [1, 2, 3]
    assert column(anonymous, "user") == [1, 2, 1]
    assert column(anonymous, "group") == [1, 1, -1]
    assert column(anonymous, "executable") == [1, -1, 2]
    assert column(anonymous, "preceding job") == [-1, 1, -1]
    # what has a meaning for everybody stays
    assert column(anonymous, "queue") == [3, 3, 4]
    assert column(anonymous, "used memory") == [5, -1, -1]
    assert column(anonymous, "run time") == [10, 10, 0]


def test_text_in_headers_is_dropped() -> None:
    workload = a_trace(*LOG)

    assert anonymise(workload).headers == {
        "UnixStartTime": "1000",
        "MaxProcs": "8",
        "Note": "made anonymous by noctule",
    }
    assert "UnixStartTime" not in anonymise(workload, keep_dates=False).headers
    assert "cellar" not in written(anonymise(workload))


def test_numbers_drawn_from_a_seed_are_always_the_same_and_tell_no_order() -> None:
    lines = [a_line(i, i, user=i) for i in range(1, 41)]
    workload = a_trace(*lines)

    one, same, other = (anonymise(workload, seed=seed) for seed in (1, 1, 2))

    assert written(one) == written(same)
    assert written(one) != written(other)
    assert sorted(column(one, "user")) == list(range(1, 41))
    assert column(one, "user") != list(range(1, 41))
    assert sorted(ids(one)) == list(range(1, 41))


def test_statistics_stay() -> None:
    workload = a_trace(*LOG)
    before, after = trace_stats(workload), trace_stats(anonymise(workload, seed=7))

    assert (after.n_users, after.load, after.by_hour) == (
        before.n_users,
        before.load,
        before.by_hour,
    )


def test_text_of_a_batsim_workload_is_dropped() -> None:
    document = {
        "nb_res": 4,
        "owner": "eve",
        "profiles": {"eve's run": {"type": "parallel_homogeneous", "cpu": 7, "com": 0, "why": "x"}},
        "jobs": [
            {"id": "eve1", "subtime": 0, "res": 1, "profile": "eve's run", "user": "eve"},
            {
                "id": "bob1",
                "subtime": 1,
                "res": 1,
                "profile": "eve's run",
                "user": "bob",
                "queue": "eve-only",
                "note": "of eve",
                "wait_time": 4,
                "dependencies": [{"job": "eve1", "think_time": 2}],
            },
        ],
    }
    workload = read_batsim(json.dumps(document).encode(), source="w.json")

    anonymous = anonymise(workload)

    text = "".join(batsim_text(anonymous))
    assert "eve" not in text
    assert "bob" not in text
    assert [job.user for job in anonymous] == [1, 2]
    assert [job.queue for job in anonymous] == [None, 1]
    assert anonymous[0].profile == Compute(7)
    assert anonymous[1].dependencies == (Dependency(1, 2.0),)
    assert anonymous[1].extra["wait_time"] == 4


def test_a_profile_that_may_say_anything_is_refused() -> None:
    document = {
        "nb_res": 4,
        "profiles": {"p": {"type": "send", "msg": {"home": "/home/eve"}}},
        "jobs": [{"id": 1, "subtime": 0, "res": 1, "profile": "p"}],
    }
    workload: Workload = read_batsim(json.dumps(document).encode(), source="w.json")

    assert refusal(anonymise, workload) == (
        "w.json: job 1: a profile whose run time is not known, expected delays and computations"
    )
