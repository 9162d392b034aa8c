"""Unmodified kube-schedulers of two versions, on simulated time: `make test-kube`.

Batkube's three workloads (Pfister, 2020) with what it must come to; preemption, gangs, several
schedulers, profiles and extenders; 5000 jobs on 1000 nodes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scheduled_runs import VERSIONS, column, job, needs_real_ones, real, scheduled, starts, tiny

import noctule as nt
from noctule.external_events import ExternalEvent, ExternalEvents
from noctule.formats.platforms import load_platform
from noctule.kube import KubeScheduler
from noctule.windows import Reservation, Windows

pytestmark = needs_real_ones

BATKUBE = {
    "burst": ("200_delay170", "cluster16"),
    "spaced": ("spaced_200_delay170", "cluster16"),
    "realistic": ("KIT_10h_80", "1node_6core"),
}
# all of them at once take 12.5 rounds of 170 s: 2210; a scheduler that retries late takes longer
MAKESPANS = {"burst": (2210, 2310), "spaced": (2279, 2281), "realistic": (32554, 32554.001)}

EXTENDER = """
import http.server, json

class Extender(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = {key.lower(): value for key, value in asked.items()}
        names = [name for name in asked["nodenames"] if name in ("host2", "host3")]
        answer = json.dumps({"nodenames": names}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

http.server.HTTPServer(("127.0.0.1", PORT), Extender).serve_forever()
"""
PROFILES = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection:
  qps: 200
profiles:
- schedulerName: default-scheduler
- schedulerName: other
extenders:
- urlPrefix: http://127.0.0.1:PORT
  filterVerb: filter
  nodeCacheCapable: true
"""


def batkube(shared: Path, name: str, version: str, **settings) -> nt.Schedule:
    workload, platform = BATKUBE[name]
    folder = shared / "vectors" / "batkube"
    return nt.simulate(
        load_platform(folder / "platforms" / f"{platform}.xml"),
        nt.load_workload(folder / "workloads" / f"{workload}.json"),
        KubeScheduler(real(version), **settings),
    )


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", BATKUBE)
def test_the_workloads_of_batkube_take_as_long_as_they_must(shared, name, version):
    schedule = batkube(shared, name, version)
    least, most = MAKESPANS[name]
    assert (schedule.column("state") == "completed").all()
    assert least <= schedule.column("finish_time").max() <= most


@pytest.mark.parametrize("version", VERSIONS)
def test_jobs_start_at_the_instant_of_their_submission_while_there_is_room(shared, version):
    begun = starts(batkube(shared, "spaced", version))
    assert [begun[i + 1] for i in range(16)] == [10.0 * i for i in range(16)]


@pytest.mark.parametrize("name", BATKUBE)
def test_three_runs_give_the_same_start_dates(shared, name):
    first, *others = [starts(batkube(shared, name, "1.36.4")) for _ in range(3)]
    assert others == [first, first]


def test_with_a_seed_three_runs_choose_the_same_among_equal_nodes(shared):
    runs = [batkube(shared, "spaced", "1.36.4", seed=7) for _ in range(3)]
    first, *others = [(starts(run), column(run, "hosts")) for run in runs]
    assert others == [first, first]
    assert len({str(hosts) for hosts in first[1].values()}) == 16


@pytest.mark.parametrize(("name", "version"), [("burst", "1.20.2"), ("spaced", "1.36.4")])
def test_waiting_for_all_timers_gives_makespans_as_close(shared, name, version):
    schedule = batkube(shared, name, version, mode="exact")
    least, most = MAKESPANS[name]
    assert least <= schedule.column("finish_time").max() <= most


@pytest.mark.parametrize("version", VERSIONS)
def test_a_pod_of_higher_priority_preempts_one_which_ends_after_its_grace_period(version):
    # both nodes are taken at 10; one of the jobs is told to end, does so at 15, and comes again
    jobs = [job("A", 0, 100), job("B", 0, 100), job("C", 10, 50, priority=1000)]
    schedule = scheduled(jobs, real(version), grace=5, requeue_preempted=True)
    states, ends = column(schedule, "state"), column(schedule, "finish_time")
    (killed,) = [name for name, state in states.items() if state == "killed"]
    assert killed in ("A", "B")
    assert ends[killed] == 15
    assert starts(schedule)["C"] == pytest.approx(15, abs=1.1)
    assert states[f"{killed}#2"] == "completed"
    assert column(schedule, "metadata")[killed] == "preempted: a pod of it was deleted"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_job_of_several_pods_starts_when_all_are_bound(version):
    # A has one of the two nodes until 20: a pod of B holds the other from 5 on
    jobs = [job("A", 0, 20), job("B", 5, 10, hosts=2, walltime=8)]
    schedule = scheduled(jobs, real(version), start_delay=2.0, image_pull=3.0)
    # A pulls its image until 3 and works from 5 to 25; one of B's nodes has to pull it, too
    assert starts(schedule)["B"] == pytest.approx(25, abs=1.1)
    assert column(schedule, "state") == {"A": "completed", "B": "timed_out"}
    begin = starts(schedule)["B"]
    assert column(schedule, "finish_time")["B"] == pytest.approx(begin + 5 + 8)
    held = column(schedule, "metadata")["B"]
    assert held == f"its pods held {begin - 5:.15g} node-seconds before its start"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_node_that_fails_gets_no_pods_until_it_is_back(version):
    failures = ExternalEvents.from_events(
        [
            ExternalEvent(5.0, "failed", nt.HostSet([0])),
            ExternalEvent(30.0, "restored", nt.HostSet([0])),
        ]
    )
    jobs = [job("A", 0, 20), job("B", 10, 5)]
    schedule = scheduled(jobs, real(version), hosts=1, events=failures)
    assert column(schedule, "state") == {"A": "failed", "B": "completed"}
    assert starts(schedule)["B"] == pytest.approx(30, abs=10)


@pytest.mark.parametrize("version", VERSIONS)
def test_reserved_nodes_are_for_the_jobs_of_their_reservation(version):
    # host0 is kept for R from 10 to 60; B finds host1 taken by A, and waits for its end at 32
    jobs = [job("R", 0, 15, walltime=20), job("A", 12, 20), job("B", 13, 5)]
    kept = Reservation(nt.HostSet([0]), 10.0, 60.0, jobs=["R"], name="night")
    schedule = scheduled(jobs, real(version), windows=Windows([kept]))
    begun = starts(schedule)
    assert begun["R"] == pytest.approx(10, abs=1.1)
    assert begun["A"] == 12
    assert begun["B"] == pytest.approx(32, abs=10)
    assert {name: str(hosts) for name, hosts in column(schedule, "hosts").items()} == {
        "R": "0",
        "A": "1",
        "B": "1",
    }


def test_two_real_schedulers_and_a_small_one_share_a_cluster():
    jobs = [
        job("A", 0, 10),
        job("B", 1, 10, scheduler="old"),
        job("C", 2, 10, scheduler="tiny"),
    ]
    others = f"old={real('1.20.2')}\ntiny={tiny()}"
    schedule = scheduled(jobs, real("1.36.4"), hosts=3, schedulers=others)
    assert starts(schedule) == {"A": 0, "B": 1, "C": 2}


def test_profiles_and_extenders_of_a_file_decide_too(tmp_path, unused_port):
    config, extender = tmp_path / "profiles.yaml", tmp_path / "extender.py"
    config.write_text(PROFILES.replace("PORT", str(unused_port)))
    extender.write_text(EXTENDER.replace("PORT", str(unused_port)))
    schedule = scheduled(
        [job("A", 0, 10), job("B", 1, 10, scheduler="other"), job("C", 2, 10)],
        f"{real('1.36.4')} --config {config}",
        hosts=4,
        beside=f"{sys.executable} {extender}",
    )
    # the extender leaves two of the four nodes
    assert starts(schedule) == {"A": 0, "B": 1, "C": 10}
    assert {str(hosts) for hosts in schedule.column("hosts")} == {"2", "3"}


def test_five_thousand_jobs_on_a_thousand_nodes_are_bound_when_they_are_submitted():
    jobs = [job(str(i), 0.5 * i, 450) for i in range(5000)]
    schedule = scheduled(jobs, real("1.36.4"), hosts=1000)
    assert (schedule.column("waiting_time") == 0).all()


@pytest.fixture
def unused_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
