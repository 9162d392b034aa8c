"""Nodes that fail, and nodes that power saving has switched off and that do not boot in time.

Clocks are those of test_slurm_model; the power thread looks every ten seconds.
"""

from __future__ import annotations

import pytest
from slurm_answers import conf_of, job, site_of
from slurm_cases import CLOCKS, SAVING
from test_slurm_model import Asked, run, settings, starts

import noctule as nt
from noctule.errors import InputError
from noctule.external_events import ExternalEvent, ExternalEvents
from noctule.slurm.conf.settings import SlurmSettings
from noctule.slurm.jobs.requests import SlurmDependency
from noctule.slurm.model.clocks import Clocks
from noctule.slurm.model.power import switching_timeouts
from noctule.slurm.model.site_run import run_site
from noctule.slurm.site.boots import Boots
from noctule.slurm.site.site import SiteExtras

ALMOST_ALL = 1 - 1e-9
#: Node n1 is down from 50 to 60.
OUTAGE = ExternalEvents.from_events(
    [
        ExternalEvent(50.0, "failed", nt.HostSet([0])),
        ExternalEvent(60.0, "restored", nt.HostSet([0])),
    ]
)


def attempts(schedule: nt.Schedule) -> dict[str, tuple[float, float, str]]:
    """Return start, end and state by id."""
    return {
        str(row.job_id): (round(row.start_time, 3), round(row.finish_time, 3), row.state)
        for row in schedule.jobs.itertuples()
    }


def lost(conf: SlurmSettings, *jobs: Asked) -> dict[str, tuple[float, float, str]]:
    return attempts(run(conf, jobs, external_events=OUTAGE)[2])


def test_a_job_of_a_failed_node_waits_for_two_minutes_and_a_second_and_runs_again():
    # lost at 50, so that it may start from 171 on: the full pass of 180.25 is the next one
    found = lost(settings(1), Asked(1.0, 100, 1, limit=5))
    assert found == {"0": (1.25, 50.0, "failed"), "0#2": (180.25, 280.25, "completed")}


def test_the_delay_is_the_life_of_a_credential_and_a_second():
    # from 50 + 21 on; the cycle of 90.5 is the next pass, as n1 came back in the second of that
    # of 60.5
    conf = settings(1, more="AuthInfo=socket=/run/munge,cred_expire=20\n")
    assert lost(conf, Asked(1.0, 100, 1, limit=5))["0#2"][0] == 90.5


@pytest.mark.parametrize("told", ["cred_expire=4", "cred_expire=", "cred_expire=soon", ""])
def test_a_life_that_slurm_does_not_take_is_the_usual_one(told):
    assert settings(1, more=f"AuthInfo={told}\n").ends.credential_seconds == 120


def test_a_job_that_is_not_to_be_requeued_ends_with_its_node():
    once = Asked(1.0, 100, 1, limit=5, more={"requeue": False})
    assert lost(settings(1), once) == {"0": (1.25, 50.0, "failed")}
    conf = settings(1, more="JobRequeue=0\n")
    assert lost(conf, Asked(1.0, 100, 1, limit=5)) == {"0": (1.25, 50.0, "failed")}


def test_one_job_that_may_be_requeued_comes_back_beside_one_that_may_not():
    # both nodes fail at 50: A comes back, B does not
    both = ExternalEvents.from_events(
        [
            ExternalEvent(50.0, "failed", nt.HostSet([0, 1])),
            ExternalEvent(60.0, "restored", nt.HostSet([0, 1])),
        ]
    )
    jobs = [Asked(1.0, 100, 1, limit=5), Asked(1.1, 100, 1, limit=5, more={"requeue": False})]
    found = attempts(run(settings(2), jobs, external_events=both)[2])
    assert sorted(found) == ["0", "0#2", "1"]


def test_a_job_that_depends_on_one_of_a_failed_node_waits_for_its_second_attempt():
    after = {"dependencies": (SlurmDependency("afterok", "0"),)}
    found = lost(settings(1), Asked(1.0, 100, 1, limit=5), Asked(2.0, 5, 1, more=after))
    assert found["0#2"][2] == "completed"
    assert found["1"][0] > found["0#2"][1]


def test_a_node_that_never_boots_is_set_down_and_its_job_waits_again():
    # idle for more than 60 s at the look of 70, off at 90, and looked at every ten seconds from
    # then on. The job is given n1 at 200.25; from 251 on that has taken too long, seen at 260. It
    # may start from 260 + 121 on: at the cycle of 390.5, on n1, which was put right at 360, in
    # the second of the last cycle, so that there is another
    asked = Asked(200.0, 30, 1)
    found, model, schedule = run(
        settings(1, more=SAVING), [asked], boots=Boots(40.0, ALMOST_ALL, 100.0)
    )
    assert found == [(260.0, "0")]
    assert attempts(schedule)["0#2"] == (390.5, 420.5, "completed")
    told = model.statistics()
    assert (told["resumed"], told["failed_boots"]) == (1, 1)
    assert schedule.jobs["metadata"].tolist()[0] == "nodes did not boot"


def test_a_job_that_is_not_to_be_requeued_ends_with_a_boot_that_does():
    asked = Asked(200.0, 30, 1, more={"requeue": False})
    _, _, schedule = run(settings(1, more=SAVING), [asked], boots=Boots(40.0, ALMOST_ALL, 100.0))
    assert attempts(schedule) == {"0": (260.0, 260.0, "killed")}


def test_a_late_node_returns_when_it_has_booted_if_return_to_service_is_2():
    # idle for more than 200 s at the look of 210, off at 230. Given at 300.25, too late from 351
    # on, seen at 360, there at 380. The job may start from 481 on; nothing has changed for
    # backfilling since 390.5, so that the full pass of 540.25 is the next one
    slow = SAVING.replace("SuspendTime=60", "SuspendTime=200") + "ReturnToService=2\n"
    asked = Asked(300.0, 30, 1)
    _, model, schedule = run(settings(1, more=slow), [asked], boots=Boots(80.0))
    assert attempts(schedule)["0"] == (360.0, 360.0, "killed")
    assert attempts(schedule)["0#2"] == (540.25, 570.25, "completed")
    assert model.statistics()["failed_boots"] == 1


@pytest.mark.parametrize("service", [0, 1])
def test_a_late_node_stays_down_otherwise_and_jobs_take_others(service):
    # n1 is given up at 260 and does not come back; the second attempt of 381 on finds n2 off too,
    # and the same happens there: nothing is left for the third, which is refused in the end
    conf = settings(2, more=SAVING + f"ReturnToService={service}\n")
    _, model, schedule = run(conf, [Asked(200.0, 30, 1)], boots=Boots(80.0))
    states = [state for _, _, state in attempts(schedule).values()]
    assert states == ["killed", "killed", "rejected"]
    assert model.statistics()["failed_boots"] == 2


def test_jobs_whose_nodes_never_boot_in_time_are_refused_after_eight_days():
    # the node is back each time it is too late, and is switched off before the job may start
    conf = settings(1, more=SAVING + "ReturnToService=2\n")
    _, model, schedule = run(conf, [Asked(200.0, 30, 1)], boots=Boots(80.0))
    last = attempts(schedule)[f"0#{len(schedule.jobs)}"]
    assert last[2] == "rejected"
    assert model.statistics()["failed_boots"] == len(schedule.jobs) - 1 > 1000
    assert any("waited for days" in note for note in schedule.notes)


def test_a_boot_that_ends_before_anybody_looks_is_not_late():
    # too late from 251 on, but there at 255.25, before the look of 260
    assert starts(settings(1, more=SAVING), [Asked(200.0, 30, 1)], boots=Boots(55.0)) == [255.25]


def test_nodes_that_did_boot_are_free_again_when_another_of_the_job_did_not():
    # with this seed n1 fails and n2 does not: B takes n2 at once when A has been sent away
    jobs = [Asked(200.0, 30, 2), Asked(210.0, 30, 1, limit=3)]
    for seed in range(20):
        clocks = Clocks(**{**_told(CLOCKS), "seed": seed})
        found, model, _ = run(
            settings(2, more=SAVING), jobs, clocks, boots=Boots(40.0, 0.5, 1000.0)
        )
        if model.statistics()["failed_boots"] == 1:
            break
    assert found[0][0] == 260.0
    assert found[1][0] < 265.0


def _told(clocks: Clocks) -> dict[str, object]:
    return {name: getattr(clocks, name) for name in Clocks.__dataclass_fields__}


def test_boots_that_fail_are_drawn_by_the_seed_of_the_clocks():
    def failures(seed: int) -> object:
        conf = settings(8, more=SAVING)
        jobs = [Asked(200.0 + 400 * i, 30, 4) for i in range(6)]
        clocks = Clocks.drawn(seed, conf)
        return run(conf, jobs, clocks, boots=Boots(40.0, 0.3, 60.0))[1].statistics()

    assert failures(1) == failures(1)
    counts = {failures(seed)["failed_boots"] for seed in range(8)}
    assert len(counts) > 2


def test_of_several_partitions_with_a_timeout_the_longest_counts():
    conf = settings(
        3,
        partitions=[
            "PartitionName=main Nodes=n[1-2] Default=YES ResumeTimeout=10",
            "PartitionName=slow Nodes=n2 ResumeTimeout=30 SuspendTimeout=5",
            "PartitionName=rest Nodes=n[2-3]",
        ],
        more=SAVING,
    )
    assert switching_timeouts(conf) == [(20, 10), (5, 30), (20, 50)]


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"seconds": 0.0}, r"^boots: seconds: got 0, expected more than 0$"),
        ({"repair": -1.0}, r"^boots: repair: got -1, expected more than 0$"),
        ({"failures": 1.0}, r"^boots: failures: got 1, expected a share below 1$"),
    ],
)
def test_boots_that_cannot_be_are_refused(told, why):
    with pytest.raises(InputError, match=why):
        Boots(**told)


def test_the_attempt_of_a_site_that_counts_is_the_last_one():
    # the clocks begin with the first tick at 0; n1 fails at 50 and is back at 60
    site = site_of(conf_of(1), job(0, 100), extras=SiteExtras(outages=OUTAGE))
    ran = run_site(site, CLOCKS)
    assert ran.start.tolist() == [180.25]
    assert ran.state == ["completed"]


def test_a_boot_that_failed_is_not_the_one_that_a_site_tells_of():
    # as above: given n1 at 200.25 in vain, the second attempt starts at 390.5 without a boot
    conf = conf_of(1, *SAVING.splitlines())
    site = site_of(conf, job(200, 30), extras=SiteExtras(boots=Boots(40.0, ALMOST_ALL, 100.0)))
    ran = run_site(site, CLOCKS)
    assert ran.start.tolist() == [390.5]
    assert ran.boots == {}
