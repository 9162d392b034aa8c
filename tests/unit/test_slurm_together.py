"""Licences that backfilling plans, and components of heterogeneous jobs, worked out by hand.

Clocks are those of test_slurm_model: ticks at each whole second and a quarter, a backfill cycle
each half minute from 30.5 on, a full pass each minute from 60 on; the zero is a whole minute.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_slurm_model import Asked, run, settings, starts

from noctule.slurm.jobs.submit_line import asked_on_line
from noctule.slurm.model.clocks import Clocks

LICENSED = "Licenses=matlab:2"
ONE = {"licenses": (("matlab", 1),)}
TWO = {"licenses": (("matlab", 2),)}


def test_a_job_that_licences_are_planned_for_is_not_overtaken_by_one_that_would_take_them():
    # A holds one of two licences until 181 at most. B needs both: planned for 180. C would take
    # the free one for ten minutes: without bf_licenses it does at 30.5, and B waits for C
    jobs = [
        Asked(1.0, 170, 1, limit=3, more=ONE),
        Asked(1.1, 20, 1, limit=3, more=TWO),
        Asked(1.2, 400, 1, limit=10, more=ONE),
    ]
    greedy = starts(settings(more=LICENSED), jobs)
    assert greedy[2] < 31
    assert greedy[1] > greedy[2] + 400
    planned = starts(settings(scheduling="bf_interval=30,bf_licenses", more=LICENSED), jobs)
    # A ends at 171.25: the next tick starts B, which the main pass may
    assert planned[0] == 1.25
    assert planned[1] == 172.25
    assert planned[2] > planned[1]


def test_a_job_that_gives_licences_back_before_the_plan_may_have_them():
    # C of two minutes ends at 150.5, before B's plan of 180
    jobs = [
        Asked(1.0, 170, 1, limit=3, more=ONE),
        Asked(1.1, 20, 1, limit=3, more=TWO),
        Asked(1.2, 60, 1, limit=2, more=ONE),
    ]
    planned = starts(settings(scheduling="bf_interval=30,bf_licenses", more=LICENSED), jobs)
    assert planned == [1.25, 172.25, 30.5]


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(1, 300), st.integers(0, 3)), max_size=9))
def test_never_more_licences_are_used_than_there_are(jobs):
    conf = settings(scheduling="bf_interval=30,bf_licenses", more="Licenses=matlab:3")
    asked = [
        Asked(submit, runtime, 1, limit=5, more={"licenses": (("matlab", n),)} if n else {})
        for submit, runtime, n in sorted(jobs)
    ]
    if not asked:
        return
    _, _, schedule = run(conf, asked)
    rows = list(schedule.jobs.itertuples())
    for date in [row.start_time for row in rows]:
        used = sum(
            sorted(jobs)[row.job_id][2] for row in rows if row.start_time <= date < row.finish_time
        )
        assert used <= 3


def component(submit, runtime, nodes, group="7", limit=1, **more):
    return Asked(submit, runtime, nodes, limit, more={"het_group": group, **more})


def test_components_start_together_in_a_backfill_cycle_on_nodes_of_their_own():
    # main passes leave them alone; the cycle of 30.5 finds room for both
    found, model, _ = run(settings(), [component(1.0, 40, 1), component(1.0, 50, 2)])
    assert found == [(30.5, "0"), (30.5, "1-2")]
    assert model.schedulers() == ["Backfill", "Backfill"]


def test_no_component_starts_before_all_can():
    # A holds three nodes until 121.25; the component of one node could start at once
    jobs = [Asked(1.0, 120, 3, limit=3), component(1.1, 40, 1), component(1.1, 50, 2)]
    found = starts(settings(), jobs)
    assert found[1] == found[2] > 121.25
    # cycles at 120.5, 150.5 and so on
    assert (found[1] - 30.5) % 30 == 0


def test_a_component_closes_its_partition_for_main_passes():
    # D comes after the components and fits, but only backfilling may start it
    jobs = [component(1.0, 40, 1), component(1.0, 50, 2), Asked(5.0, 10, 1)]
    found, model, _ = run(settings(), jobs)
    assert model.schedulers()[2] == "Backfill"
    assert found[2][0] == 30.5


def test_components_can_start_within_the_pass_and_have_the_least_of_their_priorities():
    conf = settings(scheduling="bf_interval=30,bf_hetjob_immediate")
    found = run(conf, [component(1.0, 40, 1), component(1.0, 50, 2)])[0]
    assert found == [(30.5, "0"), (30.5, "1-2")]


@pytest.mark.parametrize(("rule", "is_first"), [("min", False), ("max", True)])
def test_components_are_neighbours_with_one_priority_where_that_is_asked_for(rule, is_first):
    # four nodes are busy until 61; X comes between the components, and has less priority than the
    # first, more than the second
    jobs = [
        Asked(1.0, 60, 4),
        component(2.0, 40, 2, priority=100),
        Asked(2.1, 40, 4, more={"priority": 50}),
        component(2.2, 40, 2, priority=10),
    ]
    conf = settings(scheduling=f"bf_interval=30,bf_hetjob_prio={rule}")
    found = starts(conf, jobs)
    assert found[1] == found[3]
    assert (found[1] < found[2]) is is_first


def test_options_of_a_component_are_those_between_its_colons():
    line = "sbatch -N1 --mem=4G : -N3 --exclusive : --licenses=matlab:1 job.sh -N9"
    assert asked_on_line(line)[0]["min_nodes"] == 1
    assert asked_on_line(line, component=1)[0] == {
        "min_nodes": 3,
        "max_nodes": 0,
        "exclusive": True,
    }
    assert asked_on_line(line, component=2)[0] == {"licenses": (("matlab", 1),)}
    assert asked_on_line("sbatch -N1 job.sh", component=1)[0] == {}


def test_components_reserve_nodes_in_each_cycle_as_a_real_slurm_was_seen_to_do():
    # six nodes, cycles of a real run: each keeps n6 for the first component though the second must
    # wait, so that the small job behind them starts with them, on nodes that they do not need
    conf = settings(6, scheduling="bf_interval=5")
    passes = [(8.2, "quick"), *((date, "backfill") for date in (10.1, 15.1, 20.1))]
    passes += [(22.3, "quick"), (25.1, "backfill"), (27.3, "quick")]
    jobs = [
        Asked(6.1, 14, 5, limit=2),
        component(6.2, 3, 1),
        component(6.2, 3, 2),
        Asked(6.3, 2, 1),
    ]
    found = run(conf, jobs, clocks=Clocks.given(passes))[0]
    assert found == [(8.2, "0-4"), (25.1, "4"), (25.1, "0-1"), (25.1, "3")]
