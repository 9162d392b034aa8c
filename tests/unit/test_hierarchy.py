"""Groups of hosts that lie close together, and policies that keep jobs in them."""

from __future__ import annotations

import pytest
from small_runs import hosts_of, job, starts

import noctule as nt
from noctule._core import AttemptOptions, Engine
from noctule.errors import InputError
from noctule.hierarchy import groups_of
from noctule.messages import StartJob
from noctule.testing import states

HEAD = '<?xml version="1.0"?><platform version="4.1">'


def platform(tmp_path, body: str) -> nt.Platform:
    path = tmp_path / "platform.xml"
    path.write_text(f"{HEAD}{body}</platform>")
    return nt.load_platform(path)


def cluster(name: str, hosts: str) -> str:
    return (
        f'<cluster id="{name}" prefix="{name}-" suffix="" radical="{hosts}" '
        'speed="1f" bw="1Bps" lat="0"/>'
    )


@pytest.fixture
def two_clusters(tmp_path):
    """Two clusters of four hosts: 0-3 and 4-7."""
    body = cluster("a", "0-3") + cluster("b", "0-3")
    return platform(tmp_path, f'<zone id="all" routing="Full">{body}</zone>')


def test_hosts_without_zones_are_one_group():
    assert groups_of(nt.Platform.homogeneous(5)).tolist() == []


def test_clusters_are_groups(two_clusters):
    assert groups_of(two_clusters).tolist() == [0] * 4 + [1] * 4


def test_a_single_cluster_is_one_group(tmp_path):
    zone = f'<zone id="all" routing="Full">{cluster("a", "0-3")}</zone>'
    assert groups_of(platform(tmp_path, zone)).tolist() == []


def test_cabinets_are_groups_even_if_they_share_a_name(tmp_path):
    # ids follow the names: a-0, b-0, c, so that group 0 is the cabinet of a
    cabinets = "".join(
        f'<cabinet id="cabinet" prefix="{prefix}-" suffix="" radical="0-1" speed="1f" '
        'bw="1Bps" lat="0"/>'
        for prefix in "ba"
    )
    zone = f'<zone id="star" routing="Cluster">{cabinets}<router id="r"/></zone>'
    assert groups_of(platform(tmp_path, zone)).tolist() == [0, 0, 1, 1]


def test_groups_are_numbered_by_their_lowest_hosts(tmp_path):
    # host1 and host3 lie in the zone that comes first in the file
    zones = "".join(
        f'<zone id="{zone}" routing="Full">'
        + "".join(f'<host id="host{i}" speed="1f"/>' for i in hosts)
        + "</zone>"
        for zone, hosts in (("x", (1, 3)), ("y", (0, 2)))
    )
    found = groups_of(platform(tmp_path, f'<zone id="all" routing="Full">{zones}</zone>'))
    assert found.tolist() == [0, 1, 0, 1]


def test_as_many_groups_as_hosts_are_needed():
    table = nt.Workload.from_jobs([job("A")]).table
    with pytest.raises(InputError, match="groups: got 2 numbers, expected one for each of 3 hosts"):
        Engine(
            3,
            table,
            speed=1.0,
            speeds=[],
            groups=[0, 1],
            reference_speed=1.0,
            enforce_walltime=True,
            reject_oversized=True,
            wait_for_timers=False,
            launch_delay=0.0,
            epilogue_delay=0.0,
            until=float("inf"),
            share_hosts=False,
            share_storages=True,
            attempts=AttemptOptions(False, 1, float("inf"), 0.0, 0.0, 0),
            windows=[],
            reservations=[],
            wake_for_jobs=False,
            batsim_events=False,
            open_registration=False,
            acknowledge_registered=True,
            submitters=[],
            external_events=[],
            machine=None,
            users=None,
        )


def test_a_python_policy_sees_the_groups(two_clusters):
    seen = []

    class Look:
        def decide(self, view, events):
            seen.append([str(group) for group in view.groups])
            return [StartJob(job) for job in view.waiting]

    nt.simulate(two_clusters, nt.Workload.from_jobs([job("A")]), Look())
    assert seen[0] == ["0-3", "4-7"]


# Two clusters, 0-3 and 4-7.
CROWDED = [
    job("A", hosts=3, runtime=50, walltime=50),
    job("B", hosts=2, runtime=20, walltime=20),
    job("C", hosts=3, runtime=10, walltime=10, submit=1),
]


def test_first_hosts_may_lie_in_two_clusters(two_clusters):
    # A 0-2, B 3-4, C 5-7
    schedule = nt.simulate(two_clusters, nt.Workload.from_jobs(CROWDED), "conservative")
    assert hosts_of(schedule) == {"A": "0-2", "B": "3-4", "C": "5-7"}


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "replanning", "filler"])
def test_best_effort_local_spreads_only_what_fits_nowhere(policy, two_clusters):
    # A 0-2; B needs two: 4-5; C needs three: 3, 6 and 7 are left, in two clusters
    spec = f"{policy}(allocation=best_effort_local)"
    schedule = nt.simulate(two_clusters, nt.Workload.from_jobs(CROWDED), spec)
    assert hosts_of(schedule) == {"A": "0-2", "B": "4-5", "C": "3 6-7"}
    assert starts(schedule)["C"] == 1


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "replanning", "filler"])
def test_local_waits_for_a_cluster(policy, two_clusters):
    # C must wait for B, at 20, though three hosts are free
    spec = f"{policy}(allocation=local)"
    schedule = nt.simulate(two_clusters, nt.Workload.from_jobs(CROWDED), spec)
    assert hosts_of(schedule) == {"A": "0-2", "B": "4-5", "C": "4-6"}
    assert starts(schedule)["C"] == 20


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "replanning", "filler"])
def test_a_job_larger_than_every_cluster_is_rejected(policy, two_clusters):
    jobs = [job("A", hosts=5), job("B", hosts=4)]
    spec = f"{policy}(allocation=local)"
    schedule = nt.simulate(two_clusters, nt.Workload.from_jobs(jobs), spec)
    assert states(schedule) == {"A": "rejected", "B": "completed"}


def test_local_easy_keeps_long_jobs_off_the_reserved_cluster_but_for_its_extra_hosts(two_clusters):
    # A holds 0-1 until 30, B 4-7 until 10. C wants 3: at 10, in 4-7, where 1 is left over.
    # D, 1 host for 40 s, may go to the other cluster: 2. E, 2 hosts for 40 s, finds 3 alone there
    # and never two of 4-7, as C leaves one: it waits for A, until 30. F, 1 host for 40 s, takes 3.
    jobs = [
        job("A", hosts=2, runtime=30, walltime=30),
        job("B", hosts=4, runtime=10, walltime=10),
        job("C", hosts=3, runtime=50, walltime=50, submit=1),
        job("D", hosts=1, runtime=40, walltime=40, submit=2),
        job("E", hosts=2, runtime=40, walltime=40, submit=3),
        job("F", hosts=1, runtime=40, walltime=40, submit=4),
    ]
    schedule = nt.simulate(two_clusters, nt.Workload.from_jobs(jobs), "easy(allocation=local)")
    found = hosts_of(schedule)
    assert (starts(schedule)["C"], found["C"]) == (10, "4-6")
    assert (starts(schedule)["D"], found["D"]) == (2, "2")
    assert (starts(schedule)["E"], found["E"]) == (30, "0-1")
    assert (starts(schedule)["F"], found["F"]) == (4, "3")


def test_local_conservative_promises_a_cluster(two_clusters):
    # A holds 0-3 until 100, B 4-6 until 20. C wants 4 in one cluster: 4-7 at 20. D wants 1
    # for 20 s: host 7 at once would last until 22 and delay C, so D comes after C, at 50, in 4-7.
    jobs = [
        job("A", hosts=4, runtime=100, walltime=100),
        job("B", hosts=3, runtime=20, walltime=20),
        job("C", hosts=4, runtime=30, walltime=30, submit=1),
        job("D", hosts=1, runtime=20, walltime=20, submit=2),
    ]
    schedule = nt.simulate(
        two_clusters, nt.Workload.from_jobs(jobs), "conservative(allocation=local)"
    )
    assert (starts(schedule)["C"], hosts_of(schedule)["C"]) == (20, "4-7")
    assert (starts(schedule)["D"], hosts_of(schedule)["D"]) == (50, "4")
