"""Replay recorded runs of Batsim 4, and tell how far execution times, energies or messages differ.

    python tests/recordings.py --durations DIR [--inputs DIR] [NAME...]
    python tests/recordings.py --messages DIR [--inputs DIR] [NAME...]

DIR has a folder a run, in the form of vectors/batsim/v4 of the reference material, and an
index.json that says which of them are complete. All that schedulers decided is taken from
protocol.jsonl, or starts from jobs.csv where there is none. Runs "with latency" are reproduced from
the replies alone, all dates included; in others each decision is made at the date at which Batsim
carried it out. Prints a line a run: its worst difference in tolerances, which are
max(1.5e-6, 1e-6 x value), and the number of jobs. The exit code is 1 if a run is out.

With --messages, all that Batsim told its scheduler and all tables that it wrote are compared
(recorded_messages.py says how), of the runs whose names begin with tiny_, bs_ or py_; one that died
midway up to its last message.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from recorded_messages import compare_messages
from recorded_run import Recording
from replays import ROUNDING, AnsweringReplay, DatedReplay, Replay

import noctule as nt
from noctule.errors import NoctuleError
from noctule.machine import Machine

LEAST_TOLERANCE, TOLERANCE = 1.5e-6, 1e-6
WITH_MESSAGES = ("tiny_", "bs_", "py_")
# What Batsim says of jobs that took no time.
NO_TIME = 1e-5
FINAL_STATES = {
    "completed": "COMPLETED_SUCCESSFULLY",
    "timed_out": "COMPLETED_WALLTIME_REACHED",
    "killed": "COMPLETED_KILLED",
    "failed": "COMPLETED_FAILED",
    "rejected": "REJECTED",
}


def main(arguments: Sequence[str]) -> int:
    shared = os.environ.get("NOCTULE_SHARED", Path(__file__).parents[2] / "shared")
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    modes = parser.add_mutually_exclusive_group(required=True)
    modes.add_argument("--durations", type=Path, metavar="DIR")
    modes.add_argument("--messages", type=Path, metavar="DIR")
    parser.add_argument("--inputs", type=Path, default=Path(shared) / "vectors/batsim/inputs")
    parser.add_argument("names", nargs="*", help="runs to replay; all if none is named")
    options = parser.parse_args(arguments)
    if options.messages:
        return main_messages(options.messages, options.inputs, options.names)
    return main_durations(options.durations, options.inputs, options.names)


def main_messages(folder: Path, inputs: Path, names: Sequence[str]) -> int:
    n_compared = n_out = n_messages = n_rows = 0
    for path in sorted(folder.iterdir()):
        if not (path.name in names if names else path.name.startswith(WITH_MESSAGES)):
            continue
        found = compare_messages(path, inputs)
        print(f"{path.name:50} {found}", flush=True)
        if found.why_not:
            continue
        n_compared += 1
        n_messages += found.n_messages
        n_rows += found.n_rows
        n_out += found.is_out
    print(f"{n_compared} runs, {n_messages} requests, {n_rows} rows: {n_out} out")
    return int(n_out > 0 or n_compared == 0)


def main_durations(folder: Path, inputs: Path, names: Sequence[str]) -> int:
    n_compared = n_out = n_jobs = 0
    worst = 0.0
    for name, why_not in runs_of(folder):
        if names and name not in names:
            continue
        if why_not:
            print(f"{name:50} not compared: {why_not}")
            continue
        found = compare(folder / name, inputs)
        n_compared += 1
        n_jobs += found.n_jobs
        n_out += found.is_out
        worst = max(worst, found.worst)
        print(f"{name:50} {found}", flush=True)
    print(f"{n_compared} runs, {n_jobs} jobs: worst difference {worst:.2g} tolerances, {n_out} out")
    return int(n_out > 0 or n_compared == 0)


def runs_of(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the names of runs, each with the reason why it cannot be compared, if there is one."""
    for name, facts in sorted(json.loads((folder / "index.json").read_text()).items()):
        yield name, "" if facts["complete"] else "Batsim did not come to its end"


@dataclass
class Comparison:
    """How far a replayed run differs from the recorded one, in tolerances."""

    has_latency: bool = False
    n_jobs: int = 0
    n_energies: int = 0
    worst: float = 0.0
    worst_of: str = ""
    failure: str = ""

    @property
    def is_out(self) -> bool:
        return not self.worst <= 1.0

    def number(self, what: str, expected: float, found: float, slack: float = 0.0) -> None:
        """Compare two numbers; by `slack` they may differ for other reasons."""
        tolerance = max(LEAST_TOLERANCE, TOLERANCE * abs(expected))
        apart = math.inf if math.isnan(found) else max(0.0, abs(expected - found) - slack)
        self.note(what, apart / tolerance, expected, found)

    def equal(self, what: str, expected: object, found: object) -> None:
        self.note(what, 0.0 if expected == found else math.inf, expected, found)

    def note(self, what: str, difference: float, expected: object, found: object) -> None:
        if not difference <= self.worst:
            self.worst = difference
            self.worst_of = f"{what}: {found}, recorded {expected}"

    def fail(self, why: str) -> None:
        self.worst, self.failure = math.inf, why

    def __str__(self) -> str:
        text = f"{self.worst:8.2g} tolerances, {self.n_jobs} jobs"
        if self.n_energies:
            text += f", {self.n_energies} energies"
        if self.has_latency:
            text += ", with latency"
        if self.failure:
            return f"{text}  FAILED: {self.failure}"
        return f"{text}  OUT: {self.worst_of}" if self.is_out else text


def compare(folder: Path, inputs: Path) -> Comparison:
    """Replay a run, and compare what came out.

    With Batsim's own latency, its scheduler's replies lead to the recorded dates by themselves.
    Where they do not, each decision is made at the date at which Batsim carried it out.
    """
    answered = compare_with(folder, inputs, AnsweringReplay, latency=True)
    if not answered.is_out:
        return answered
    dated = compare_with(folder, inputs, DatedReplay, latency=False)
    return dated if not dated.is_out or answered.failure else answered


def compare_with(folder: Path, inputs: Path, policy: type[Replay], *, latency: bool) -> Comparison:
    comparison = Comparison(latency)
    try:
        recording = Recording(folder, inputs)
        if "--no-sched" in recording.command.flags:
            return Comparison()  # it writes no rows
        schedule = replayed(recording, policy(recording), latency=latency)
        compare_jobs(comparison, recording, schedule)
        if recording.command.counts_energy and recording.uses_all_hosts:
            compare_energies(comparison, recording, schedule)
    except (NoctuleError, KeyError, ValueError, OSError) as error:
        comparison.fail(str(error) if isinstance(error, NoctuleError) else repr(error))
    return comparison


def replayed(recording: Recording, policy: Replay, *, latency: bool) -> nt.Schedule:
    return nt.simulate(
        recording.platform,
        recording.workload,
        policy,
        recording.external_events,
        submitters=[[f"{one.name}!{job.id}" for job in one] for one in recording.workloads],
        energy="simgrid" if recording.command.counts_energy else "off",
        share_hosts="--enable-compute-sharing" in recording.command.flags,
        machine=True,
        report_ranks=True,
        batsim_latency=latency,
        reject_oversized=False,
        wait_for_timers=True,
        batsim_events=True,
        open_registration="--enable-dynamic-jobs" in recording.command.flags,
        acknowledge_registered="--acknowledge-dynamic-jobs" in recording.command.flags,
    )


def compare_jobs(comparison: Comparison, recording: Recording, schedule: nt.Schedule) -> None:
    record = schedule.record
    states, lasted = schedule.column("state"), record.finish_time - record.start_time
    joules = record.energy if recording.command.counts_energy else None
    found = {str(job_id): row for row, job_id in enumerate(schedule.column("job_id"))}
    for missing in sorted(recording.jobs.keys() ^ found.keys()):
        comparison.equal(f"job {missing}: is there", missing in recording.jobs, missing in found)
    for job_id in recording.jobs.keys() & found.keys():
        row, expected = found[job_id], recording.jobs[job_id]
        what = f"job {job_id}"
        comparison.n_jobs += 1
        state = FINAL_STATES.get(str(states[row]))
        comparison.equal(f"{what}: state", expected["final_state"], state)
        if expected["execution_time"]:
            time = float(expected["execution_time"])
            comparison.number(f"{what}: execution time", time, float(lasted[row]) or NO_TIME)
        if joules is not None and expected["consumed_energy"]:
            comparison.n_energies += 1
            energy = float(expected["consumed_energy"])
            comparison.number(f"{what}: joules", energy, float(joules[row]))


def compare_energies(comparison: Comparison, recording: Recording, schedule: nt.Schedule) -> None:
    """Compare the joules of all hosts, at the dates of consumed_energy.csv and in all."""
    record = schedule.record
    dates, joules = record.energy_time, record.energy_joules
    watts = 0.0
    for row in recording.table("consumed_energy"):
        date, energy = float(row["time"]), float(row["energy"])
        watts = watts if row["epower"] == "NA" else float(row["epower"])
        near = joules[np.abs(dates - date) <= 2 * ROUNDING]
        ours = min(near.tolist(), key=lambda one: abs(one - energy), default=math.nan)
        comparison.n_energies += 1
        # dates are rounded, and Batsim's energy is that of the true one
        comparison.number(f"t={date} joules of all hosts", energy, ours, watts * ROUNDING)
    ended = joules[np.flatnonzero(record.energy_why == ord("e"))[-1:]]
    for row in recording.table("schedule") if len(ended) else ():
        comparison.n_energies += 1
        before = np.interp(first_submission(recording), [0.0, *dates], [0.0, *joules])
        found = float(ended[0] - before)
        comparison.number("consumed_joules", float(row["consumed_joules"]), found, watts * ROUNDING)


def first_submission(recording: Recording) -> float:
    """Return when Batsim counted the energy for the first time.

    That is when the first job is announced to its server, which was greeted before.
    """
    machine = Machine(recording.platform)
    master = recording.platform.master
    if master is not None:
        machine.send("hello", master.name, master.name, 1)
        machine.run_until()
    return max([machine.now, *recording.workload.submit_time[:1].tolist()])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
