"""How a run behaves, whatever its policy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypedDict, get_args

from noctule.errors import InputError
from noctule.machine import BILLINGS, SOLVERS, Billing, Solver
from noctule.replay import Replay, make_replay

__all__ = ["OptionValues", "Options"]

OnFailure = Literal["end", "resubmit"]
ON_FAILURE: tuple[OnFailure, ...] = get_args(OnFailure)


@dataclass(frozen=True, slots=True)
class Options:
    """How a run behaves, whatever its policy.

    Attributes:
        until: stop at this date, with jobs still running or waiting.
        enforce_walltime: stop jobs at their walltimes; otherwise that is left to the policy.
        reject_oversized: refuse jobs larger than the platform when they are submitted.
        wait_for_timers: calls that a policy has asked for keep the run alive, as in Batsim.
        launch_delay: seconds between the start of a job and that of its profile, added to its own.
        epilogue_delay: seconds that hosts stay unusable after a job, added to its own.
        clairvoyant: let a Python policy see true runtimes.
        energy: count joules, exactly or as SimGrid does; needs a platform whose watts are known.
        solver: how tasks share hosts and links: SimGrid's numbers, or textbook max-min fairness.
        share_hosts: a policy may name hosts that other jobs run on.
        machine: simulate hosts and links even if no job of the workload needs it; otherwise that is
            done where profiles communicate, hosts are shared or change by themselves, there are
            storages and energy is counted, or it is counted as SimGrid does.
        share_storages: jobs may name storage hosts that other jobs use.
        wake_for_jobs: hosts that sleep or switch are free, and a job that is started there begins
            when they are awake; None: as the policy says by its attribute `wakes_hosts`.
        report_ranks: each rank of a trace reports its end to the first host of its job by a message
            of four bytes, as in Batsim 4.
        batsim_latency: what happens and what is decided is told by messages of one byte to and from
            the platform's master, one after the other, as inside Batsim; ranks report their ends.
        batsim_events: tell what Batsim tells: SubmissionsEnded, ExternalEventsEnded and JobsKilled;
            decisions dated in the past take effect at once, registered jobs are submitted at once.
        open_registration: the run does not end before the policy decides FinishRegistration.
        acknowledge_registered: tell by JobSubmitted of jobs that the policy itself has registered.
        on_failure: what becomes of jobs that a failing host or a maintenance ends: `end`, or
            `resubmit` them as new attempts, with ids such as `17#2`.
        max_attempts: of one job, the first one included.
        checkpoint_every: seconds of work between two checkpoints of a job; none by default.
        checkpoint_cost: seconds that each of them takes.
        restart_cost: seconds that every attempt but the first begins with.
        replay: when jobs are submitted: at the dates of the workload (`rigid`), or as users react
            to what happens: `Feedback(threshold=3600)`, or its text `feedback(threshold=60min)`.
    """

    until: float = math.inf
    enforce_walltime: bool = True
    reject_oversized: bool = True
    wait_for_timers: bool = False
    launch_delay: float = 0.0
    epilogue_delay: float = 0.0
    clairvoyant: bool = False
    energy: Billing = "off"
    solver: Solver = "simgrid"
    share_hosts: bool = False
    share_storages: bool = True
    wake_for_jobs: bool | None = None
    machine: bool = False
    report_ranks: bool = False
    batsim_latency: bool = False
    batsim_events: bool = False
    open_registration: bool = False
    acknowledge_registered: bool = True
    on_failure: OnFailure = "end"
    max_attempts: int | None = None
    checkpoint_every: float = math.inf
    checkpoint_cost: float = 0.0
    restart_cost: float = 0.0
    replay: str | Replay = "rigid"

    def __post_init__(self) -> None:
        """Refuse negative and meaningless numbers, and words that mean nothing."""
        named = (("energy", BILLINGS), ("solver", SOLVERS), ("on_failure", ON_FAILURE))
        for name, words in named:
            if getattr(self, name) not in words:
                raise InputError(
                    f"{name}: got {getattr(self, name)!r}, expected {' or '.join(words)}"
                )
        delays = ("launch_delay", "epilogue_delay", "checkpoint_cost", "restart_cost")
        for name in ("until", *delays):
            value = getattr(self, name)
            finite = name == "until" or math.isfinite(value)
            if not (value >= 0 and finite):
                raise InputError(f"{name}: got {value}, expected a number >= 0")
        if not self.checkpoint_every > 0:
            raise InputError(
                f"checkpoint_every: got {self.checkpoint_every}, expected a number above 0"
            )
        if self.max_attempts is not None and not 1 <= self.max_attempts < 2**32:
            raise InputError(f"max_attempts: got {self.max_attempts}, expected a whole number >= 1")
        make_replay(self.replay)


class OptionValues(TypedDict, total=False):
    """The options of a run, as keywords."""

    until: float
    enforce_walltime: bool
    reject_oversized: bool
    wait_for_timers: bool
    launch_delay: float
    epilogue_delay: float
    clairvoyant: bool
    energy: Billing
    solver: Solver
    share_hosts: bool
    share_storages: bool
    wake_for_jobs: bool | None
    machine: bool
    report_ranks: bool
    batsim_latency: bool
    batsim_events: bool
    open_registration: bool
    acknowledge_registered: bool
    on_failure: OnFailure
    max_attempts: int | None
    checkpoint_every: float
    checkpoint_cost: float
    restart_cost: float
    replay: str | Replay
