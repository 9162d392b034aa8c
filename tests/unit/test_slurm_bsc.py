"""The mode of BSC's simulator: its steps by hand, and against what a real Slurm did."""

from __future__ import annotations

import json
import runpy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

import noctule as nt
from noctule.cli import cli
from noctule.profile import Delay
from noctule.slurm import Clocks, Request, Requests, read_settings, simulate_slurm
from noctule.slurm.truth.compare import Case, bsc_starts
from noctule.slurm.truth.fidelity import deviation
from noctule.slurm.truth.sets import read_truth
from noctule.workload import Request as Hosts

EPOCH = 600_000  # a whole minute: the first one of a run begins with it


@dataclass
class Asked:
    """A job: when it comes, how long it runs, on how many of four nodes, up to which minute."""

    submit: float
    runtime: float
    nodes: int
    limit: int = 1
    begin: int | None = None


@pytest.fixture
def starts(tmp_path):
    """Return a function that runs jobs in the mode and tells their starts."""

    def run(jobs: Sequence[Asked], parameters: str = "bf_interval=30", kind: str = "backfill"):
        conf = tmp_path / "slurm.conf"
        conf.write_text(
            f"SchedulerType=sched/{kind}\nSchedulerParameters={parameters}\n"
            "NodeName=n[1-4] CPUs=1\nPartitionName=main Nodes=ALL Default=YES\n"
        )
        workload = nt.Workload.from_jobs(
            nt.Job(id=i, submit_time=j.submit, request=Hosts(j.nodes), profile=Delay(j.runtime))
            for i, j in enumerate(jobs)
        )
        requests = Requests.of(
            Request(
                min_nodes=j.nodes,
                limit=j.limit,
                begin=j.begin,
            )
            for j in jobs
        )
        schedule, _ = simulate_slurm(
            workload, read_settings(conf), requests, clocks=Clocks.bsc(), epoch=EPOCH
        )
        found = dict(zip(schedule.column("job_id"), schedule.column("start_time"), strict=True))
        return [found[i] for i in range(len(jobs))]

    return run


def test_every_second_with_an_event_has_its_pass(starts):
    # Slurm would wait for three seconds between two of them
    assert starts([Asked(1, 10, 1), Asked(2, 10, 1), Asked(3, 10, 1)]) == [1, 2, 3]


def test_nodes_are_used_again_in_the_second_in_which_a_job_ends(starts):
    assert starts([Asked(1, 10, 4), Asked(2, 10, 4)]) == [1, 11]


def test_a_date_between_two_seconds_waits_for_the_next(starts):
    assert starts([Asked(1.25, 10, 1), Asked(2, 10, 4)]) == [2, 12]


def test_backfilling_comes_when_more_than_its_interval_has_passed(starts):
    # at 1 the first cycle finds no jobs; the next is due at 32, when the third job can pass
    jobs = [Asked(1, 170, 2, limit=3), Asked(2, 10, 4), Asked(3, 10, 1)]
    assert starts(jobs) == [1, 171, 32]
    assert starts(jobs, "bf_interval=7") == [1, 171, 9]


def test_a_cycle_over_waiting_jobs_makes_the_next_one_due(starts):
    # cycles at 32, 63, 94: the fourth job comes in between and fits only once the third has ended
    jobs = [Asked(1, 170, 2, limit=3), Asked(2, 10, 4), Asked(3, 40, 2), Asked(33, 10, 2)]
    assert starts(jobs) == [1, 171, 32, 94]


def test_a_queue_beyond_the_limit_is_not_looked_at(starts):
    jobs = [Asked(1, 170, 2, limit=3), *(Asked(2, 10, 4) for _ in range(3)), Asked(3, 10, 1)]
    assert starts(jobs, "bf_interval=30,bf_queue_limit=3")[-1] > 171
    assert starts(jobs, "bf_interval=30,bf_queue_limit=4")[-1] == 32


def test_without_a_backfill_scheduler_nobody_passes(starts):
    jobs = [Asked(1, 170, 2, limit=3), Asked(2, 10, 4), Asked(3, 10, 1)]
    assert starts(jobs, kind="builtin") == [1, 171, 181]


def test_a_job_that_must_not_begin_yet_starts_though_nothing_else_happens(starts):
    found = starts([Asked(1, 10, 1), Asked(2, 10, 1, begin=100)])
    assert found[0] == 1
    assert 100 <= found[1] <= 131


SETS = ("bsc_anl200_x4", "bsc_anl200_x10", "poisson", "bursty", "flood", "parts")


def truth_of(shared: Path, name: str):
    if not (shared / "truth" / "slurm" / f"{name}.csv").exists():
        pytest.skip(f"no {shared}/truth/slurm/{name}.csv; NOCTULE_SHARED names its folder")
    return read_truth(shared / "truth" / "slurm" / name)


@pytest.mark.parametrize(("name", "most"), [("bsc_anl200_x4", 0.029), ("bsc_anl200_x10", 0.015)])
def test_waits_of_the_papers_log_are_close_to_those_of_a_real_slurm(shared, name, most):
    truth = truth_of(shared, name)
    found = deviation(truth.jobs, bsc_starts(truth))
    assert abs(found.relative.wait) < most
    assert abs(found.relative.response) < most


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a file left open
@pytest.mark.parametrize("limit", [50, 100_000])
@pytest.mark.parametrize("name", SETS)
def test_every_start_is_that_of_an_independent_implementation(shared, tmp_path, name, limit):
    truth = truth_of(shared, name)
    conf = tmp_path / "slurm.conf"
    text = Path(truth.conf).read_text()
    assert "SchedulerParameters=bf_interval=30" in text
    conf.write_text(text.replace("=bf_interval=30", f"=bf_interval=30,bf_queue_limit={limit}"))
    ours = {one.job_id: one.start for one in Case(truth, read_settings(conf)).starts(Clocks.bsc())}
    assert ours == prototype_starts(shared, name, limit)


def prototype_starts(shared: Path, name: str, limit: int) -> dict[int, float]:
    """Run the prototype with the two rules that it lacks: the limit, and cycles after changes."""
    path = shared / "prototypes" / "minislurm.py"
    if not path.exists():
        pytest.skip(f"no {path}; NOCTULE_SHARED names its folder")
    names = runpy.run_path(str(path))

    class Steps(names["Sim"]):  # type: ignore[misc]
        planning = False

        def order(self):
            return super().order()[: limit if self.planning else None]

        def start(self, job, date, mask, who):
            super().start(job, date, mask, who)
            self.upd = date + 1

        def backfill(self, date):
            self.planning = True
            super().backfill(date)
            self.planning = False
            self.upd = max(self.upd, date)

        def go_bsc(self, by):
            now, last, left = int(min(job.submit for job in self.jobs)), 0, len(self.jobs)
            while left:
                due = [entry for entry in self.q if entry[0] <= now]
                self.q = [entry for entry in self.q if entry[0] > now]
                for _, _, number, kind in sorted(due):
                    job, self.upd = by[number], max(self.upd, now)
                    if kind == "sub":
                        self.pend.append(job)
                    else:
                        del self.run[number]
                        self.free |= job.mask
                        left -= 1
                if due:
                    self.main(now, False)
                if not last or (now - last > self.bfi and self.upd >= last):
                    last = now
                    if self.pend:
                        self.backfill(now)
                now += 1

    _, jobs = names["load"](str(shared / "truth" / "slurm" / name), "int")
    parts = {"main": {"mask": (1 << 10) - 1, "tier": 1}}
    if name == "parts":
        parts["short"] = {"mask": 0b111111, "tier": 10}
        parts["low"] = {"mask": 0b1111110000, "tier": 1}
    Steps(jobs, 10, parts, mode="bsc").go()
    return {job.id: job.start for job in jobs}


def test_the_command_compares_a_set_in_the_mode(shared):
    truth_of(shared, "poisson")
    path = str(shared / "truth" / "slurm" / "poisson")
    answer = CliRunner().invoke(cli, ["slurm", "compare", path, "--mode", "bsc", "--json"])
    assert answer.exit_code == 0
    assert len(json.loads(answer.stdout)["bsc"]) == 200
