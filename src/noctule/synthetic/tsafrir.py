"""Walltimes as users ask for them: few values, most of them round, and often the largest.

Twenty popular values make up 89 % of all walltimes, the largest allowed one first among them; the
rest is spread over a tail of values whose number grows with that of the jobs. The values are then
dealt out at random, each job getting one that is at least its runtime.

Tsafrir, Etsion and Feitelson, "Modeling user runtime estimates", JSSPP 2005. All constants are
theirs. Simplified here: no popularity of single values can be given (only the values), shares
become numbers of jobs by largest remainders, and where too many jobs are longer than the drawn
walltimes some are raised, where the authors' program gives up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from noctule.columns import Floats, shown
from noctule.errors import InputError
from noctule.synthetic.draws import count
from noctule.synthetic.estimates import Walltimes
from noctule.workload import ReadingRule

MINUTE, HOUR = 60, 3600
N_POPULAR = 20

# Values that are popular on all four machines of the paper, and steps that fill up to twenty.
_JOINT = tuple(
    int(minutes * MINUTE)
    for minutes in (5, 10, 15, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 720, 1080)
)
_STEPS = (*(h * HOUR for h in (200, 100, 50, 10, 5, 2, 1)), *(m * MINUTE for m in (20, 10, 5)))

# The rank in popularity of the largest value, then of the others by length: SDSC-106, CTC, KTH4H
# and Blue Horizon.
_RANKS = (
    (3, 1, 4, 17, 13, 7, 8, 18, 2, 6, 16, 10, 5, 15, 14, 19, 11, 12, 9, 20),
    (1, 3, 4, 2, 12, 9, 8, 18, 6, 7, 11, 20, 16, 5, 14, 13, 10, 15, 17, 19),
    (1, 4, 10, 14, 20, 2, 3, 7, 12, 6, 19, 5, 18, 16, 9, 17, 15, 13, 8, 11),
    (1, 6, 5, 3, 7, 2, 18, 19, 4, 11, 20, 9, 10, 14, 13, 16, 15, 17, 8, 12),
)
# Popular shares in per cent by rank, from the second on: a exp(b rank) + c.
_POPULAR_SHARE = (14.0491, -0.177531, 0.462513)
# Other shares by rank, from the 21st on, up to a factor: rank ** b.
_TAIL_EXPONENT = -2.267
_MOST_VALUES = 100_000
_LARGEST = 2.0**53
# Values by number of jobs; linear in between.
_N_JOBS = (0, 20, 200, 1000, 10_000, 70_000, 250_000)
_N_VALUES = (0, 10, 20, 35, 90, 340, 565)
# Lengths of the other values: (a - 1) x / (a - x) of the largest, with a = 1 + p n ** q.
_LENGTH = (12.1039, -0.6026)
# Tried in turn, so that no value comes twice.
_OFFSETS = (0, 30, -30, 20, -20, 10, -10)


@dataclass(frozen=True, slots=True)
class TsafrirWalltimes:
    """Walltimes after Tsafrir, Etsion and Feitelson.

    Args:
        maximum: the largest walltime allowed, at least an hour; by default the longest runtime
            rounded up to hours.
        popular_share: share of the jobs that ask for a popular value.
        n_values: how many different values there are; by default it grows with the jobs.
        popular: the popular values in seconds, up to twenty, instead of the usual ones.
    """

    maximum: float | None = None
    popular_share: float = 0.89
    n_values: int | None = None
    popular: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what is no distribution."""
        if self.maximum is not None and not HOUR <= self.maximum < math.inf:
            raise InputError(
                f"walltimes: maximum: got {shown(self.maximum)}, expected at least {HOUR}"
            )
        # below this, the first value would be less popular than the second
        if not 0.78 <= self.popular_share <= 1:
            raise InputError(
                f"walltimes: popular_share: got {shown(self.popular_share)}, expected 0.78 to 1"
            )
        if self.maximum is not None and self.maximum > _LARGEST:
            raise InputError(
                f"walltimes: maximum: got {shown(self.maximum)}, expected {_LARGEST:g} at most"
            )
        if self.n_values is not None and count("walltimes: n_values", self.n_values) > _MOST_VALUES:
            raise InputError(
                f"walltimes: n_values: got {self.n_values}, expected {_MOST_VALUES} at most"
            )
        if len(self.popular) > N_POPULAR or any(not value > 0 for value in self.popular):
            raise InputError(
                f"walltimes: popular: got {list(self.popular)}, "
                f"expected up to {N_POPULAR} positive numbers"
            )

    def draw(self, runtime: Floats, rng: np.random.Generator) -> Walltimes:
        """Draw which values there are, how popular each is, and which job asks for which."""
        if not len(runtime):
            return Walltimes(np.empty(0))
        longest = float(runtime.max())
        maximum = self._maximum(longest)
        values, shares = self._distribution(maximum, len(runtime), rng)
        pool = np.repeat(values, _by_largest_remainder(shares, len(runtime)))
        return _dealt(runtime, np.sort(pool)[::-1], np.sort(values), rng)

    def _maximum(self, longest: float) -> float:
        if self.maximum is None:
            return float(max(math.ceil(longest / HOUR), 1) * HOUR)
        if longest > self.maximum:
            raise InputError(
                f"walltimes: maximum: got {shown(self.maximum)}, "
                f"expected at least the longest runtime, {shown(longest)}"
            )
        return self.maximum

    def _distribution(
        self, maximum: float, n_jobs: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Draw the values and the share of each; they add up to 1."""
        head = popular_values(maximum, self.popular)
        by_rank = popular_shares(len(head), self.popular_share)
        ranks = popularity_ranks(len(head), rng)
        n_values = self.n_values or round(float(np.interp(n_jobs, _N_JOBS, _N_VALUES)))
        tail = _tail_values(maximum, n_values, set(head))
        tail_shares = np.arange(N_POPULAR + 1, N_POPULAR + 1 + len(tail), dtype=float)
        tail_shares **= _TAIL_EXPONENT
        if tail:
            tail_shares *= (1.0 - self.popular_share) / tail_shares.sum()
        shuffled = np.argsort(rng.random(len(tail)), kind="stable")
        values = np.array([*head, *tail], dtype=np.float64)
        shares = np.concatenate([by_rank[np.array(ranks) - 1], tail_shares[shuffled]])
        return values, shares / shares.sum()


def popular_values(maximum: float, given: Sequence[float] = ()) -> list[float]:
    """Return the popular values: the largest walltime, then the others in ascending order."""
    if given:
        return [maximum, *sorted({float(v) for v in given if v < maximum})][:N_POPULAR]
    others = [float(value) for value in _JOINT if value < maximum]
    for step in _STEPS:
        value = maximum // step * step
        while value > 0 and len(others) < N_POPULAR - 1:
            if value < maximum and value not in others:
                others.append(value)
            value -= step
    return [maximum, *sorted(others)]


def popular_shares(n: int, total: float) -> Floats:
    """Return the shares of popular values by rank, the largest first; they add up to `total`."""
    a, b, c = _POPULAR_SHARE
    shares: Floats = (a * np.exp(b * np.arange(1, n + 1)) + c) / 100.0
    shares[0] = total - shares[1:].sum()
    return shares


def popularity_ranks(n: int, rng: np.random.Generator) -> list[int]:
    """Draw the rank of each popular value, as it might have been on one of the four machines.

    The largest value is the most popular. Then, by length: a rank that no machine has for a longer
    value, else the better of two drawn among those that machines have up to this length.
    """
    ranks = [1]
    pool: list[int] = []
    last = {rank: max(machine.index(rank) for machine in _RANKS) for rank in range(1, n + 1)}
    for i in range(1, n):
        pool += [machine[i] for machine in _RANKS] + ([m[0] for m in _RANKS] if i == 1 else [])
        pool = [rank for rank in pool if rank <= n and rank not in ranks]
        left = [rank for rank in range(2, n + 1) if rank not in ranks]
        due = [rank for rank in left if last[rank] <= i]
        if due or not pool:
            ranks.append(min(due or left))
        else:
            ranks.append(min(pool[int(u * len(pool))] for u in rng.random(2).tolist()))
    return ranks


def _tail_values(maximum: float, n_values: int, taken: set[float]) -> list[float]:
    """Return values that are not popular, in whole minutes where these are not taken."""
    n = n_values - len(taken)
    if n <= 0:
        return []
    p, q = _LENGTH
    a = 1.0 + p * float(n_values) ** q
    found: list[float] = []
    for i in range(1, n + 1):
        x = i / n
        length = (a - 1.0) * x / (a - x) * maximum
        minute = math.floor(length / MINUTE + 0.5) * MINUTE
        for offset in _OFFSETS:
            value = float(minute + offset)
            if 0 < value < maximum and value not in taken:
                found.append(value)
                taken.add(value)
                break
    return found


def _by_largest_remainder(shares: Floats, n: int) -> npt.NDArray[np.intp]:
    exact = shares * n
    counts = np.floor(exact).astype(np.intp)
    left = n - int(counts.sum())
    # rounded, lest the last bit of a share decide between two equal ones
    order = np.argsort(-np.round(exact - counts, 9), kind="stable")
    counts[order[:left]] += 1
    return counts


def _dealt(runtime: Floats, pool: Floats, values: Floats, rng: np.random.Generator) -> Walltimes:
    """Deal out the walltimes of a pool in descending order, to each job one that it fits."""
    order = np.argsort(-runtime, kind="stable")
    lengths = runtime[order]
    short = lengths > pool
    if short.any():
        pool = np.where(short, values[np.searchsorted(values, lengths)], pool)
    # up to where the pool fits a job; both descend, so that this only grows
    reach = np.searchsorted(-pool, -lengths, side="right")
    draws = rng.random(len(pool))
    left = pool.tolist()
    for i, (end, u) in enumerate(zip(reach.tolist(), draws.tolist(), strict=True)):
        j = i + int(u * (end - i))
        left[i], left[j] = left[j], left[i]
    walltime = np.empty(len(runtime))
    walltime[order] = left
    n_raised = int(np.count_nonzero(short))
    rule = ReadingRule("walltime: raised to the next value that fits the runtime", n_raised)
    return Walltimes(walltime, (rule,) if n_raised else ())
