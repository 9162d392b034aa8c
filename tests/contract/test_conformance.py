"""The policies of Noctule, and recorded ones of others, against the textbook."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from more_examples import times_as_many
from reference_policies import Conservative, Easy, Fcfs, Filler, NamedEasy, Replanning

import noctule as nt
from noctule import policies
from noctule.testing import check_schedule, conformance, families, start_times
from noctule.testing.strategies import platforms, workloads
from noctule.traces import select

REFERENCES = {
    "fcfs": Fcfs,
    "easy": Easy,
    "conservative": Conservative,
    "replanning": Replanning,
    "filler": Filler,
}
IN_PYTHON = {
    "fcfs": policies.Fcfs,
    "easy": policies.Easy,
    "conservative": policies.Conservative,
    "filler": policies.Filler,
    "easy(order=sjf)": lambda: policies.Easy(order="sjf"),
}
CHECKED = ("fcfs", "easy", "conservative", "replanning")
# Batsim's messages take up to some milliseconds of simulated time
LATENCY = 0.01


def rows_of(workload):
    """Return a workload as the reference schedulers read it."""
    return [
        (job.id, job.submit_time, job.request.n_hosts, job.profile.work, job.walltime)
        for job in workload
    ]


def reference_starts(policy, platform, workload):
    return REFERENCES[policy](platform.n_hosts, rows_of(workload)).run()


@pytest.mark.parametrize("family", families())
def test_native_policies_conform(family):
    assert [str(failure) for failure in conformance(family, family)] == []


@pytest.mark.parametrize("family", IN_PYTHON)
def test_python_policies_conform(family):
    assert [str(failure) for failure in conformance(IN_PYTHON[family], family)] == []


@times_as_many(2)
@given(platform=platforms(), workload=workloads())
def test_native_policies_agree_with_independent_ones(platform, workload):
    found = {name: start_times(nt.simulate(platform, workload, name)) for name in REFERENCES}

    assert found == {name: reference_starts(name, platform, workload) for name in REFERENCES}


@times_as_many(2)
@given(platform=platforms(max_hosts=4), workload=workloads(max_hosts=4))
def test_a_check_finds_something_if_and_only_if_a_schedule_is_not_the_textbooks(platform, workload):
    textbook = {name: reference_starts(name, platform, workload) for name in REFERENCES}
    for policy in REFERENCES:
        schedule = nt.simulate(platform, workload, policy)
        good = {name for name in CHECKED if not check_schedule(schedule, policy=name)}
        assert good == {name for name in CHECKED if textbook[name] == start_times(schedule)}


@times_as_many(2)
@given(platform=platforms(), workload=workloads(overruns=True, unlimited=True, delays=True))
def test_schedules_with_kills_and_delays_break_nothing(platform, workload):
    for policy in ("fcfs", "easy"):
        schedule = nt.simulate(platform, workload, policy)
        assert check_schedule(schedule, policy=policy) == []


@times_as_many(2)
@given(platform=platforms(), workload=workloads(cancellations=True))
def test_schedules_with_cancellations_break_nothing(platform, workload):
    for policy in ("fcfs", "easy", "replanning"):
        schedule = nt.simulate(platform, workload, policy)
        assert check_schedule(schedule, policy=policy) == []


@times_as_many(2)
@given(
    platform=platforms(),
    workload=workloads(
        dependencies=True, overruns=True, unlimited=True, cancellations=True, delays=True
    ),
)
def test_no_schedule_breaks_the_rules_that_hold_for_all(platform, workload):
    for policy in REFERENCES:
        assert check_schedule(nt.simulate(platform, workload, policy)) == []


@pytest.fixture(scope="module")
def kth(shared):
    log = shared / "traces" / "KTH-SP2-1996-2.1-cln.swf.xz"
    return nt.load_workload(log, processors="allocated")


@pytest.mark.parametrize("n_jobs", [8000, pytest.param(28_467, marks=pytest.mark.slow)])
@pytest.mark.parametrize("policy", CHECKED)
def test_native_schedules_of_a_real_log_are_the_textbooks(kth, policy, n_jobs):
    first = select(kth, positions=slice(n_jobs))
    schedule = nt.simulate(nt.Platform.homogeneous(100), first, policy)

    assert len(schedule) == n_jobs
    assert check_schedule(schedule, policy=policy) == []


def test_a_schedule_of_another_policy_is_not_taken_for_easy(kth):
    schedule = nt.simulate(nt.Platform.homogeneous(100), kth, "filler")

    rules = {violation.rule for violation in check_schedule(schedule, policy="easy")}

    assert rules == {"first job delayed by a backfilled one"}


def recording(shared, name):
    """Read what real Batsim recorded with some scheduler; None if that run broke off."""
    folder = shared / "vectors" / "batsim" / "v4" / name
    jobs = next(folder.glob("out_jobs.csv*"))
    if jobs.stat().st_size == 0:
        return None
    names, values = (folder / "out_schedule.csv").read_text().splitlines()
    n_hosts = int(values.split(",")[names.split(",").index("nb_computing_machines")])
    return nt.Schedule.from_jobs_csv(jobs, n_hosts)


def test_recorded_schedules_break_no_rule_that_holds_for_all(shared):
    folders = sorted((shared / "vectors" / "batsim" / "v4").glob("*easy*"))
    recordings = [recording(shared, folder.name) for folder in folders]

    assert len(recordings) == 17
    assert recordings.count(None) == 1  # pybatsim's schedEasySjfBackfill broke off
    for schedule in filter(None, recordings):
        assert check_schedule(schedule, tolerance=LATENCY) == []


def n_passing(schedule):
    """Return how many jobs started before one that was submitted earlier."""
    submit, start = schedule.column("submit_time"), schedule.column("start_time")
    ids = [str(job_id).zfill(9) for job_id in schedule.column("job_id")]
    start = start[np.lexsort((ids, submit))]
    return int(np.sum(start[1:] < np.maximum.accumulate(start)[:-1] - LATENCY))


def test_few_recordings_can_tell_easy_from_fcfs(shared):
    # the others are in docs/reference/conformance.md as recordings in which no job passed another
    folders = (shared / "vectors" / "batsim" / "v4").glob("*easy*")
    recordings = {folder.name: recording(shared, folder.name) for folder in folders}

    passing = {name: n_passing(found) for name, found in recordings.items() if found is not None}

    telling = {name: n for name, n in passing.items() if n}
    assert telling == {"bs_easy_bf_paper_mmax": 66, "tiny_easy_kth_delay": 17973}


@pytest.mark.parametrize(
    "name",
    [
        "bs_easy_bf_delays",
        "bs_easy_bf_energy128_paper",
        "bs_easy_bf_fast_delays",
        "bs_easy_bf_fast_energy128_various",
        "bs_easy_bf_fast_energycluster128_various",
        "bs_easy_bf_fast_long",
        "bs_easy_bf_fast_paper",
        "bs_easy_bf_fast_various",
        "bs_easy_bf_long",
        "bs_easy_bf_paper",
        "bs_easy_bf_samesubmit",
        "bs_easy_bf_various",
        "py_easy_various",
        "repeat_bs_easy_bf_paper",
        "tiny_easy_kth_delay",
    ],
)
def test_recorded_schedules_in_which_nothing_differs_from_easy(shared, name):
    assert check_schedule(recording(shared, name), policy="easy", tolerance=LATENCY) == []


def test_batsched_leaves_jobs_waiting_that_easy_would_start(shared):
    schedule = recording(shared, "bs_easy_bf_paper_mmax")

    found = check_schedule(schedule, policy="easy", tolerance=LATENCY, max_per_rule=None)

    assert [violation.rule for violation in found] == ["job left waiting"] * 28
    assert all("extra hosts" in violation.message for violation in found)


def test_batsched_is_easy_with_a_reservation_for_certain_hosts(shared):
    # 800 jobs on 32 hosts: each starts within 20 ms of the model, and on the same hosts
    schedule = recording(shared, "bs_easy_bf_paper_mmax")
    names = ("job_id", "submit_time", "n_hosts", "runtime", "walltime", "start_time", "hosts")
    columns = [schedule.column(name).tolist() for name in names]
    rows = sorted(zip(*columns, strict=True), key=lambda row: row[0])

    model = NamedEasy(32, [row[:5] for row in rows])
    starts = model.run()

    assert len(rows) == 800
    assert max(abs(starts[row[0]] - row[5]) for row in rows) < 0.02
    assert all(model.held[row[0]] == list(row[6]) for row in rows)


def test_the_textbooks_easy_waits_less_than_batscheds(shared):
    folder = shared / "vectors" / "batsim" / "inputs" / "workloads"
    workload = nt.load_workload(folder / "test_batsim_paper_workload_seed1.json")

    textbook = nt.simulate(nt.Platform.homogeneous(32), workload, "easy")

    # figures of docs/reference/conformance.md
    recorded = recording(shared, "bs_easy_bf_paper_mmax")
    assert np.mean(textbook.column("waiting_time")) == pytest.approx(8.684, abs=5e-4)
    assert np.mean(recorded.column("waiting_time")) == pytest.approx(9.531, abs=5e-4)
