"""Jobs of the model of Slurm that make way for others, on cases worked out by hand.

The clocks are those of `slurm_cases`. After a kill nodes are free 5 ms later, and 35 ms after that
there is a pass.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from slurm_cases import Asked, Attempt, attempts, conf_of, simulate_case
from slurm_rows import CONF, row, sacct_file

from noctule.errors import InputError
from noctule.slurm.conf.associations import Associations, Qos, parse_associations
from noctule.slurm.conf.settings import SlurmSettings
from noctule.slurm.jobs.requests import SlurmDependency
from noctule.slurm.model.clocks import Clocks
from noctule.slurm.model.site_run import run_site
from noctule.slurm.site.export import sacct_text
from noctule.slurm.site.reading import SiteFiles, read_site

TIERS = "PreemptType=preempt/partition_prio"
# A fills the machine; B of a higher tier comes at 10.0 and is looked at in the tick of 10.25
A_AND_B = [Asked(1.0, 500, 4), Asked(10.0, 20, 2, "high", limit=1)]


def test_a_requeued_job_waits_again_two_minutes_after_its_nodes_are_free() -> None:
    found = attempts(conf_of(TIERS, "PreemptMode=REQUEUE"), A_AND_B)
    assert found["0"] == Attempt(1.25, 10.25, "0-3", "killed", note="preempted")
    assert found["1"] == Attempt(10.29, 30.29, "0-1", "completed")
    # submitted in second 10, eligible in 131, without any event: the full pass of 180.25; all of
    # its work is lost
    assert found["0#2"] == Attempt(180.25, 680.25, "0-3", "completed")


def test_a_cancelled_job_does_not_come_back() -> None:
    found = attempts(conf_of(TIERS, "PreemptMode=CANCEL"), A_AND_B)
    assert found == {
        "0": Attempt(1.25, 10.25, "0-3", "killed", note="preempted"),
        "1": Attempt(10.29, 30.29, "0-1", "completed"),
    }


@pytest.mark.parametrize("by", ["job", "cluster"])
def test_a_job_that_may_not_be_requeued_is_cancelled_instead(by: str) -> None:
    conf = conf_of(TIERS, "PreemptMode=REQUEUE", "JobRequeue=0" if by == "cluster" else "")
    first, second = A_AND_B
    more = {"requeue": False} if by == "job" else {}
    found = attempts(conf, [dataclasses.replace(first, more=more), second])
    assert list(found) == ["0", "1"]
    assert found["0"].note == "preempted"


def test_modes_of_partitions_come_before_that_of_the_cluster() -> None:
    conf = conf_of(TIERS, "PreemptMode=REQUEUE", low="PreemptMode=OFF")
    assert attempts(conf, A_AND_B)["1"].start > 501
    conf = conf_of(TIERS, "PreemptMode=REQUEUE", low="PreemptMode=CANCEL")
    assert "0#2" not in attempts(conf, A_AND_B)


def test_jobs_of_a_tier_leave_each_other_alone() -> None:
    jobs = [Asked(1.0, 100, 4), Asked(10.0, 20, 2, "low")]
    found = attempts(conf_of(TIERS, "PreemptMode=CANCEL"), jobs)
    assert found["0"] == Attempt(1.25, 101.25, "0-3", "completed")


def test_the_smallest_jobs_go_first_and_only_those_that_help() -> None:
    # A has two nodes, C and D one each; E needs one: C, submitted before D
    jobs = [Asked(1.0, 300, 2), Asked(1.1, 300, 1), Asked(1.2, 300, 1)]
    conf = conf_of(TIERS, "PreemptMode=CANCEL")
    found = attempts(conf, [*jobs, Asked(10.0, 20, 1, "high")])
    assert [found[job].note for job in "012"] == ["", "preempted", ""]
    # two nodes: C and D, then A would have been enough, but they still come first
    found = attempts(conf, [*jobs, Asked(10.0, 20, 2, "high")])
    assert [found[job].note for job in "012"] == ["", "preempted", "preempted"]
    assert found["3"].hosts == "2-3"
    # three: C, D and A in the first round; in the second A, the last one, and then C
    found = attempts(conf, [*jobs, Asked(10.0, 20, 3, "high")])
    assert [found[job].note for job in "012"] == ["preempted", "preempted", ""]
    assert found["3"].hosts == "0-2"


def test_the_youngest_go_first_where_that_is_asked_for() -> None:
    jobs = [Asked(1.0, 300, 1), Asked(5.0, 300, 3), Asked(10.0, 20, 1, "high")]
    conf = conf_of(TIERS, "PreemptMode=CANCEL")
    assert attempts(conf, jobs)["0"].note == "preempted"
    conf = conf_of(TIERS, "PreemptMode=CANCEL", "PreemptParameters=youngest_first")
    assert attempts(conf, jobs)["1"].note == "preempted"


def test_a_job_has_its_grace_time_and_goes_at_the_next_check_of_limits() -> None:
    # told to go in second 10, it may stay until 40; the check after that is that of 60.25
    conf = conf_of(TIERS, "PreemptMode=CANCEL", low="GraceTime=30")
    found = attempts(conf, A_AND_B)
    assert found["0"] == Attempt(1.25, 60.25, "0-3", "killed", note="preempted")
    assert found["1"].start == 60.29


def test_young_jobs_are_exempt() -> None:
    # A, started in second 1, can be preempted from 61 on: by the full pass of 120.25, as nothing
    # wakes backfilling before
    conf = conf_of(TIERS, "PreemptMode=CANCEL", "PreemptExemptTime=00:01:00")
    found = attempts(conf, A_AND_B)
    assert found["0"].end == 120.25
    assert found["1"].start == 120.29


def test_important_jobs_are_exempt() -> None:
    # the first job has the priority 4294901759
    conf = conf_of(TIERS, "PreemptMode=CANCEL", "PreemptParameters=min_exempt_priority=4294901758")
    assert attempts(conf, A_AND_B)["0"].state == "completed"
    conf = conf_of(TIERS, "PreemptMode=CANCEL", "PreemptParameters=min_exempt_priority=4294901759")
    assert attempts(conf, A_AND_B)["0"].note == "preempted"


def test_a_job_that_would_not_fit_anyway_preempts_nobody() -> None:
    conf = conf_of(TIERS, "PreemptMode=CANCEL", high="PreemptMode=OFF")
    jobs = [Asked(1.0, 40, 3, "high"), Asked(1.1, 90, 1), Asked(10.0, 20, 3, "high")]
    found = attempts(conf, jobs)
    assert found["1"].state == "completed"


def test_jobs_that_wait_for_a_requeued_one_wait_for_its_last_attempt() -> None:
    conf = conf_of(TIERS, "PreemptMode=REQUEUE")
    after = {"dependencies": (SlurmDependency("afterany", "0"),)}
    found = attempts(conf, [*A_AND_B, Asked(12.0, 5, 1, more=after)])
    assert found["2"].start > found["0#2"].end == 680.25


def test_cores_of_shared_nodes_are_preempted_too() -> None:
    # one node of four cores: A has three of them, B needs two
    conf = conf_of(TIERS, "PreemptMode=CANCEL", n_nodes=1, cores=True)
    found = attempts(conf, [Asked(1.0, 100, 3), Asked(10.0, 20, 2, "high")])
    assert found["0"].note == "preempted"
    assert found["1"] == Attempt(10.29, 30.29, "0-1", "completed")


QOS = (
    Qos("low", priority=1),
    Qos("high", priority=9, preempt=("low",)),
    Qos("own", priority=5, preempt_mode="cancel,within"),
)
ACCOUNTS = """
Cluster - 'test':Fairshare=1
Parent - 'root'
User - 'root':Fairshare=1
Account - 'lab':Fairshare=10
Parent - 'lab'
User - 'ann':Fairshare=1
"""


def by_qos(*lines: str, **changes: Qos) -> tuple[SlurmSettings, Associations]:
    conf = conf_of(
        "PreemptType=preempt/qos",
        "AccountingStorageType=accounting_storage/slurmdbd",
        *(lines or ("PreemptMode=CANCEL",)),
    )
    qos = [changes.get(one.name, one) for one in QOS]
    return conf, parse_associations(ACCOUNTS).with_qos(qos)


def of_qos(job: Asked, qos: str, **more: object) -> Asked:
    return dataclasses.replace(job, partition="low", more={"user": "ann", "qos": qos, **more})


def test_a_qos_preempts_those_of_its_list() -> None:
    conf, accounts = by_qos()
    first, second = A_AND_B
    found = attempts(conf, [of_qos(first, "low"), of_qos(second, "high")], associations=accounts)
    assert found["0"].note == "preempted"
    assert found["1"].start == 10.29
    found = attempts(conf, [of_qos(first, "own"), of_qos(second, "high")], associations=accounts)
    assert found["0"].state == "completed"


def test_a_qos_has_its_own_mode_and_times() -> None:
    first, second = A_AND_B
    jobs = [of_qos(first, "low"), of_qos(second, "high")]
    conf, accounts = by_qos(low=Qos("low", priority=1, preempt_mode="requeue"))
    assert "0#2" in attempts(conf, jobs, associations=accounts)
    conf, accounts = by_qos(low=Qos("low", priority=1, preempt_mode="off"))
    assert attempts(conf, jobs, associations=accounts)["0"].state == "completed"
    conf, accounts = by_qos(low=Qos("low", priority=1, grace_time=30))
    assert attempts(conf, jobs, associations=accounts)["0"].end == 60.25
    conf, accounts = by_qos(low=Qos("low", priority=1, preempt_exempt_time=60))
    assert attempts(conf, jobs, associations=accounts)["0"].end == 120.25


def test_within_a_qos_priority_decides() -> None:
    conf, accounts = by_qos()
    first, second = A_AND_B
    for nice, note in ((0, ""), (-100, "preempted")):
        jobs = [of_qos(first, "own"), of_qos(second, "own", nice=nice)]
        assert attempts(conf, jobs, associations=accounts)["0"].note == note


def test_what_preempt_parameters_ask_and_the_model_does_not_is_told() -> None:
    conf = conf_of("PreemptParameters=reclaim_licenses,reorder_count=x,strict_order")
    told = [note for note in conf.notes if "PreemptParameters" in note]
    assert len(told) == 2
    assert "reclaim_licenses" in told[0]
    assert "reorder_count: got 'x', expected a number" in told[1]


def test_an_unknown_qos_in_a_list_is_refused() -> None:
    conf, accounts = by_qos(high=Qos("high", preempt=("gone",)))
    with pytest.raises(InputError, match="QOS high: QOS 'gone' is not among those"):
        attempts(conf, [of_qos(A_AND_B[0], "low")], associations=accounts)


def test_a_job_that_ignores_the_signal_keeps_its_nodes_for_kill_wait() -> None:
    # limit of a minute: killed in the check of 90.25, at which its run ends; its node is free at
    # 120.255, and there is a pass 35 ms later
    jobs = [
        Asked(1.0, 500, 4, limit=1, more={"ignores_term": True}),
        Asked(10.0, 20, 2, limit=1),
    ]
    found = attempts(conf_of(), jobs)
    assert found["0"] == Attempt(1.25, 90.25, "0-3", "killed")
    assert found["1"].start == 120.29


def test_nodes_of_an_exclusive_user_are_nobody_elses() -> None:
    conf = conf_of(n_nodes=2, cores=True, low="ExclusiveUser=YES")
    jobs = [
        Asked(1.0, 50, 1, more={"user": "ann"}),
        Asked(1.1, 50, 1, more={"user": "bob"}),
        Asked(1.2, 50, 1, more={"user": "ann"}),
        # of another partition, but nodes have owners
        Asked(1.3, 50, 1, "high", more={"user": "eve"}),
    ]
    found = attempts(conf, jobs)
    assert [found[job].hosts for job in "012"] == ["0", "4", "1"]
    assert found["3"].start > 51


def test_a_job_may_keep_its_nodes_for_its_user() -> None:
    conf = conf_of(n_nodes=2, cores=True)
    jobs = [
        Asked(1.0, 50, 1, more={"user": "ann", "exclusive_user": True}),
        Asked(1.1, 50, 1, more={"user": "bob"}),
        Asked(1.2, 50, 1, more={"user": "ann"}),
        # nodes on which others run are not for her alone
        Asked(1.3, 50, 4, more={"user": "ann", "exclusive_user": True}),
    ]
    found = attempts(conf, jobs)
    # bob's job leaves n1 alone; ann's next one takes the next core there
    assert [found[job].hosts for job in "012"] == ["0", "4", "1"]
    # ann's jobs leave two cores of n1, bob's three of n2: four are free when one of them has ended
    assert found["3"].start > 51


def test_statistics_count_jobs_that_made_way() -> None:
    _, model = simulate_case(conf_of(TIERS, "PreemptMode=REQUEUE"), A_AND_B)
    assert model.statistics()["preempted"] == 1
    assert model.statistics()["jobs_suspended"] == 0


PREEMPTING = (
    CONF
    + """
PreemptType=preempt/partition_prio
PreemptMode={mode}
PartitionName=urgent Nodes=n[1-4] PriorityTier=9
"""
)


def exported(tmp_path: Path, mode: str) -> list[tuple[str, ...]]:
    """Return rows of sacct of a long job, and one of a higher tier that comes while it runs."""
    (tmp_path / "slurm.conf").write_text(PREEMPTING.format(mode=mode))
    rows = (
        row("1", ReqNodes="4", ReqTRES="cpu=32,node=4", Start=2, End=102),
        row("2", Partition="urgent", Submit=10, Start=12, End=32),
    )
    files = SiteFiles(str(tmp_path / "slurm.conf"), str(sacct_file(tmp_path, *rows)))
    site = read_site(files).site
    ran = run_site(site, Clocks(first_tick=0.25, first_backfill=30.5))
    lines = "".join(sacct_text(site, ran.schedule)).splitlines()
    names = lines[0].split("|")
    told = [dict(zip(names, line.split("|"), strict=True)) for line in lines[1:]]
    assert ran.state == ["completed"] * 2 if "CANCEL" not in mode else ["killed", "completed"]
    # what a site's run says of a job is what its last attempt says
    assert [int(ran.end[i]) + site.origin for i in range(2)] == [
        max(int(r["End"]) for r in told if r["JobID"] == str(i + 1)) for i in range(2)
    ]
    return [(r["JobID"], r["State"], r["Suspended"]) for r in told]


def test_attempts_are_rows_of_sacct(tmp_path: Path) -> None:
    assert exported(tmp_path, "REQUEUE") == [
        ("1", "PREEMPTED", "00:00:00"),
        ("1", "COMPLETED", "00:00:00"),
        ("2", "COMPLETED", "00:00:00"),
    ]


def test_a_cancelled_job_is_a_preempted_one_of_sacct(tmp_path: Path) -> None:
    assert exported(tmp_path, "CANCEL")[0] == ("1", "PREEMPTED", "00:00:00")


def test_sacct_tells_how_long_a_job_was_suspended(tmp_path: Path) -> None:
    assert exported(tmp_path, "SUSPEND,GANG") == [
        ("1", "COMPLETED", "00:00:20"),
        ("2", "COMPLETED", "00:00:00"),
    ]
