"""When hosts fail and return, drawn from a model: lifetimes, then repairs, host by host.

Lifetimes are exponential, or of Weibull's distribution where hosts age (a shape above 1) or early
failures are the common ones (below 1, as in the logs of Schroeder and Gibson, "A large-scale study
of failures in high-performance computing systems", DSN 2006). Repairs are exponential.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from noctule._core import HostSet
from noctule.columns import Floats, shown
from noctule.errors import InputError
from noctule.external_events import ExternalEvent, ExternalEvents
from noctule.synthetic.draws import Seed, count, exponential, generator, positive, weibull

_MOST_FAILURES = 10_000_000
_SHAPES = (0.1, 100.0)


@dataclass(frozen=True, slots=True)
class Failures:
    """Failures in the order of their dates, as columns.

    Attributes:
        host: which host fails.
        failed: when it does.
        restored: when it is back.
    """

    host: npt.NDArray[np.int64]
    failed: Floats
    restored: Floats

    @classmethod
    def draw(
        cls,
        n_hosts: int,
        mtbf: float,
        mttr: float,
        *,
        seed: Seed,
        until: float,
        shape: float = 1.0,
    ) -> Failures:
        """Draw the failures of some hosts that begin up and new at 0.

        Args:
            n_hosts: how many hosts there are.
            mtbf: mean time between the return of a host and its next failure, in seconds.
            mttr: mean time of its repair.
            seed: what all is drawn from.
            until: no host fails from this date on; those that are down then still return.
            shape: of the lifetimes' Weibull distribution; 1 is the exponential one.
        """
        rng = generator(seed)
        count("n_hosts", n_hosts)
        mtbf, mttr = positive("mtbf", mtbf), positive("mttr", mttr)
        until = positive("until", until)
        if not _SHAPES[0] <= shape <= _SHAPES[1]:
            low, high = _SHAPES
            raise InputError(f"shape: got {shown(shape)}, expected a number from {low} to {high:g}")
        expected = n_hosts * until / (mtbf + mttr)
        if expected > _MOST_FAILURES:
            raise InputError(
                f"failures: got about {expected:.3g} of them, expected {_MOST_FAILURES} at most; "
                "mtbf, mttr and until are in seconds"
            )
        scale = mtbf / math.gamma(1.0 + 1.0 / shape)
        hosts, failed, restored = [], [], []
        up = np.arange(n_hosts)
        since = np.zeros(n_hosts)
        while len(up):
            # whole seconds hide the last bit of a logarithm, which may differ between machines
            dates = since + _whole(weibull(rng, shape, len(up)) * scale)
            back = dates + _whole(exponential(rng, len(up)) * mttr)
            goes_on = dates < until
            up, since = up[goes_on], back[goes_on]
            hosts.append(up)
            failed.append(dates[goes_on])
            restored.append(since)
        columns = (np.concatenate(failed), np.concatenate(hosts), np.concatenate(restored))
        order = np.lexsort((columns[1], columns[0]))
        return cls(columns[1][order], columns[0][order], columns[2][order])

    def __len__(self) -> int:
        """Return the number of failures."""
        return len(self.host)

    def summary(self) -> dict[str, float | int]:
        """Return how many failures there are, and what they amount to."""
        down = math.fsum((self.restored - self.failed).tolist())
        n = len(self)
        return {
            "n_failures": n,
            "n_hosts_failed": len(np.unique(self.host)),
            "host_seconds_down": down,
            "mean_repair": down / n if n else math.nan,
        }

    def events(self, *, source: str = "failures") -> ExternalEvents:
        """Return what happens, as `simulate` takes it."""
        rows = zip(self.host.tolist(), self.failed.tolist(), self.restored.tolist(), strict=True)
        events = []
        for host, failed, restored in rows:
            hosts = HostSet([host])
            events.append(ExternalEvent(failed, "failed", hosts=hosts))
            events.append(ExternalEvent(restored, "restored", hosts=hosts))
        return ExternalEvents.from_events(events, source=source)


def _whole(seconds: Floats) -> Floats:
    return np.maximum(1.0, np.floor(seconds + 0.5))
