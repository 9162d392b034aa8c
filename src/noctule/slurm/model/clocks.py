"""When the schedulers of the model run: at given passes, on given ticks, or by free clocks.

Dates are those of the run. The background loop ticks about every second and decides then whether a
main pass runs; the backfill thread sleeps for its interval.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from noctule import _core
from noctule.errors import InputError
from noctule.slurm.conf.settings import SlurmSettings

PassKind = Literal["quick", "full", "backfill"]
PASS_KINDS: tuple[PassKind, ...] = ("quick", "full", "backfill")

#: Of 22.05 on a machine that has little to do: ten sleeps of a tenth of a second, and the work.
TICK_PERIOD = 1.0075
#: Seconds from a kill to the pass that it causes, in most cases.
KILL_LATENCY = 0.035
_MODES = ("passes", "clocks", "bsc")


@dataclass(frozen=True, slots=True)
class Clocks:
    """How the clocks of a run are driven.

    Attributes:
        mode: `passes`: only the given ones run; `clocks`: ticks and the backfill thread decide;
            `bsc`: steps of one second, as in BSC's simulator.
        passes: dates and kinds, in order.
        ticks: given ticks of the background loop, in order; after them one every `tick_period`.
        first_tick: where no ticks are given.
        first_backfill: first look of the backfill thread.
        looks: given looks of that thread, in order: a sleep that would end within half a second of
            one ends there.
        first_full: no full pass before this date.
        first_limit_check: no check of time limits before this date.
        limit_checks: given checks, in order: one that is due within 1.5 s of such a date is then.
        first_calculation: first computation of multifactor priorities; then one each period.
        backfill_overhead: seconds that a sleep of the backfill thread lasts longer than asked.
        kill_latency: seconds from a kill to the pass that it causes.
        enforces_limits: whether jobs are killed at their time limits.
        seed: of what else is drawn: boots that fail.
    """

    mode: Literal["passes", "clocks", "bsc"] = "clocks"
    passes: Sequence[tuple[float, PassKind]] = ()
    ticks: Sequence[float] = ()
    first_tick: float = 0.0
    tick_period: float = TICK_PERIOD
    first_backfill: float = 0.0
    looks: Sequence[float] = ()
    first_full: float = 0.0
    first_limit_check: float = 0.0
    limit_checks: Sequence[float] = ()
    first_calculation: float = 0.0
    backfill_overhead: float = 0.003
    kill_latency: float = KILL_LATENCY
    enforces_limits: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse dates that go back and periods that do not go on."""
        if self.mode not in _MODES:
            raise InputError(f"clocks: got mode {self.mode!r}, expected {' or '.join(_MODES)}")
        if not 0.1 <= self.tick_period < math.inf:
            raise InputError(
                f"clocks: tick_period: got {self.tick_period}, expected seconds from 0.1 on"
            )
        dates = (
            "first_tick",
            "first_backfill",
            "first_full",
            "first_limit_check",
            "first_calculation",
        )
        for name in (*dates, "backfill_overhead", "kill_latency"):
            value = getattr(self, name)
            if not math.isfinite(value) or (name not in dates and value < 0):
                raise InputError(f"clocks: {name}: got {value}, expected seconds")
        rows = {
            "passes": [d for d, _ in self.passes],
            "ticks": self.ticks,
            "looks": self.looks,
            "limit_checks": self.limit_checks,
        }
        for name, row in rows.items():
            goes_back = any(later < date for date, later in pairwise(row))
            if goes_back or not all(map(math.isfinite, row)):
                raise InputError(f"clocks: {name}: expected dates in order")

    @classmethod
    def given(cls, passes: Sequence[tuple[float, PassKind]]) -> Clocks:
        """Run these passes and no others: only decisions are the model's."""
        return cls(mode="passes", passes=tuple(passes), enforces_limits=False)

    @classmethod
    def drawn(cls, seed: int, settings: SlurmSettings, *, since: float = 0.0) -> Clocks:
        """Draw phases: U[0, 1) of ticks, U[0, interval) of backfilling, of full passes and others.

        They count from `since`, which should be the first submission: before it there is nothing
        to do, and a thread that looks each second would begin with the first job.
        """
        rng = random.Random(seed)
        scheduling = settings.scheduling
        return cls(
            seed=seed,
            first_tick=since % 1.0 + rng.random(),
            first_backfill=since + rng.random() * max(1, scheduling.bf_interval),
            first_full=since + rng.random() * max(1, scheduling.sched_interval),
            first_limit_check=since + rng.random() * 30.0,
            # the last one before the first job
            first_calculation=since - rng.random() * (settings.priority.calc_period or 0),
        )

    @classmethod
    def bsc(cls) -> Clocks:
        """Step by seconds as BSC's simulator does: a pass after any event, none each minute."""
        return cls(mode="bsc", tick_period=1.0)

    def as_core(self) -> _core.SlurmClocks:
        """Return them as the core takes them."""
        names = (
            "first_tick",
            "tick_period",
            "first_backfill",
            "first_full",
            "first_limit_check",
            "backfill_overhead",
            "kill_latency",
            "enforces_limits",
        )
        numbers = {name: float(getattr(self, name)) for name in names}
        numbers["mode"] = _MODES.index(self.mode)
        passes = [(float(date), PASS_KINDS.index(kind)) for date, kind in self.passes]
        given = (self.ticks, self.looks, self.limit_checks)
        ticks, looks, checks = (list(map(float, dates)) for dates in given)
        return _core.SlurmClocks(numbers, ticks, looks, checks, passes)
