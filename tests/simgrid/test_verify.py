"""Runs done again in SimGrid give the same dates and joules, and `noctule verify` says so."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

import noctule as nt
from noctule.cli import main
from noctule.console import ExitCode
from noctule.messages import (
    CallAt,
    JobSubmitted,
    KillJob,
    RegisterJob,
    SetPowerState,
    StartJob,
    TimerFired,
)
from noctule.simgrid.driver import Driver
from noctule.simgrid.verification import Verification, verify
from noctule.workload import (
    Compute,
    DataStaging,
    Delay,
    HomogeneousTask,
    Job,
    ParallelTask,
    Profile,
    Request,
    Send,
    Sequence,
    StorageTransfer,
    Usage,
    UsageTrace,
    Workload,
)

TOLERANCE = 1e-9
CLUSTER = """\
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="site" routing="Full">
    <cluster id="c" prefix="n" suffix="" radical="0-7" core="2" speed="1Gf,0.5Gf,0.3Gf"
             bw="125MBps" lat="50us" bb_bw="250MBps" bb_lat="20us">
      <prop id="wattage_per_state" value="95:110:190,90:100:150,85:90:120"/>
      <prop id="wattage_off" value="10"/>
    </cluster>
    <cluster id="s" prefix="disk" suffix="" radical="0-0" speed="1Gf" bw="60MBps" lat="100us">
      <prop id="role" value="storage"/>
    </cluster>
    <link id="between" bandwidth="100MBps" latency="1ms"/>
    <zoneRoute src="c" dst="s" gw_src="nc_router" gw_dst="disks_router">
      <link_ctn id="between"/>
    </zoneRoute>
  </zone>
</platform>
"""


@pytest.fixture
def platform(tmp_path: Path) -> nt.Platform:
    path = tmp_path / "cluster.xml"
    path.write_text(CLUSTER)
    return nt.load_platform(path)


class Greedy:
    """Starts jobs at once on the hosts that they come to in turn, busy or not."""

    def __init__(self) -> None:
        self.next = 0

    def decide(self, view, events):
        for job in view.waiting:
            hosts = [(self.next + i) % view.n_hosts for i in range(job.n_hosts)]
            self.next += 3
            yield StartJob(job, hosts)


def jobs_of(*profiles: Profile, n_hosts: int = 2, **fields) -> Workload:
    return Workload.from_jobs(
        [Job(i, 1.5 * i, Request(n_hosts), profile, **fields) for i, profile in enumerate(profiles)]
    )


def random_usages(rng: random.Random) -> UsageTrace:
    return UsageTrace(
        [
            [Usage(rng.random(), 10 ** rng.uniform(8, 10)) for _ in range(rng.randint(0, 3))]
            for _ in range(rng.randint(1, 6))
        ]
    )


def random_profile(rng: random.Random, n_hosts: int, *, traces: bool, depth: int = 0) -> Profile:
    flops, sent = 10 ** rng.uniform(8, 10), 10 ** rng.uniform(5, 8)
    matrix = [0 if i % (n_hosts + 1) == 0 else rng.uniform(0, 2e7) for i in range(n_hosts**2)]
    kinds = [
        lambda: Delay(rng.uniform(0, 5), return_code=int(rng.random() < 0.2)),
        lambda: Compute(flops, spread=rng.random() < 0.3),
        lambda: HomogeneousTask(flops, sent, rng.choice(["each", "spread", "spread_flops"])),
        lambda: ParallelTask([rng.choice([0, flops]) for _ in range(n_hosts)], matrix),
        lambda: StorageTransfer(sent, sent / 3, spread=rng.random() < 0.5),
        lambda: DataStaging(sent, "pfs", "pfs"),
        lambda: Send({"hello": "policy"}, 0.01),
        *([lambda: random_usages(rng)] if traces else []),
        lambda: Sequence(
            [
                random_profile(rng, n_hosts, traces=traces, depth=depth + 1)
                for _ in range(rng.randint(1, 4))
            ],
            repeat=rng.randint(1, 3),
        ),
    ]
    return rng.choice(kinds[: None if depth < 2 else -1])()


def random_workload(seed: int, *, traces: bool = False) -> Workload:
    rng = random.Random(seed)
    jobs, date = [], 0.0
    for i in range(60):
        date += rng.expovariate(0.7)
        n_hosts = rng.randint(1, 5)
        walltime = rng.uniform(1, 20) if rng.random() < 0.4 else float("inf")
        launch = rng.choice([0.0, 0.0, 0.25])
        jobs.append(
            Job(
                f"j{i}",
                date,
                Request(n_hosts),
                random_profile(rng, n_hosts, traces=traces),
                walltime=walltime,
                launch_delay=launch,
            )
        )
    return Workload.from_jobs(jobs)


def assert_equal(found: Verification) -> None:
    assert found.dates.n > 0
    assert found.relative <= TOLERANCE, found


@pytest.mark.parametrize("with_energy", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_all_that_can_be_replayed_ends_at_the_same_dates(
    simgrid: Driver, platform: nt.Platform, seed: int, with_energy: bool
) -> None:
    workload = random_workload(seed, traces=True)
    found = verify(platform, workload, "easy", simgrid, with_energy=with_energy, launch_delay=0.125)
    assert found.dates.n == 60
    assert_equal(found)
    assert (found.joules is not None) == with_energy


@pytest.mark.parametrize("seed", range(6))
def test_jobs_that_share_hosts_end_at_the_same_dates(
    simgrid: Driver, platform: nt.Platform, seed: int
) -> None:
    workload = random_workload(seed, traces=True)
    found = verify(platform, workload, Greedy(), simgrid, with_energy=True, share_hosts=True)
    assert found.dates.n == 60
    assert_equal(found)


def test_textbook_sharing_is_found_to_differ(simgrid: Driver, platform: nt.Platform) -> None:
    workload = random_workload(1)
    found = verify(platform, workload, Greedy(), simgrid, share_hosts=True, solver="max-min")
    assert found.relative > 1e-6
    assert found.dates.name.startswith("j")


class Impatient(Greedy):
    """Kills each job two seconds after its start, and runs one of its own."""

    def decide(self, view, events):
        yield from super().decide(view, events)
        for event in events:
            if isinstance(event, JobSubmitted):
                yield CallAt(view.now + 2)
        yield from (KillJob(job) for job in view.running if job.start_time <= view.now - 2)
        if view.now == 0:
            own = Job("own", 1, Request(2), Compute(5e9), walltime=30)
            yield RegisterJob(own)


def test_kills_and_registered_jobs_are_replayed(simgrid: Driver, platform: nt.Platform) -> None:
    workload = random_workload(3)
    found = verify(platform, workload, Impatient(), simgrid, share_hosts=True, machine=True)
    assert found.dates.n == 61
    assert_equal(found)


class Arranger:
    """Says where executors are, which storage is meant, and what is done instead."""

    def decide(self, view, events):
        for job in view.waiting:
            if job.id == 0:
                yield StartJob(job, [1, 3, 5], mapping=[2, 0, 1])
            elif job.id == 1:
                yield StartJob(job, [0, 2, 4], storages={"fast": 8})
            elif len(view.free) >= 3:
                yield StartJob(job, [0, 6, 7], profile=Compute(3e9))


def test_mappings_storages_and_other_profiles_are_replayed(
    simgrid: Driver, platform: nt.Platform
) -> None:
    workload = jobs_of(
        ParallelTask((1e9, 2e9, 3e9), (0, 1e8, 0, 0, 0, 2e8, 0, 0, 0)),
        StorageTransfer(3e7, 1e7, "fast"),
        Delay(1000),
        n_hosts=3,
    )
    found = verify(platform, workload, Arranger(), simgrid, share_hosts=True)
    assert found.dates.n == 3
    assert found.schedule.end < 100
    assert_equal(found)


class Slowing(Greedy):
    """Slows hosts down for a while."""

    def decide(self, view, events):
        if view.now == 0:
            yield CallAt(1.25)
            yield CallAt(2.75)
        elif any(isinstance(event, TimerFired) for event in events):
            yield SetPowerState([0, 1, 2, 3], 2 if view.now == 1.25 else 1)
        yield from super().decide(view, events)


def test_slower_states_are_replayed(simgrid: Driver, platform: nt.Platform) -> None:
    workload = jobs_of(*[Compute(3e9), HomogeneousTask(1e9, 3e7)] * 3)
    found = verify(platform, workload, Slowing(), simgrid, with_energy=True, share_hosts=True)
    assert_equal(found)


def test_hosts_that_change_and_fail_are_replayed(simgrid: Driver, tmp_path: Path) -> None:
    (tmp_path / "speed.txt").write_text("0 1\n2.5 0.5\n7 0.75\n")
    (tmp_path / "state.txt").write_text("6 0\n60 1\n")
    xml = CLUSTER.replace(
        '    <cluster id="s"',
        '    <zone id="others" routing="None">\n'
        '      <host id="slow" speed="1Gf" speed_file="speed.txt"/>\n'
        '      <host id="weak" speed="1Gf" state_file="state.txt"/>\n'
        "    </zone>\n"
        '    <cluster id="s"',
    )
    path = tmp_path / "changing.xml"
    path.write_text(xml)
    platform = nt.load_platform(path)
    names = [host.name for host in platform.hosts]
    slow, weak = names.index("slow"), names.index("weak")

    class Chosen:
        def decide(self, view, events):
            places = {0: [0, slow], 1: [1, weak], 2: [weak]}
            return [StartJob(job, places[job.id]) for job in view.waiting]

    jobs = [
        Job(0, 0, Request(2), Compute(5e9)),
        Job(1, 1, Request(2), Compute(9e9)),
        Job(2, 2, Request(1), Delay(100)),
    ]
    found = verify(platform, Workload.from_jobs(jobs), Chosen(), simgrid, share_hosts=True)
    assert sorted(found.schedule.column("state").tolist()) == ["completed", "failed", "failed"]
    assert found.dates.n == 3
    assert_equal(found)


@pytest.fixture
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("four.toml").write_text('[[hosts]]\ncount = 4\nspeed = "1Gf"\n')
    Path("cluster.xml").write_text(CLUSTER)
    profiles = {
        "p": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 1e6},
        "c": {"type": "parallel_homogeneous", "cpu": 3e9, "com": 0},
        "r": {"type": "recv"},
    }
    jobs = [{"id": i, "subtime": i, "res": 2, "profile": "pc"[i % 2]} for i in range(6)]
    document = {"nb_res": 4, "profiles": profiles, "jobs": jobs}
    Path("jobs.json").write_text(json.dumps(document))
    jobs[3]["profile"] = "r"
    Path("messages.json").write_text(json.dumps(document))
    jobs = [{"id": 1, "subtime": 0, "res": 3, "profile": "c"}]
    Path("computing.json").write_text(json.dumps(document | {"jobs": jobs}))


@pytest.mark.usefixtures("simgrid", "_folder")
def test_the_command_prints_what_was_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "cluster.xml", "jobs.json", "--energy", "--policy", "fcfs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines[:4]] == [
        "compared",
        "ends of jobs (s)",
        "joules of hosts",
        "joules in all",
    ]
    assert lines[1].split()[4] == "6"
    assert lines[-1].endswith("no relative difference above 1e-09")


@pytest.mark.usefixtures("simgrid")
def test_the_page_shows_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = Path(__file__).parents[2] / "docs" / "howto" / "check-with-simgrid.md"
    blocks = dict(re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL))
    monkeypatch.chdir(tmp_path)
    exec(blocks["python"], {})
    command, *shown = blocks["text"].splitlines()
    assert main(command.split()[2:]) == 0
    printed = capsys.readouterr().out.splitlines()
    # the last bits of a difference are those of a machine, and SimGrid's version that of a system
    assert [line.split()[:3] for line in printed[:4]] == [line.split()[:3] for line in shown[:4]]
    assert printed[-1].split()[2:] == shown[-1].split()[2:]


@pytest.mark.usefixtures("simgrid", "_folder")
def test_the_command_gives_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "cluster.xml", "jobs.json", "--json", "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["agrees"] is True
    assert found["finish_time"]["n"] == 6
    assert "joules" not in found


@pytest.mark.usefixtures("simgrid", "_folder")
def test_a_difference_is_the_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nt.save_workload(random_workload(1), "random.json")
    Path("greedy.py").write_text(
        "from noctule.messages import StartJob\n"
        "class Greedy:\n"
        "    def decide(self, view, events):\n"
        "        for job in view.waiting:\n"
        "            yield StartJob(job, range(job.n_hosts))\n"
    )
    words = ["verify", "cluster.xml", "random.json", "--policy", "greedy.py:Greedy"]
    words.append("--share-hosts")
    assert main(words) == ExitCode.OK
    assert main([*words, "--solver", "max-min"]) == ExitCode.CHECK_FAILED
    assert "a relative difference above 1e-09" in capsys.readouterr().out
    assert main([*words, "--solver", "max-min", "--tolerance", "1"]) == ExitCode.OK


@pytest.mark.usefixtures("simgrid", "_folder")
def test_the_short_form_is_written_for_simgrid() -> None:
    assert main(["verify", "four.toml", "computing.json", "--quiet"]) == 0


@pytest.mark.usefixtures("simgrid", "_folder")
def test_files_of_the_short_form_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    Path("elsewhere").mkdir()
    Path("elsewhere/speed.txt").write_text("0 1\n1 0.25\n")
    Path("elsewhere/three.toml").write_text(
        '[[hosts]]\ncount = 2\nspeed = "1Gf"\n'
        '[[hosts]]\nname = "slow"\nspeed = "1Gf"\nprofiles = { speed = "speed.txt" }\n'
    )
    assert main(["verify", "elsewhere/three.toml", "computing.json", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["finish_time"]["ours"] == pytest.approx(9.0)


@pytest.mark.usefixtures("simgrid", "_folder")
def test_what_cannot_be_replayed_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("told.py").write_text(
        "from noctule.messages import JobSubmitted, SendMessage, StartJob\n"
        "class Told:\n"
        "    def decide(self, view, events):\n"
        "        for j in list(view.waiting)[: len(view.free) // 2]:\n"
        "            yield StartJob(j)\n"
        "            if j.id == 3:\n"
        "                yield SendMessage(j, 'go')\n"
    )
    words = ["verify", "cluster.xml", "messages.json", "--policy", "told.py:Told"]
    assert main(words) == ExitCode.INPUT
    assert capsys.readouterr().err.splitlines()[-1] == (
        "noctule: messages.json: job 3: profile 'r': got a part of type Receive, "
        "which cannot be replayed in SimGrid"
    )


@pytest.mark.usefixtures("simgrid", "_folder")
def test_what_simgrid_refuses_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    text = CLUSTER.replace(
        "  <zone id", '  <config><prop id="network/nonsense" value="1"/></config>\n  <zone id', 1
    )
    Path("odd.xml").write_text(text)
    assert main(["verify", "odd.xml", "jobs.json"]) == ExitCode.INPUT
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("noctule: odd.xml: SimGrid ")
    assert last.endswith("refuses it, or what is done on it: Bad config key: network/nonsense")
