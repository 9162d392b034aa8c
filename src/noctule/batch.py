"""Runs of native policies one after the other, each summed up at its end, without Python's lock.

Threads that do short runs one by one wait for each other most of the time. A batch keeps the lock
free for as long as all of its runs take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from noctule import _core
from noctule.metrics import Numbers, named
from noctule.simulation import Simulation

#: Warm-up, cool-down, and threshold of the bounded slowdown.
Measure = tuple[float, float, float]

# after so long, somebody is asked whether to go on
_SECONDS_A_TURN = 0.1


def run_batch(
    simulations: Sequence[Simulation],
    measures: Sequence[Measure],
    go_on: Callable[[], object],
) -> Iterator[list[Numbers] | str]:
    """Yield for each simulation its metrics, one set a measure, or why it failed.

    All must have native policies. `go_on` is called every now and then, and may raise to end it.
    """
    runs = [simulation._native_parts for simulation in simulations]
    while runs:
        summaries, error = _core.run_batch(runs, measures, _SECONDS_A_TURN)
        for sets in summaries:
            yield [named(*numbers) for numbers in sets]
        if error:
            yield error
        runs = runs[len(summaries) + bool(error) :]
        if runs:
            go_on()
