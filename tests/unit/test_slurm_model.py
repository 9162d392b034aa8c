"""The model of Slurm on cases worked out by hand.

Unless a case says otherwise there are ticks at each whole second and a quarter, a backfill cycle
each half minute from 30.5 on, a full pass each minute from 60 on, and the run's zero is a whole
minute of the epoch.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import pytest
from slurm_cases import CLOCKS

import noctule as nt
from noctule.errors import InputError
from noctule.profile import Delay
from noctule.slurm.conf.lines import parse_conf
from noctule.slurm.conf.settings import SlurmSettings, settings_from
from noctule.slurm.jobs.requests import Request, Requests, SlurmDependency
from noctule.slurm.model.clocks import Clocks
from noctule.slurm.model.policy import SlurmModel, simulate_slurm
from noctule.windows import Maintenance, Windows
from noctule.workload import Request as WorkloadRequest

MINUTE = 60.0


@dataclasses.dataclass
class Asked:
    """A job of a case: when it comes, how long it runs, and what it asks for."""

    submit: float
    runtime: float
    nodes: int
    limit: int | None = 1
    cancel: float = math.inf
    more: dict[str, Any] = dataclasses.field(default_factory=dict)


def settings(
    n_nodes: int = 4, *, scheduling: str = "", partitions: Sequence[str] = (), more: str = ""
) -> SlurmSettings:
    lines = [
        "ClusterName=test",
        "SelectType=select/linear",
        f"SchedulerParameters={scheduling or 'bf_interval=30'}",
        f"NodeName=n[1-{n_nodes}] CPUs=4",
        *(partitions or ["PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP"]),
        more,
    ]
    return settings_from(parse_conf("\n".join(lines) + "\n", "slurm.conf"))


def run(
    conf: SlurmSettings, jobs: Sequence[Asked], clocks: Clocks = CLOCKS, **options: Any
) -> tuple[list[tuple[float, str]], SlurmModel, nt.Schedule]:
    """Return the start and the hosts of each job."""
    workload = nt.Workload.from_jobs(
        nt.Job(
            id=i,
            submit_time=job.submit,
            request=WorkloadRequest(job.nodes),
            profile=Delay(job.runtime),
            cancel_time=job.cancel,
        )
        for i, job in enumerate(jobs)
    )
    requests = Requests.of(
        Request(min_nodes=job.nodes, limit=job.limit, **job.more) for job in jobs
    )
    schedule, model = simulate_slurm(
        workload, conf, requests, clocks=clocks, epoch=600_000, **options
    )
    rows = {str(row.job_id): row for row in schedule.jobs.itertuples()}  # texts after a requeue
    first = [rows[str(i)] for i in range(len(jobs))]
    return [(row.start_time, str(row.hosts)) for row in first], model, schedule


def starts(conf: SlurmSettings, jobs: Sequence[Asked], **options: Any) -> list[float]:
    return [start for start, _ in run(conf, jobs, **options)[0]]


def test_a_job_starts_at_the_tick_after_its_submission_and_the_next_three_seconds_later() -> None:
    # 1.0: the tick of 1.25; then whole seconds 1 and 4: the tick of 4.25
    assert starts(settings(), [Asked(1.0, 9, 1), Asked(1.5, 9, 1)]) == [1.25, 4.25]


def test_main_passes_are_as_far_apart_as_sched_min_interval_says() -> None:
    # with an epilogue the end of A, at 5.25, asks for a pass at once: at 5.255. With six seconds
    # since the pass of 1.25 that is at 7.25, which is a tick, too, but of the other second
    epilog = "Epilog=/bin/true\n"
    jobs = [Asked(1.0, 4, 1), Asked(1.1, 4, 1)]
    assert starts(settings(1, more=epilog), jobs)[1] == pytest.approx(5.255)
    slow = settings(1, scheduling="bf_interval=30,sched_min_interval=6000000", more=epilog)
    assert starts(slow, jobs)[1] == pytest.approx(7.25)


def test_nodes_are_free_again_a_moment_after_a_job() -> None:
    # ends at 5.25, so the nodes are free at 5.255, after the tick of 5.25: 6.25
    found = run(settings(1), [Asked(1.0, 4, 1), Asked(1.1, 4, 1)])[0]
    assert found == [(1.25, "0"), (6.25, "0")]


def test_the_first_job_that_does_not_fit_holds_back_all_behind_it() -> None:
    # B needs all four; C would fit beside A, but its limit ends after A's: it waits for B.
    # A ends at 21.25; B runs 22.25 to 26.25 and C from 27.25 on
    jobs = [Asked(1.0, 20, 2), Asked(1.1, 4, 4), Asked(1.2, 4, 2, limit=5)]
    assert starts(settings(), jobs) == [1.25, 22.25, 27.25]


def test_backfilling_starts_what_ends_before_the_plan_of_the_first() -> None:
    # A holds two nodes until 181 at most; the first cycle at 30.5 plans B for 181, and C, of one
    # minute, ends at 90: it starts at 30.5
    jobs = [Asked(1.0, 170, 2, limit=3), Asked(1.1, 4, 4), Asked(1.2, 4, 2)]
    found, model, _ = run(settings(), jobs)
    assert [start for start, _ in found] == [1.25, 172.25, 30.5]
    assert model.schedulers() == ["Main", "Main", "Backfill"]


def test_a_job_that_ends_in_the_minute_of_a_plan_is_refused() -> None:
    # the plan for B begins at 181, which is rounded down to 180; C of 2.5 minutes, rounded up to
    # three, would end at 210.5; of two minutes it ends at 150.5 and starts
    first = [Asked(1.0, 170, 2, limit=3), Asked(1.1, 4, 4)]
    assert starts(settings(), [*first, Asked(1.2, 4, 2, limit=3)])[2] > 172
    assert starts(settings(), [*first, Asked(1.2, 4, 2, limit=2)])[2] == 30.5


def test_jobs_of_a_higher_tier_come_first_and_close_only_their_partition() -> None:
    conf = settings(
        partitions=[
            "PartitionName=low Nodes=n[1-4] Default=YES PriorityTier=1",
            "PartitionName=high Nodes=n[1-2] PriorityTier=9",
        ]
    )
    # A fills n1-n3. C, of the higher tier, does not fit on n1-n2 and withdraws them; B of one node
    # finds n4 in the other partition
    jobs = [
        Asked(1.0, 20, 3, more={"partitions": ("low",)}),
        Asked(1.5, 5, 1, more={"partitions": ("low",)}),
        Asked(1.6, 5, 2, more={"partitions": ("high",)}),
    ]
    found = run(conf, jobs)[0]
    assert found == [(1.25, "0-2"), (4.25, "3"), (22.25, "0-1")]


def test_a_job_takes_the_first_of_its_partitions_that_has_room() -> None:
    conf = settings(
        partitions=["PartitionName=a Nodes=n1 Default=YES", "PartitionName=b Nodes=n[2-4]"]
    )
    both = {"partitions": ("a", "b")}
    found = run(conf, [Asked(1.0, 9, 1, more=both), Asked(1.1, 9, 1, more=both)])[0]
    assert found == [(1.25, "0"), (1.25, "1")]


def test_a_quick_pass_looks_at_one_job_more_than_its_depth() -> None:
    # the first job closes its partition; records behind it count, so the fourth, in another
    # partition, is out of reach of depth 2 until the full pass, but not of depth 3
    parts = ["PartitionName=a Nodes=n1 Default=YES", "PartitionName=b Nodes=n2"]
    jobs = [
        Asked(1.0, 100, 1, limit=9),
        *(Asked(1.1, 1, 1, limit=9) for _ in range(3)),
        Asked(1.2, 1, 1, more={"partitions": ("b",)}),
    ]
    for depth, expected in ((2, 60.25), (3, 4.25)):
        conf = settings(
            2, scheduling=f"default_queue_depth={depth},bf_interval=-1", partitions=parts
        )
        assert (
            starts(conf, [jobs[0], *[dataclasses.replace(j, submit=1.5) for j in jobs[1:]]])[-1]
            == expected
        )


def test_jobs_are_killed_on_a_grid_of_half_minutes_and_a_pass_follows_at_once() -> None:
    # starts at 1.25 with a minute: late from the second 61 on; checks at 0.25, 30.25, 60.25, 90.25
    found, model, schedule = run(settings(1), [Asked(1.0, 500, 1), Asked(2.0, 5, 1)])
    rows = {row.job_id: row for row in schedule.jobs.itertuples()}
    assert rows[0].finish_time == 90.25
    assert model.killed() == [True, False]
    # the nodes are free 5 ms later, and the pass follows 35 ms after that
    assert found[1][0] == pytest.approx(90.29)


def test_over_time_limit_lets_jobs_go_on() -> None:
    conf = settings(1, more="OverTimeLimit=1")
    schedule = run(conf, [Asked(1.0, 500, 1)])[2]
    assert schedule.column("finish_time")[0] == 150.25  # 61 and a minute: the check of 150.25


def test_a_begin_date_is_seen_by_the_next_pass_only() -> None:
    # nothing asks for a pass at 100: the full one at 120.25, or the cycle at 120.5
    assert starts(settings(), [Asked(1.0, 5, 1, more={"begin": 100.0})]) == [120.25]


def test_a_job_that_waits_for_another_starts_in_the_pass_after_its_end() -> None:
    after = {"dependencies": (SlurmDependency("afterok", "0"),)}
    assert starts(settings(), [Asked(1.0, 10, 1), Asked(1.1, 5, 1, more=after)]) == [1.25, 12.25]


def test_a_dependency_that_is_never_met_is_told() -> None:
    after = {"dependencies": (SlurmDependency("afternotok", "0"),)}
    schedule = run(settings(), [Asked(1.0, 10, 1), Asked(1.1, 5, 1, more=after)])[2]
    states = {row.job_id: row.state for row in schedule.jobs.itertuples()}
    assert states[1] == "rejected"
    assert any("depend on jobs" in note for note in schedule.notes)


def test_an_array_runs_no_more_tasks_at_once_than_its_throttle() -> None:
    more = {"array": "7", "array_throttle": 2}
    jobs = [Asked(1.0, 10, 1, more={**more, "array_task": i}) for i in range(4)]
    assert starts(settings(8), jobs) == [1.25, 1.25, 12.25, 12.25]


def test_licences_are_counted() -> None:
    conf = settings(more="Licenses=matlab:2")
    jobs = [Asked(1.0, 10, 1, more={"licenses": (("matlab", n),)}) for n in (1, 2, 1)]
    # the second waits for the first; the third passes it
    assert starts(conf, jobs) == [1.25, 12.25, 1.25]


def test_backfilling_shortens_a_job_that_accepts_it() -> None:
    # B is planned for 361, on the minute 360; C would take ten minutes, and accepts one: it is
    # given what is left from 30 to 360: five minutes
    jobs = [
        Asked(1.0, 350, 2, limit=6),
        Asked(1.1, 4, 4),
        Asked(1.2, 600, 2, limit=10, more={"time_min": 1}),
    ]
    found, model, schedule = run(settings(), jobs)
    rows = {row.job_id: row for row in schedule.jobs.itertuples()}
    assert found[2][0] == 30.5
    assert rows[2].finish_time == 330.25  # 30 + 300: the check of 330.25
    assert model.killed() == [False, False, True]


def test_only_backfilling_cuts_a_limit_above_the_partition_s_for_who_accepts_it() -> None:
    short = ["PartitionName=main Nodes=ALL Default=YES MaxTime=3 State=UP"]
    jobs = [
        Asked(1.0, 9, 1, limit=5),
        Asked(1.0, 9, 1, limit=5, more={"time_min": 2}),
        Asked(1.0, 9, 1),
    ]
    conf = settings(partitions=short)
    refused, shortened, usual = starts(conf, jobs)
    assert math.isnan(refused)
    assert (shortened, usual) == (30.5, 1.25)


def test_a_job_that_cannot_meet_its_deadline_is_cancelled() -> None:
    jobs = [Asked(1.0, 100, 4, limit=5), Asked(1.1, 5, 1, limit=2, more={"deadline": 130.0})]
    schedule = run(settings(), jobs)[2]
    states = {row.job_id: row.state for row in schedule.jobs.itertuples()}
    assert states == {0: "completed", 1: "rejected"}


def test_a_job_that_is_cancelled_while_it_waits_holds_nobody_back_any_more() -> None:
    jobs = [Asked(1.0, 50, 2, limit=9), Asked(1.1, 5, 4, limit=9, cancel=10.5), Asked(9, 5, 2, 9)]
    # the pass of 9.25 finds B in the way; nothing asks for one before the cycle at 30.5
    assert starts(settings(), jobs)[2] == 30.5


def test_required_excluded_and_contiguous_nodes() -> None:
    jobs = [
        Asked(1.0, 50, 1, more={"required_nodes": "n2"}),
        Asked(1.0, 50, 1, more={"excluded_nodes": "n[1-3]"}),
        Asked(2.0, 5, 2, more={"contiguous": True}),
    ]
    found = run(settings(5), jobs)[0]
    # n2 and n4 are taken: n1, n3 and n5 are free, but no two of them are neighbours
    assert [hosts for _, hosts in found[:2]] == ["1", "3"]
    assert found[2][0] > 51


def test_constraints_allow_nodes_with_features() -> None:
    conf = settings_from(
        parse_conf(
            "ClusterName=t\nNodeName=a[1-2] CPUs=1 Features=old\nNodeName=b1 CPUs=1 "
            "Features=new,fast\nPartitionName=p Nodes=ALL Default=YES\n",
            "slurm.conf",
        )
    )
    found = run(conf, [Asked(1.0, 9, 1, more={"features": "new&(fast|old)"})])[0]
    assert found[0][1] == "2"
    with pytest.raises(InputError, match="expected features joined by"):
        run(conf, [Asked(1.0, 9, 1, more={"features": "new&("})])


def test_nodes_that_are_too_small_are_left_out_and_all_memory_is_that_of_each_node() -> None:
    conf = settings_from(
        parse_conf(
            "ClusterName=t\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n"
            "DefMemPerCPU=10\nNodeName=a1 CPUs=2 RealMemory=100\nNodeName=b1 CPUs=2 "
            "RealMemory=500\nPartitionName=p Nodes=ALL Default=YES\n",
            "slurm.conf",
        )
    )
    asked = [{"memory_mb": 200}, {"memory_mb": 0}, {"memory_mb": 0}]
    found = run(conf, [Asked(1.0, 9, 1, more={"tasks": 1, **more}) for more in asked])[0]
    # b1 for the large one; a1 as a whole, though less than b1, then again when it is free
    assert [hosts for _, hosts in found] == ["2", "0", "0"]
    assert found[2][0] > 10


def test_lighter_nodes_are_taken_first() -> None:
    conf = settings_from(
        parse_conf(
            "ClusterName=t\nNodeName=a[1-2] CPUs=1 Weight=9\nNodeName=b[1-2] CPUs=1\n"
            "PartitionName=p Nodes=ALL Default=YES\n",
            "slurm.conf",
        )
    )
    # b1 alone is enough for the first; b2 is not for the second, so that the run a1-a2 is tighter
    found = run(conf, [Asked(1.0, 9, 1), Asked(1.0, 9, 2), Asked(1.0, 9, 1)])[0]
    assert [hosts for _, hosts in found] == ["2", "0-1", "3"]


def test_nodes_of_one_line_are_tried_before_those_of_the_next() -> None:
    # n3 is taken. Of all nodes the run of one, n4, fits best; of those of the first line n1.
    jobs = [Asked(1.0, 50, 1, more={"required_nodes": "n3"}), Asked(2.0, 50, 1)]
    more = "NodeName=n4 CPUs=4"
    preempting = f"{more}\nPreemptType=preempt/partition_prio\nPreemptMode=REQUEUE"
    assert run(settings(4), jobs)[0][1][1] == "3"
    assert run(settings(3, more=more), jobs)[0][1][1] == "0"
    # what makes way counts too, and that is seen of all at once
    assert run(settings(3, more=preempting), jobs)[0][1][1] == "3"


def test_jobs_that_can_never_run_are_refused_and_told() -> None:
    conf = settings(partitions=["PartitionName=p Nodes=ALL Default=YES MaxTime=5"])
    jobs = [
        Asked(1.0, 5, 4, more={"excluded_nodes": "n1"}),
        Asked(1.0, 5, 9),
        Asked(1.0, 5, 1, limit=6),
        Asked(1.0, 5, 1, limit=5),
    ]
    _, _, schedule = run(conf, jobs)
    states = {row.job_id: row.state for row in schedule.jobs.itertuples()}
    assert states == {0: "rejected", 1: "rejected", 2: "rejected", 3: "completed"}
    assert any("1 job: ask for what their partitions can never give" in n for n in schedule.notes)
    assert any("2 jobs: exceed the limits" in note for note in schedule.notes)


def test_a_maintenance_keeps_jobs_away_that_would_not_end_before_it() -> None:
    windows = Windows([Maintenance(nt.HostSet("0-3"), 200.0, 300.0)])
    jobs = [Asked(1.0, 5, 1, limit=2), Asked(1.0, 5, 1, limit=4)]
    found = starts(settings(), jobs, windows=windows)
    assert found[0] == 1.25
    assert 300 <= found[1] < 304


def test_given_passes_are_all_that_run() -> None:
    clocks = Clocks.given([(5.0, "quick"), (40.0, "backfill"), (50.0, "full")])
    jobs = [Asked(1.0, 30, 2, limit=3), Asked(2.0, 5, 4), Asked(6.0, 5, 1), Asked(7.0, 5, 1)]
    found, model, _ = run(settings(), jobs, clocks)
    assert [start for start, _ in found] == [5.0, 40.0, 50.0, 50.0]
    assert model.statistics()["quick"]["passes"] == 1  # type: ignore[index]


def test_steps_of_bsc_run_a_pass_in_each_second_with_an_event() -> None:
    # no distance of three seconds; backfilling when more than 30 s have passed
    jobs = [Asked(1.0, 10, 1), Asked(2.0, 10, 1), Asked(3.0, 10, 1)]
    found = run(settings(), jobs, Clocks.bsc(), epilogue_delay=0.0)[0]
    assert [start for start, _ in found] == [1.0, 2.0, 3.0]


def test_a_slow_backfill_cycle_lets_others_work_and_is_abandoned_if_they_did() -> None:
    # each test costs two seconds: after the first it lets others work for half a second
    jobs = [Asked(1.0, 170, 2, limit=3), *(Asked(1.1, 4, 4) for _ in range(4))]
    workload = nt.Workload.from_jobs(
        nt.Job(
            id=i, submit_time=j.submit, request=WorkloadRequest(j.nodes), profile=Delay(j.runtime)
        )
        for i, j in enumerate(jobs)
    )
    requests = Requests.of(Request(min_nodes=j.nodes, limit=j.limit) for j in jobs)
    model = SlurmModel(
        settings(), requests, clocks=CLOCKS, epoch=600_000, costs={"backfill_test": 2.1e6}
    )
    nt.simulate(nt.Platform.homogeneous(4), workload, model.policy, enforce_walltime=False)
    statistics = model.statistics()
    assert statistics["yields"] > 0  # type: ignore[operator]
    assert statistics["backfill"]["longest"] > 8.0  # type: ignore[index]


def test_two_runs_are_the_same() -> None:
    jobs = [Asked(i * 1.7, 10 + i % 7, 1 + i % 4, limit=1 + i % 3) for i in range(60)]
    clocks = Clocks.drawn(3, settings())
    assert run(settings(), jobs, clocks)[0] == run(settings(), jobs, clocks)[0]


def test_clocks_refuse_what_goes_back() -> None:
    with pytest.raises(InputError, match="passes: expected dates in order"):
        Clocks.given([(5.0, "quick"), (4.0, "full")])
    with pytest.raises(InputError, match="tick_period: got 0"):
        Clocks(tick_period=0.0)


def test_requests_name_what_is_configured() -> None:
    with pytest.raises(InputError, match="partition 'gpu' is not configured"):
        run(settings(), [Asked(1.0, 5, 1, more={"partitions": ("gpu",)})])
