"""Recorded runs of Batsim come out again: `python tests/recordings.py` over all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded_run import Recording
from recordings import Comparison, compare_jobs, main, replayed, runs_of
from replays import AnsweringReplay

import noctule as nt


@pytest.fixture(scope="module")
def recordings(shared: Path) -> Path:
    folder = shared / "vectors" / "batsim"
    if not (folder / "v4" / "index.json").exists():
        pytest.skip(f"no recorded runs in {folder}")
    return folder


def test_every_complete_run_has_batsims_execution_times_and_energies(
    recordings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["--durations", str(recordings / "v4"), "--inputs", str(recordings / "inputs")])
    assert code == 0, capsys.readouterr().out


def test_an_execution_time_that_differs_makes_the_run_fail(
    recordings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "spoilt"
    run.mkdir()
    (tmp_path / "index.json").write_text('{"spoilt": {"complete": true}}')
    original = recordings / "v4" / "bs_fcfs_fast_delays"
    for name in ("commands.txt", "protocol.jsonl", "protocol.jsonl.xz", "out_schedule.csv"):
        if (original / name).exists():
            (run / name).write_bytes((original / name).read_bytes())
    jobs = (original / "out_jobs.csv").read_text()
    (run / "out_jobs.csv").write_text(jobs.replace(",10.000000,", ",10.000020,", 1))
    assert main(["--durations", str(tmp_path), "--inputs", str(recordings / "inputs")]) == 1
    assert "OUT: job w0!" in capsys.readouterr().out


def test_every_message_and_every_table_is_batsims(
    recordings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["--messages", str(recordings / "v4"), "--inputs", str(recordings / "inputs")])
    assert code == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("protocol.jsonl", ("10.002015", "10.002115"), "request 5 (t=10.002115).now"),
        ("protocol.jsonl", ("JOB_COMPLETED", "JOB_KILLED"), ".events[0].type: 'JOB_COMPLETED'"),
        ("out_jobs.csv", (",10.000000,", ",10.000020,"), "jobs.csv: row 0: execution_time"),
        ("out_machine_states.csv", ("\n", "\n0,0,0,0,4,0\n"), "machine_states.csv: row 0"),
    ],
)
def test_a_message_or_a_row_that_differs_makes_the_run_fail(
    recordings: Path,
    tmp_path: Path,
    *,
    capsys: pytest.CaptureFixture[str],
    file: str,
    change: tuple[str, str],
    said: str,
) -> None:
    run = tmp_path / "spoilt"
    run.mkdir()
    for path in (recordings / "v4" / "bs_fcfs_fast_delays").iterdir():
        (run / path.name).write_bytes(path.read_bytes())
    (run / file).write_text((run / file).read_text().replace(*change, 1))
    words = ["--messages", str(tmp_path), "--inputs", str(recordings / "inputs"), "spoilt"]
    assert main(words) == 1
    assert said in capsys.readouterr().out


# With the latency of Batsim's own messages, all dates are those that it printed, with six decimals.
POLICIES = {
    "bs_fcfs_fast_various": "fcfs",
    "bs_easy_bf_fast_paper": "easy",
    "bs_conservative_bf_various": "conservative",
    "tiny_filler_various": "filler",
    "bs_fcfs_fast_usage_trace": "fcfs",
}


@pytest.mark.parametrize("name", POLICIES)
def test_with_batsims_latency_native_policies_start_jobs_at_its_dates(
    recordings: Path, name: str
) -> None:
    recording = Recording(recordings / "v4" / name, recordings / "inputs")
    schedule = nt.simulate(
        recording.platform, recording.workload, POLICIES[name], batsim_latency=True
    )
    assert starts_of(schedule) == pytest.approx(recorded_starts(recording), abs=1.5e-6)


@pytest.mark.parametrize(
    "name",
    ["tiny_jobmsg", "tiny_dyn", "bs_killer_various", "bs_idle_sleeper_energy_cluster_load100"],
)
def test_with_batsims_latency_recorded_replies_are_asked_for_at_its_dates(
    recordings: Path, name: str
) -> None:
    recording = Recording(recordings / "v4" / name, recordings / "inputs")
    schedule = replayed(recording, AnsweringReplay(recording), latency=True)
    comparison = Comparison()
    compare_jobs(comparison, recording, schedule)
    assert not comparison.is_out, comparison.worst_of
    assert starts_of(schedule) == pytest.approx(recorded_starts(recording), abs=1.5e-6)


def test_runs_that_did_not_end_are_not_compared(recordings: Path) -> None:
    assert dict(runs_of(recordings / "v4"))["crash_tiny_kill"] == "Batsim did not come to its end"


def starts_of(schedule: nt.Schedule) -> dict[str, float]:
    starts = schedule.record.start_time.tolist()
    return dict(zip(schedule.column("job_id").tolist(), starts, strict=True))


def recorded_starts(recording: Recording) -> dict[str, float]:
    return {job_id: float(row["starting_time"]) for job_id, row in recording.jobs.items()}


# On platforms without a network Batsim's messages take no time.
@pytest.mark.parametrize("name", ["delays", "sequence_delay", "various_profile_types"])
def test_the_native_sleeper_does_and_spends_what_batscheds_did(recordings: Path, name: str) -> None:
    recording = Recording(recordings / "v4" / f"bs_sleeper_energy128_{name}", recordings / "inputs")
    schedule = nt.simulate(recording.platform, recording.workload, "sleeper", energy="simgrid")
    assert starts_of(schedule) == pytest.approx(recorded_starts(recording), abs=1e-6)
    assert joules_of(schedule) == pytest.approx(recorded_joules(recording), abs=1e-6)
    in_all = float(recording.table("consumed_energy")[-1]["energy"])
    assert schedule.energy.joules() == pytest.approx(in_all, rel=1e-6)


# While its first job waits for hosts to wake, batsched wakes more hosts at every call; ours does
# not. Up to then, and for the jobs, both are the same.
@pytest.mark.parametrize(
    ("name", "late"), [("notopo_load50", 0), ("cluster_load0", 0.014), ("cluster_load100", 0.014)]
)
def test_the_native_idle_sleeper_starts_jobs_when_batscheds_did(
    recordings: Path, name: str, late: float
) -> None:
    recording = Recording(
        recordings / "v4" / f"bs_idle_sleeper_energy_{name}", recordings / "inputs"
    )
    policy = "idle_sleeper(period=30, t_idle=0)"
    schedule = nt.simulate(recording.platform, recording.workload, policy, energy="simgrid")
    # where there is a network, dates are late by the time that Batsim's messages take
    assert starts_of(schedule) == pytest.approx(recorded_starts(recording), abs=late + 1e-6)
    assert joules_of(schedule) == pytest.approx(recorded_joules(recording), abs=1e-6)
    rows = [row for row in recording.table("consumed_energy") if float(row["time"]) < 100.1]
    at_submission = next(float(row["energy"]) for row in rows if float(row["time"]) > 99)
    assert schedule.energy.joules(0, 100) == pytest.approx(at_submission, rel=1e-6 + late / 10)


def joules_of(schedule: nt.Schedule) -> dict[str, float]:
    energy = schedule.column("energy").tolist()
    return dict(zip(schedule.column("job_id").tolist(), energy, strict=True))


def recorded_joules(recording: Recording) -> dict[str, float]:
    return {job_id: float(row["consumed_energy"]) for job_id, row in recording.jobs.items()}
