"""What is called EASY here and there: the textbook's, and four with one change each, on one log.

python examples/easy-variants.py [LOG]
"""

import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import noctule as nt
from noctule.messages import Event, StartJob
from noctule.policy import ViewJob

LOG = Path(__file__).parent / "night.swf"
Ends = list[tuple[float, ViewJob]]


class Textbook:
    """A later job passes if it ends by the shadow, or uses no more than the extra hosts."""

    def decide(self, view: nt.View, events: Sequence[Event]) -> Iterator[StartJob]:
        """Start the first jobs, then those that may pass the one that does not fit."""
        n_free, queue = view.n_free, list(view.waiting)
        ends = [(job.expected_end, job) for job in view.running]
        while queue and queue[0].n_hosts <= n_free:
            first = queue.pop(0)
            n_free -= first.n_hosts
            ends.append((view.now + first.walltime, first))
            yield StartJob(first)
        if not queue or n_free == 0:
            return
        shadow, extra = self.reservation(queue, n_free, ends)
        for job in queue[1:]:
            in_time = view.now + self.length(job) <= shadow
            if job.n_hosts <= n_free and (in_time or job.n_hosts <= extra):
                n_free -= job.n_hosts
                extra -= 0 if in_time else job.n_hosts
                yield StartJob(job)

    def length(self, job: ViewJob) -> float:
        """Return how long a job that wants to pass is taken to run."""
        return job.walltime

    def reservation(self, queue: list[ViewJob], n_free: int, ends: Ends) -> tuple[float, int]:
        """Return the date at which the first job fits, and the hosts that it leaves free then."""
        needed, shadow = queue[0].n_hosts - n_free, math.inf
        for end, job in sorted(ends, key=lambda one: one[0]):
            needed -= job.n_hosts
            if needed <= 0:
                shadow = end
                break
        released = sum(job.n_hosts for end, job in ends if end <= shadow)
        return shadow, n_free + released - queue[0].n_hosts


class NoExtraHosts(Textbook):
    """Only jobs that end by the shadow may pass."""

    def reservation(self, queue: list[ViewJob], n_free: int, ends: Ends) -> tuple[float, int]:
        """Leave nothing free."""
        return super().reservation(queue, n_free, ends)[0], 0


class Unprotected(Textbook):
    """What is free now is taken for extra: a job may pass whatever it does to the first one."""

    def reservation(self, queue: list[ViewJob], n_free: int, ends: Ends) -> tuple[float, int]:
        """Protect nobody."""
        return math.inf, n_free


class MoreThanTwo(Unprotected):
    """The same, but only if more than two jobs wait."""

    def reservation(self, queue: list[ViewJob], n_free: int, ends: Ends) -> tuple[float, int]:
        """Let nobody pass in a short queue."""
        return (math.inf, n_free) if len(queue) > 2 else (-math.inf, 0)


class TrueRuntimes(Textbook):
    """An oracle: a job passes if it will really end by the shadow, which nobody can know."""

    def length(self, job: ViewJob) -> float:
        """Return how long it will run."""
        return job.runtime


def main() -> None:
    """Print waits and slowdowns under each of them."""
    workload = nt.load_workload(sys.argv[1] if len(sys.argv) > 1 else LOG)
    platform = nt.Platform.homogeneous(int(workload.headers["MaxProcs"]))
    print(f"{'':16} {'mean wait (s)':>14} {'':>8} {'max wait (s)':>13} {'bounded slowdown':>17}")
    textbook = math.nan
    for policy in (Textbook, NoExtraHosts, TrueRuntimes, Unprotected, MoreThanTwo):
        schedule = nt.simulate(platform, workload, policy, clairvoyant=policy is TrueRuntimes)
        numbers = nt.metrics.summary(schedule)
        mean, longest = numbers["mean_waiting_time"], numbers["max_waiting_time"]
        textbook = mean if policy is Textbook else textbook
        change = f"{mean / textbook - 1:+.1%}"
        slowdown = numbers["mean_bounded_slowdown"]
        print(f"{policy.__name__:16} {mean:14.1f} {change:>8} {longest:13.0f} {slowdown:17.2f}")


if __name__ == "__main__":
    main()
