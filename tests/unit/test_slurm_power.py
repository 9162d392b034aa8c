"""Nodes that are switched off while they are idle, and jobs that wait for them to boot.

Clocks are those of test_slurm_model; the power thread looks every ten seconds.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slurm_cases import SAVING
from test_slurm_model import Asked, run, settings, starts

from noctule.errors import InputError
from noctule.platform import Platform, PowerModel
from noctule.slurm.conf.settings import SlurmSettings
from noctule.slurm.model.power import NEVER, KeptNodes, kept_nodes, suspend_times
from noctule.slurm.site.boots import Boots


def test_a_job_on_nodes_that_are_off_begins_when_they_have_booted():
    # idle for more than 60 s at the look of 70; the job of 200 is given a node at 200.25, which
    # boots for 40 s
    found, model, _ = run(settings(2, more=SAVING), [Asked(200.0, 30, 1)], boots=Boots(40.0))
    assert found == [(240.25, "0")]
    told = model.statistics()
    assert (told["suspended"], told["resumed"]) == (2, 1)
    # n1 from 70 to 200, n2 from 70 to the end of the job at 270
    assert told["suspended_node_seconds"] == 130 + 200


def test_a_boot_takes_resume_timeout_where_nobody_says_how_long():
    assert starts(settings(2, more=SAVING), [Asked(200.0, 30, 1)]) == [250.25]


def test_nodes_are_never_switched_off_without_the_programs():
    found = starts(settings(2, more="SuspendTime=60\n"), [Asked(200.0, 30, 1)])
    assert found == [200.25]


def test_the_time_limit_counts_from_the_end_of_the_boot():
    # limit of one minute from 240 on: killed at the check of 300, not at that of 270
    _, _, schedule = run(settings(2, more=SAVING), [Asked(200.0, 500, 1)], boots=Boots(40.0))
    assert schedule.column("finish_time").tolist()[0] == pytest.approx(300.25)


def test_nodes_that_are_on_come_first_even_where_others_would_fit_tighter():
    # A keeps n3 on until 130; the others are off from 70 on. B takes n3 at once; C, while B is
    # there, the tightest run of what is off: n4, not n1 of two
    jobs = [
        Asked(1.0, 129, 1, limit=5, more={"required_nodes": "n3"}),
        Asked(140.0, 10, 1),
        Asked(145.0, 10, 1),
    ]
    found = run(settings(4, more=SAVING), jobs, boots=Boots(40.0))[0]
    assert found[1] == (140.25, "2")
    assert found[2] == (185.25, "3")


def test_a_node_cannot_be_used_while_it_is_switched_off():
    # both are switched off from 70 to 90; the job of 72 waits for that and for a boot: what starts
    # it is the first pass that finds them
    (start,) = starts(settings(2, more=SAVING), [Asked(72.0, 30, 1)], boots=Boots(40.0))
    assert start >= 90 + 40


def test_no_more_nodes_are_switched_off_in_a_minute_than_the_rate_allows():
    # two at 70, then as old ones count less: of 2 after 10 s 1.67 are left, rounded 2, after 20 s
    # 1.39, rounded 1: one more at 90. The run ends with its job
    fast = SAVING.replace("SuspendTimeout=20", "SuspendTimeout=3")
    conf = settings(6, more=fast + "SuspendRate=2\n")
    for date, n_off in ((75.0, 2), (84.0, 2), (91.0, 3)):
        _, model, _ = run(conf, [Asked(date, 2, 1)], boots=Boots(1.0))
        assert model.statistics()["suspended"] == n_off


def test_nodes_and_partitions_may_be_exempt_and_have_times_of_their_own():
    conf = settings(
        4,
        partitions=[
            "PartitionName=main Nodes=n[1-4] Default=YES SuspendTime=30",
            "PartitionName=slow Nodes=n[2-3] SuspendTime=90",
            "PartitionName=kept Nodes=n4",
        ],
        more=SAVING + "SuspendExcNodes=n3\nSuspendExcParts=kept\n",
    )
    assert suspend_times(conf) == [30, 90, NEVER, NEVER]


def suspended(conf: SlurmSettings, *jobs: Asked) -> object:
    return run(conf, jobs, boots=Boots(1.0))[1].statistics()["suspended"]


def test_of_a_list_with_a_number_so_many_idle_nodes_stay_on():
    # at the look of 70 n1 and n2 are kept, n3 and n4 switched off
    assert (
        suspended(settings(4, more=SAVING + "SuspendExcNodes=n[1-3]:2\n"), Asked(80.0, 2, 1)) == 2
    )


def test_a_node_that_was_kept_on_is_switched_off_once_one_before_it_is_idle():
    # A has n1 until 130.25: at the look of 70 n2 and n3 are kept, n4 is switched off. From then on
    # n1 and n2 are the first idle ones, so that n3 goes. B ends at 162.25
    conf = settings(4, more=SAVING + "SuspendExcNodes=n[1-4]:2\n")
    keeps_n1 = Asked(1.0, 129, 1, limit=5, more={"required_nodes": "n1"})
    told = run(conf, [keeps_n1, Asked(160.0, 2, 1)], boots=Boots(1.0))[1].statistics()
    assert told["suspended_node_seconds"] == (162 - 70) + (162 - 130)


def test_of_several_lists_each_has_its_number_and_the_last_may_go_without():
    conf = settings(5, more=SAVING + "SuspendExcNodes=n1,n[2-3]:1,n4\n")
    assert kept_nodes(conf) == [KeptNodes((0, 1, 2), 1)]
    assert suspend_times(conf) == [60, 60, 60, NEVER, 60]


@pytest.mark.parametrize("count", ["0", "4", "two"])
def test_a_number_of_nodes_that_the_list_does_not_have_is_refused(count):
    said = (
        f"SuspendExcNodes: n[1-3]: got '{count}', expected how many of these nodes stay on, from 1"
    )
    with pytest.raises(InputError, match=re.escape(said)):
        kept_nodes(settings(4, more=SAVING + f"SuspendExcNodes=n[1-3]:{count}\n"))


def test_energy_is_that_of_the_platform_whose_states_are_told():
    power = PowerModel(
        idle=100.0,
        computing=200.0,
        off=10.0,
        switch_off_seconds=20.0,
        switch_off_watts=50.0,
        switch_on_seconds=40.0,
        switch_on_watts=150.0,
    )
    platform = Platform.homogeneous(1, power=power)
    _, _, schedule = run(settings(1, more=SAVING), [Asked(200.0, 30, 1)], platform=platform)
    # 70 s idle, 20 s switched off, 110.25 s off, 40 s booting, 30 s of a job that waits for
    # something and 5 ms after it
    joules = 70 * 100 + 20 * 50 + 110.25 * 10 + 40 * 150 + 30.005 * 100
    assert schedule.energy.joules() == pytest.approx(joules)


@given(st.lists(st.tuples(st.integers(0, 900), st.integers(1, 200), st.integers(1, 3)), min_size=1))
def test_every_job_runs_for_as_long_as_without_power_saving_and_not_earlier_than_submitted(jobs):
    asked = [Asked(submit, runtime, nodes, limit=9) for submit, runtime, nodes in sorted(jobs)]
    _, model, schedule = run(settings(3, more=SAVING), asked, boots=Boots(15.0))
    for row in schedule.jobs.itertuples():
        assert row.start_time >= asked[row.job_id].submit
        assert row.finish_time - row.start_time == pytest.approx(asked[row.job_id].runtime)
    told = model.statistics()
    assert told["resumed"] <= told["suspended"]
