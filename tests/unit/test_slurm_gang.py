"""Jobs of the model of Slurm that share nodes or cores, are suspended, and take turns: by hand.

The clocks are those of `slurm_cases`; slices of time end at multiples of half a minute.
"""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slurm_cases import Asked, Attempt, attempts, attempts_of, conf_of, simulate_case

SUSPEND = ("PreemptType=preempt/partition_prio", "PreemptMode=SUSPEND,GANG")


@pytest.mark.parametrize("cores", [False, True])
def test_a_suspended_job_goes_on_where_it_stopped(cores: bool) -> None:
    # B runs over A from 10.25 to 30.25, so that A ends 20 s later
    size = 4
    conf = conf_of(*SUSPEND, n_nodes=1 if cores else 4, cores=cores, share="FORCE:1")
    found = attempts(conf, [Asked(1.0, 100, size), Asked(10.0, 20, 2, "high")])
    assert found["0"] == Attempt(1.25, 121.25, "0-3", "completed", suspended=20)
    assert found["1"] == Attempt(10.25, 30.25, "0-1", "completed")


def test_time_in_which_a_job_is_suspended_does_not_count_for_its_limit() -> None:
    # a minute from 1 on, and 40 s more: killed in the check of 120.25, not in that of 90.25
    conf = conf_of(*SUSPEND, share="FORCE:1")
    found = attempts(conf, [Asked(1.0, 500, 4, limit=1), Asked(10.0, 40, 2, "high")])
    assert found["0"] == Attempt(1.25, 120.25, "0-3", "killed", suspended=40)


def test_a_job_stays_suspended_while_any_of_its_nodes_is_in_use() -> None:
    conf = conf_of(*SUSPEND, share="FORCE:1")
    # C comes at 11.0: the pass of 13.25; B ends at 30.25, C at 53.25
    jobs = [Asked(1.0, 100, 4), Asked(10.0, 20, 2, "high"), Asked(11.0, 40, 2, "high")]
    found = attempts(conf, jobs)
    assert found["2"] == Attempt(13.25, 53.25, "2-3", "completed")
    assert found["0"].suspended == 43


def test_of_whole_nodes_those_of_the_smallest_jobs_are_taken() -> None:
    conf = conf_of(*SUSPEND, share="FORCE:1")
    jobs = [Asked(1.0, 100, 3), Asked(1.1, 100, 1), Asked(10.0, 20, 1, "high")]
    found = attempts(conf, jobs)
    assert [found[job].suspended for job in "01"] == [0, 20]
    assert found["2"].hosts == "3"


def test_cores_are_shared_without_turns_where_nobody_suspends() -> None:
    # four cores, two jobs on each; C waits for A and B, which do not slow each other
    conf = conf_of(n_nodes=1, cores=True, share="FORCE:2")
    jobs = [Asked(1.0, 40, 4), Asked(1.1, 50, 4), Asked(1.2, 5, 4)]
    found = attempts(conf, jobs)
    assert found["0"] == Attempt(1.25, 41.25, "0-3", "completed")
    assert found["1"] == Attempt(1.25, 51.25, "0-3", "completed")
    assert found["2"].start == 42.25


def test_jobs_share_cores_only_if_they_ask_for_it() -> None:
    conf = conf_of(n_nodes=1, cores=True, share="YES:2")
    shares = {"oversubscribe": True}
    jobs = [Asked(1.0, 40, 4, more=shares), Asked(1.1, 50, 4, more=shares), Asked(1.2, 5, 4)]
    found = attempts(conf, jobs)
    assert [found[job].start for job in "01"] == [1.25, 1.25]
    assert found["2"].start > 51


def test_jobs_on_the_same_cores_take_turns() -> None:
    # A runs until 30, then B until 60, then A for the 11.25 s that it has left, then B for 10
    conf = conf_of("PreemptMode=GANG", n_nodes=1, cores=True, share="FORCE:2")
    found = attempts(conf, [Asked(1.0, 40, 4), Asked(1.1, 40, 4)])
    assert found["0"] == Attempt(1.25, 71.25, "0-3", "completed", suspended=30)
    assert found["1"] == Attempt(1.25, 81.25, "0-3", "completed", suspended=40)


def test_jobs_beside_each_other_need_no_turns() -> None:
    conf = conf_of("PreemptMode=GANG", n_nodes=1, cores=True, share="FORCE:2")
    found = attempts(conf, [Asked(1.0, 40, 2), Asked(1.1, 40, 2)])
    assert [found[job].suspended for job in "01"] == [0, 0]


jobs_of_cases = st.lists(
    st.builds(
        Asked,
        submit=st.integers(0, 60).map(float),
        runtime=st.integers(1, 90).map(float),
        size=st.integers(1, 4),
        partition=st.sampled_from(("low", "high")),
        limit=st.integers(1, 3),
    ),
    min_size=1,
    max_size=10,
)
modes = st.sampled_from(("REQUEUE", "CANCEL", "SUSPEND,GANG"))


@settings(max_examples=40)
@given(jobs=jobs_of_cases, mode=modes, cores=st.booleans())
def test_whatever_makes_way_no_host_has_two_jobs_that_run(
    jobs: list[Asked], mode: str, cores: bool
) -> None:
    share = "FORCE:1" if "SUSPEND" in mode else "NO"
    conf = conf_of(
        "PreemptType=preempt/partition_prio",
        f"PreemptMode={mode}",
        n_nodes=1 if cores else 4,
        cores=cores,
        share=share,
    )
    jobs = sorted(jobs, key=lambda job: job.submit)
    schedule, _ = simulate_case(conf, jobs)
    found = attempts_of(schedule)
    runs: dict[int, float] = dict.fromkeys(range(4), 0.0)
    for name, attempt in found.items():
        job = jobs[int(name.partition("#")[0])]
        run = attempt.end - attempt.start - attempt.suspended
        if attempt.state == "completed":
            assert run == pytest.approx(job.runtime, abs=2e-3)
        assert -1e-9 <= run <= job.runtime + 1e-2
        for host in _hosts(attempt.hosts):
            runs[host] += run
    # attempts of a job do not overlap, and but for the last one they made way
    for number in range(len(jobs)):
        own = [a for name, a in found.items() if name.partition("#")[0] == str(number)]
        own.sort(key=lambda attempt: attempt.start)
        assert all(one.end <= other.start for one, other in itertools.pairwise(own))
        assert {attempt.note for attempt in own[:-1]} <= {"preempted"}
    last = max((attempt.end for attempt in found.values()), default=0.0)
    assert all(total <= last + 0.1 for total in runs.values())
    if "SUSPEND" not in mode:
        _check_alone(found)


def _hosts(text: str) -> list[int]:
    return [
        host
        for part in text.split()
        for host in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)
    ]


def _check_alone(found: dict[str, Attempt]) -> None:
    by_host: dict[int, list[tuple[float, float]]] = {}
    for attempt in found.values():
        for host in _hosts(attempt.hosts):
            by_host.setdefault(host, []).append((attempt.start, attempt.end))
    for spans in by_host.values():
        spans.sort()
        assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))
