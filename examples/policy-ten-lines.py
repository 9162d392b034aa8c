"""A policy of ten lines: start whatever fits, the smallest jobs first.

noctule run examples/night.swf --policy examples/policy-ten-lines.py:SmallestFirst
"""

from collections.abc import Iterator, Sequence

from noctule import View
from noctule.messages import Event, StartJob


class SmallestFirst:
    """Start the smallest jobs first."""

    def decide(self, view: View, events: Sequence[Event]) -> Iterator[StartJob]:
        """Start jobs, smallest first, as long as they fit."""
        n_free = view.n_free
        for job in sorted(view.waiting, key=lambda job: job.n_hosts):
            if job.n_hosts > n_free:
                break
            n_free -= job.n_hosts
            yield StartJob(job)
