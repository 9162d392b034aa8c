"""A policy with a clock of its own: looks at the queue every hour, and starts jobs only then.

noctule run examples/night.swf --policy "examples/policy-monitor.py:Hourly(period=3600)"
"""

from collections.abc import Iterator, Sequence

from noctule import View
from noctule.messages import CallAt, Decision, Event, SimulationStarted, StartJob, TimerFired


class Hourly:
    """Start what fits, at fixed dates."""

    def __init__(self, period: float = 3600) -> None:
        """Take the seconds between two looks."""
        self._period = period

    def decide(self, view: View, events: Sequence[Event]) -> Iterator[Decision]:
        """Start jobs when the timer fires, and set it again."""
        if not any(isinstance(event, SimulationStarted | TimerFired) for event in events):
            return
        yield CallAt(view.now + self._period, "look")
        n_free = view.n_free
        for job in view.waiting:
            if job.n_hosts <= n_free:
                n_free -= job.n_hosts
                yield StartJob(job)
