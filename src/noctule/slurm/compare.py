"""The model of Slurm against what a real one did, in ways that share nothing but the jobs.

- decisions: passes and cycles at the dates of the log, so that only what they decide is tested;
- triggers: the ticks of the background loop and the wake-ups of the backfill thread are those of
  the log, but whether a tick runs a pass, and which, is the model's;
- first instants: the same with nothing but the first tick, cycle and full pass, and a period;
- ensemble: free runs; ticks, backfill thread and full passes begin at phases drawn from
  U[0, 1 s), U[0, bf_interval) and U[0, sched_interval).
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from noctule.errors import InputError
from noctule.slurm.fidelity import SimulatedStart, Starts
from noctule.slurm.requests import Request, Requests
from noctule.slurm.settings import SlurmSettings, read_settings
from noctule.slurm.tick_grid import TickGrid, tick_grid
from noctule.slurm.truth import Truth, TruthJob

_LEAD = 1.0  # seconds of a run before anything of its set happens


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the model makes of a set, with its jobs in order of their numbers."""

    truth: Truth
    decisions: Starts
    triggers: Starts
    first_instants: Starts
    ensemble: tuple[Starts, ...]
    notes: tuple[str, ...]


def compare_with_truth(truth: Truth, *, n_phases: int = 24, seed: int = 1) -> Comparison:
    """Simulate a set in every way; the seed is that of the phases."""
    case = _Case(truth, read_settings(truth.conf))
    rng = random.Random(seed)
    phases = [_draw(rng, case.settings) for _ in range(n_phases)]
    return Comparison(
        truth,
        decisions=case.decisions(),
        triggers=case.triggers(),
        first_instants=case.first_instants(),
        ensemble=tuple(case.free(one) for one in phases),
        notes=tuple(case.notes),
    )


@dataclass(frozen=True, slots=True)
class Phases:
    """When the clocks of a free run begin, in seconds after its zero."""

    tick: float
    backfill: float
    full: float


def _draw(rng: random.Random, settings: SlurmSettings) -> Phases:
    scheduling = settings.scheduling
    return Phases(
        tick=rng.random(),
        backfill=rng.random() * max(1, scheduling.bf_interval),
        full=rng.random() * max(1, scheduling.sched_interval),
    )
