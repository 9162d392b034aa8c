"""Changes of a site: keys of its configuration, numbers of nodes, load."""

from __future__ import annotations

import pytest
from slurm_answers import conf_of, job, site_of

from noctule._core import HostSet
from noctule.errors import InputError
from noctule.external_events import ExternalEvent, ExternalEvents
from noctule.parts import Parts
from noctule.slurm.answers.changes.site import changed_site
from noctule.slurm.conf.topology import Switch, Topology
from noctule.slurm.site.site import SiteExtras
from noctule.windows import Maintenance, Windows

CONF = conf_of(
    10,
    "SchedulerParameters=bf_interval=30,defer",
    "NodeName=big[01-05] CPUs=8 Weight=7",
    "PartitionName=small Nodes=n[1-4] MaxTime=60",
    "PriorityWeightAge=5 PriorityType=priority/multifactor",
)


def changed(text, *jobs, conf=CONF, extras=None):
    site = site_of(conf, *(jobs or (job(0, 60),)), extras=extras)
    return changed_site(site, conf, text)


def settings(text):
    return changed(text).site.settings


def test_a_scheduler_parameter_replaces_that_of_the_file_and_leaves_the_others():
    scheduling = settings("SchedulerParameters.bf_interval=60").scheduling
    assert (scheduling.bf_interval, scheduling.defer) == (60, True)


def test_a_flag_can_be_set_and_taken_away():
    assert settings("SchedulerParameters.bf_continue").scheduling.bf_continue
    assert not settings("SchedulerParameters.defer=no").scheduling.defer


def test_parts_between_semicolons_are_made_together():
    found = settings("SchedulerParameters.bf_interval=60; PriorityWeightAge=9;nodes+3")
    assert found.scheduling.bf_interval == 60
    assert (found.priority.weight_age, len(found.nodes)) == (9, 18)


def test_a_key_of_a_partition_is_changed_for_it_alone():
    found = settings("PartitionName.small.MaxTime=2:00:00")
    assert [p.max_time for p in found.partitions] == [None, 120]


def test_a_line_of_nodes_is_split_where_a_change_names_some_of_them():
    found = settings("NodeName.n[3-4],big02.Weight=3")
    told = {node.name: node.weight for node in found.nodes}
    assert [told[name] for name in ("n2", "n3", "n4", "n5")] == [1, 3, 3, 1]
    assert [told[name] for name in ("big01", "big02", "big03")] == [7, 3, 7]
    assert {node.weight for node in settings("NodeName.ALL.Weight=2").nodes} == {2}


def test_nodes_of_each_kind_are_added_in_proportion_and_join_their_partitions():
    # kinds: n1-n4 (also in small), n5-n10, big01-big05; 20 % of 15 is 3: 0.8, 1.2 and 1.0
    found = settings("nodes+20%")
    assert [node.name for node in found.nodes[15:]] == ["n11", "n12", "big06"]
    assert [len(p.nodes) for p in found.partitions] == [18, 5]
    assert found.partitions[1].nodes == (0, 1, 2, 3, 15)
    assert found.nodes[17].weight == 7


def test_the_last_nodes_of_each_kind_go():
    found = settings("nodes-3")
    names = [node.name for node in found.nodes]
    assert names == [
        *(f"n{i}" for i in (1, 2, 3, 5, 6, 7, 8, 9)),
        *(f"big0{i}" for i in range(1, 5)),
    ]
    assert [found.nodes[i].name for i in found.partitions[1].nodes] == ["n1", "n2", "n3"]


def test_load_moves_submissions_and_what_depends_on_them():
    found = changed("load*2", job(0, 60), job(101, 60, begin=161.0)).site
    assert found.workload.submit_time.tolist() == [0, 50]
    assert found.requests[1].begin == 110.0
    assert Parts.of(found.workload).amount.tolist() == [60, 60]


def test_jobs_that_can_never_start_any_more_are_dropped_with_a_reason():
    found = changed("nodes-5", job(0, 60), job(0, 60, 12), job(0, 60, required_nodes="n10"))
    assert found.site.workload.job_ids.tolist() == [1]
    assert dict(found.dropped) == {
        "can never start: asks for a node that is gone": 1,
        "can never start: asks for more nodes than partition main has": 1,
    }


def test_outages_windows_and_switches_follow_the_nodes():
    conf = conf_of(4)
    extras = SiteExtras(
        outages=ExternalEvents.from_events(
            [
                ExternalEvent(5.0, "unavailable", HostSet([2, 3])),
                ExternalEvent(6.0, "unavailable", HostSet([3])),
            ]
        ),
        reservations=Windows([Maintenance(HostSet([1]), 10.0, 20.0, name="m")]),
        topology=Topology((Switch("s1", 0, (0, 1), None), Switch("s2", 0, (2, 3), None))),
    )
    fewer = changed("nodes-1", conf=conf, extras=extras).site.extras
    assert [str(hosts) for hosts in fewer.outages.hosts] == ["2"]
    assert [switch.nodes for switch in fewer.topology.switches] == [(0, 1), (2,)]
    more = changed("nodes+1", conf=conf, extras=extras).site.extras
    assert [switch.nodes for switch in more.topology.switches] == [(0, 1), (2, 3, 4)]
    cores = "SelectType=select/cons_tres; SelectTypeParameters=CR_Core"
    shared = changed(cores, conf=conf, extras=extras).site
    assert shared.platform.n_hosts == 16
    assert [str(window.hosts) for window in shared.extras.reservations] == ["4-7"]


def test_a_change_that_changes_nothing_says_so():
    same = changed("PriorityWeightAge=5")
    assert same.site.settings == site_of(CONF, job(0, 60)).settings
    assert same.notes == (
        "--set PriorityWeightAge=5: the model sees no difference to the present configuration",
    )
    assert changed("PriorityWeightAge=6").notes == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SchedulerParameters.bf_intervall=60", "bf_intervall is unknown to Slurm 22.05 (did you"),
        ("SchedulerParameters.bf_interval=0", "bf_interval: got '0', expected seconds"),
        ("SchedulerParameters.max_script_size=1", "max_script_size is not used by the model"),
        ("PriorityWeightAge=-4", "PriorityWeightAge: got '-4', expected a whole number"),
        ("PriorityWeihtAge=4", "PriorityWeihtAge is unknown to Slurm 22.05 (did you mean Priori"),
        ("SlurmUser=me", "SlurmUser is not used by the model"),
        ("PartitionName.smal.MaxTime=3", "no partition 'smal', expected one of main, small"),
        ("PartitionName.small.MaxTime=soon", "MaxTime: got 'soon', expected a time"),
        ("PartitionName.small.Foo=1", "Foo is unknown to Slurm 22.05"),
        ("PartitionName=other", "expected PartitionName.NAME.KEY=VALUE"),
        ("NodeName.n99.Weight=1", "'n99' is no node of the configuration"),
        ("nodes-100%", "the cluster has 15 nodes, expected some to be left"),
        ("nodes+1.5", "got '1.5', expected a whole number of nodes"),
        ("nodes+", "expected KEY=VALUE, nodes+20%, nodes-4 or load*1.1"),
        ("load*0", "got '0', expected a factor from 0.01 to 100"),
        (" ; ", "got nothing"),
        ("=3", "expected KEY=VALUE, SchedulerParameters.NAME=VALUE"),
        ("PartitionName..=3", "expected KEY=VALUE"),
    ],
)
def test_what_is_no_change_is_refused_with_its_option(text, message):
    with pytest.raises(InputError) as raised:
        changed(text)
    assert str(raised.value).startswith("--set")
    assert message in str(raised.value)


def test_a_change_that_leaves_a_partition_without_nodes_is_refused():
    conf = conf_of(4, "PartitionName=one Nodes=n4")
    with pytest.raises(InputError, match="no node would be left in partition one"):
        changed("nodes-3", conf=conf)
