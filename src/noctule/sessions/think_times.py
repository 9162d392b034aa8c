"""How long users think, as a line over how long they had to wait for the result.

After Schlagkamp, "Influence of dynamic think times on parallel job scheduler performances in
generative simulations", JSSPP 2015.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from noctule.columns import Floats, shown
from noctule.errors import InputError
from noctule.sessions.graph import SessionGraph

#: Longer pauses are nights and weekends, and tell nothing about waiting: eight hours.
LONGEST_THOUGHT = 28_800.0
#: A thought never gets longer than so many times the recorded one.
MOST_STRETCHED = 10.0


@dataclass(frozen=True, slots=True)
class ThinkTimeModel:
    """Think time = `base` + `slope` × response time, as fitted to `n_pauses` of a log.

    `determination` is the part of the variance that the line explains.
    """

    base: float
    slope: float
    n_pauses: int
    determination: float

    def think_times(self, recorded: Floats, recorded_response: Floats, response: Floats) -> Floats:
        """Return recorded think times, changed as the line changes from response to response.

        They are between 0 and ten times the recorded ones; where the line gives no positive think
        time for the recorded response, they stay as they are.
        """
        before = self.base + self.slope * recorded_response
        after = self.base + self.slope * response
        usable = before > 0
        factor = np.divide(after, before, out=np.ones(np.shape(usable)), where=usable)
        changed: Floats = recorded * np.clip(factor, 0.0, MOST_STRETCHED)
        return changed


def fit_think_times(graph: SessionGraph, *, longest: float = LONGEST_THOUGHT) -> ThinkTimeModel:
    """Fit a line to the think times of a graph by least squares; pauses over `longest` are none."""
    if not longest >= 0:
        raise InputError(f"longest: got {shown(longest)}, expected seconds >= 0")
    response = graph.response_time[graph.dependency]
    used = (graph.think_time <= longest) & np.isfinite(response)
    think, response = graph.think_time[used], response[used]
    n = len(think)
    if n < 2 or bool((response == response[0]).all()):
        raise InputError(
            f"think times: got {n} pauses of at most {shown(longest)} s, "
            "expected some after different response times"
        )
    mean_think, mean_response = _sum(think) / n, _sum(response) / n
    think_off, response_off = think - mean_think, response - mean_response
    spread = _sum(response_off * response_off)
    slope = _sum(response_off * think_off) / spread
    variation = _sum(think_off * think_off)
    explained = slope * slope * spread / variation if variation > 0 else 1.0
    return ThinkTimeModel(mean_think - slope * mean_response, slope, n, explained)


def _sum(values: Floats) -> float:
    """Add up exactly, whatever the order."""
    return math.fsum(values.tolist())
