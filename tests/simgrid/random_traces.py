"""Random time-independent MPI traces in the form of the published ones: a platform, hosts, traces.

    python tests/simgrid/random_traces.py SEED... [-o FILE.json]

prints the traces of these seeds with what SimGrid answers, for `tests/vectors.py` to run again.
Traces are made so that they end: messages between two ranks appear in both of their traces in one
order of all messages, and what was posted is waited for.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from random_platforms import FAMILIES, Draw, Drawn, draw_platform

Case = dict[str, Any]

NETWORKS = [family for family in FAMILIES if family != "none"]
SIZES = [1, 2, 4, 8, 10, 13, 100, 256, 511, 1000, 1024, 4096, 8000, 40000, 65535, 65536, 100000]
LARGE = [524288, 600000, 1100000, 5000000]
TYPES = [0, 1, 2, 3, 4, 5, 6, 7, 11, 12]
MAX_BYTES = 40_000_000


@dataclass
class Drawing:
    """Traces that grow, a collective or a message at a time."""

    rng: Draw
    n: int
    zeros: float  # the chance of an amount to be nothing
    traces: list[list[str]] = field(default_factory=list)
    owed: list[list[str]] = field(default_factory=list)  # waits and tests, by rank

    def add(self, rank: int, *words: object) -> None:
        self.traces[rank].append(" ".join(map(str, words)))

    def everywhere(self, *words: object) -> None:
        for rank in range(self.n):
            self.add(rank, *words)

    def size(self) -> int:
        rng = self.rng
        if rng.random() < self.zeros:
            return 0
        if rng.random() < 0.15 and self.n <= 16:
            return rng.choice(LARGE)
        return rng.choice(SIZES) if rng.random() < 0.5 else int(10 ** rng.uniform(0, 5.5))

    def flops(self) -> float:
        if self.rng.random() < self.zeros:
            return 0
        exponent = self.rng.uniform(2, 9)
        return 10 ** int(exponent) if self.rng.round_numbers else round(10**exponent, 3)

    def type(self, n_before: int = 0) -> list[int]:
        """Return a type, or nothing where those of the trace's beginning hold."""
        return [self.rng.choice(TYPES)] * (1 + n_before) if self.rng.random() < 0.5 else []

    def rank(self) -> int:
        return self.rng.randrange(self.n)

    def two(self) -> tuple[int, int]:
        if self.rng.random() < 0.05:
            return (rank := self.rank()), rank
        one, other = self.rng.sample(range(self.n), 2)
        return one, other


def compute(draw: Drawing) -> None:
    for rank in range(draw.n):
        if draw.rng.random() < 0.6:
            draw.add(rank, "compute", draw.flops())


def sleep(draw: Drawing) -> None:
    """Let ranks sleep for about the same time, or for times that have nothing in common."""
    base = 10 ** draw.rng.uniform(-7, -2)
    apart = draw.rng.choice([0, 3e-10, 1.7e-9, 1e-8, base])
    for rank in range(draw.n):
        if draw.rng.random() < 0.6:
            draw.add(rank, "sleep", f"{base + draw.rng.uniform(0, 2) * apart:.12g}")


def message(draw: Drawing) -> None:
    """Send a message, by any of the ways that both sides have."""
    rng = draw.rng
    src, dst = draw.two()
    tag = rng.choice([0, 0, 1, 7])
    size, kind = draw.size(), draw.type()
    expected = size + rng.choice([0, 0, 0, 5])
    if src == dst or rng.random() < 0.5:
        draw.add(src, "isend", dst, tag, size, *kind)
        draw.owed[src].append(f"{src} {dst} {tag}")
        sent_first = True
    else:
        sent_first = rng.random() < 0.5
        if sent_first:
            draw.add(src, "send", dst, tag, size, *kind)
    if src == dst or rng.random() < 0.5:
        draw.add(dst, "irecv", src, tag, expected, *kind)
        draw.owed[dst].append(f"{src} {dst} {tag}")
    else:
        draw.add(dst, "recv", src, tag, expected, *kind)
    if not sent_first:
        draw.add(src, "send", dst, tag, size, *kind)


def pay(draw: Drawing) -> None:
    """Wait for some of what was posted, or test it."""
    rank = draw.rank()
    if not draw.owed[rank]:
        return
    way = draw.rng.random()
    if way < 0.3:
        draw.add(rank, "waitall")
        draw.owed[rank].clear()
    elif way < 0.6:
        draw.add(rank, "wait", draw.owed[rank].pop(0))
    else:
        request = draw.owed[rank].pop(0)  # SimGrid refuses to wait where tests have found all done
        for _ in range(draw.rng.randint(1, 3)):
            draw.add(rank, "test", request)


def swap(draw: Drawing) -> None:
    """Shift a message by some ranks."""
    by = draw.rng.randrange(draw.n)
    size, kind = draw.size(), [draw.rng.choice(TYPES)] * 2  # without which SimGrid refuses it
    for rank in range(draw.n):
        to, origin = (rank + by) % draw.n, (rank - by) % draw.n
        draw.add(rank, "sendRecv", size, to, size, origin, *kind)


def rooted(name: str) -> Callable[[Drawing], None]:
    def make(draw: Drawing) -> None:
        size, root, kind = draw.size(), draw.rank(), draw.type(1)
        draw.everywhere(name, size, size, *([root, *kind] if kind or root else []))

    return make


def exchanged(name: str) -> Callable[[Drawing], None]:
    def make(draw: Drawing) -> None:
        size = draw.size()
        while size * draw.n * draw.n * 8 > MAX_BYTES:
            size //= 3
        draw.everywhere(name, size, size, *draw.type(1))

    return make


def reduced(name: str) -> Callable[[Drawing], None]:
    def make(draw: Drawing) -> None:
        root = [draw.rank()] if name == "reduce" else []
        size, kind = draw.size(), draw.type()
        alike = draw.rng.random() < 0.5
        flops = draw.flops()
        for rank in range(draw.n):
            draw.add(rank, name, size, flops if alike else draw.flops(), *root, *kind)

    return make


def broadcast(draw: Drawing) -> None:
    root, kind = draw.rank(), draw.type()
    draw.everywhere("bcast", draw.size(), *([root, *kind] if kind or root else []))


def gathered_by_counts(draw: Drawing) -> None:
    counts = [draw.size() for _ in range(draw.n)]
    root, kind = draw.rank(), draw.type(1)
    for rank in range(draw.n):
        draw.add(rank, "gatherv", counts[rank], *counts, root, *kind)


def scattered_by_counts(draw: Drawing) -> None:
    counts = [draw.size() for _ in range(draw.n)]
    root, kind = draw.rank(), draw.type(1)
    for rank in range(draw.n):
        draw.add(rank, "scatterv", *counts, counts[rank], root, *kind)


def all_gathered_by_counts(draw: Drawing) -> None:
    counts = [draw.size() for _ in range(draw.n)]
    kind = draw.type(1) if draw.n > 1 else []
    for rank in range(draw.n):
        draw.add(rank, "allgatherv", counts[rank], *counts, *kind)


def exchanged_by_counts(draw: Drawing) -> None:
    counts = [[draw.size() for _ in range(draw.n)] for _ in range(draw.n)]
    kind = draw.type(1)
    for rank in range(draw.n):
        taken = [row[rank] for row in counts]
        sums = sum(counts[rank]), sum(taken)
        draw.add(rank, "alltoallv", sums[0], *counts[rank], sums[1], *taken, *kind)


def reduce_scattered(draw: Drawing) -> None:
    alike = draw.rng.random() < 0.4
    size = draw.size()
    counts = [size if alike else draw.size() for _ in range(draw.n)]
    kind = draw.type()
    for rank in range(draw.n):
        draw.add(rank, "reducescatter", *counts, draw.flops(), *kind)


COLLECTIVES: list[Callable[[Drawing], None]] = [
    lambda draw: draw.everywhere("barrier"),
    broadcast,
    *(reduced(name) for name in ("reduce", "allreduce", "scan", "exscan")),
    *(rooted(name) for name in ("gather", "scatter")),
    *(exchanged(name) for name in ("alltoall", "allgather")),
    gathered_by_counts,
    scattered_by_counts,
    all_gathered_by_counts,
    exchanged_by_counts,
    reduce_scattered,
    swap,
]


def traces(rng: Draw, n: int) -> list[list[str]]:
    draw = Drawing(
        rng, n, rng.choice([0, 0.1, 0.3]), [[] for _ in range(n)], [[] for _ in range(n)]
    )
    draw.everywhere("init", *(["1"] if rng.random() < 0.2 else []))
    collectives = rng.choice([0, 0.2, 0.6])
    for _ in range(rng.randint(1, 4 if n > 20 else 25)):
        way = rng.random()
        if way < collectives:
            rng.choice(COLLECTIVES)(draw)
        elif n > 1:
            rng.choices([compute, sleep, message, pay], [2, 1.5, 4, 2])[0](draw)
    for rank in range(n):
        draw.add(rank, "waitall")
        if rng.random() < 0.9:
            draw.add(rank, "finalize")
    return draw.traces


def trace_hosts(rng: Draw, drawn: Drawn, n: int) -> list[str]:
    """Return a host of each rank: many of them on one, a few, or in turn."""
    hosts = list(drawn.hosts)
    if drawn.self_traffic and rng.random() < 0.5:
        hosts = rng.sample(hosts, min(len(hosts), rng.randint(1, 4)))
        return [rng.choice(hosts) for _ in range(n)]
    rng.shuffle(hosts)
    return [hosts[i % len(hosts)] for i in range(n)]


def random_trace(seed: int) -> Case:
    """Return the case of a seed; families of platforms take turns."""
    rng = Draw(f"noctule trace {seed}")
    rng.round_numbers = rng.random() < 0.3
    family = NETWORKS[seed % len(NETWORKS)]
    drawn = draw_platform(rng, family, energy=False, fatpipes=rng.random() < 0.3)
    n = rng.choice([1, 2, 2, 3, 4, 5, 7, 8, 9, 13, 16, rng.randint(17, 34)])
    if not drawn.self_traffic:
        n = min(n, len(drawn.hosts))
    return {
        "name": f"trace-{family}-{seed}",
        "platform": f"{family}-{seed}.xml",
        "hosts": trace_hosts(rng, drawn, n),
        "traces": traces(rng, n),
        "note": f"seed {seed}",
        "platform_xml": drawn.xml,
        "files": drawn.files,
    }


def main() -> None:
    from noctule.simgrid.driver import Driver

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", type=int, nargs="+", metavar="SEED")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    cases = [random_trace(seed) for seed in options.seeds]
    for case, answer in zip(cases, Driver.built().replays(cases, "L07"), strict=True):
        case["L07"] = {key: found for key, found in answer.items() if key != "cpu_seconds"}
    text = json.dumps({"made_with": "SimGrid", "cases": cases}, indent=1) + "\n"
    if options.output:
        options.output.write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
