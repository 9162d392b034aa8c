"""Parallel tasks that disturb each other on 512 hosts: the inputs of `bench/fluid.py`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

N_HOSTS = 512
SPEED = 1e9
DURATION_S = 100.0

CLUSTER512 = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="site" routing="Full">
    <cluster id="compute" prefix="a" suffix="" radical="0-511" speed="1Gf" bw="1GBps" lat="5us"
             bb_bw="3GBps" bb_lat="3us"/>
    <cluster id="control" prefix="m" suffix="" radical="0-0" speed="1Gf" bw="1GBps" lat="5us"
             bb_bw="3GBps" bb_lat="3us">
      <prop id="role" value="master"/>
    </cluster>
    <link id="uplink" bandwidth="5GBps" latency="2us"/>
    <zoneRoute src="compute" dst="control" gw_src="acompute_router" gw_dst="mcontrol_router">
      <link_ctn id="uplink"/>
    </zoneRoute>
  </zone>
</platform>
"""


@dataclass(frozen=True)
class Task:
    """Every host computes `flops` and sends `bytes` to each other one."""

    start: float
    hosts: list[int]
    flops: float
    bytes: float

    def command(self, name: str) -> str:
        """Return it in the form of the vectors."""
        hosts = " ".join(f"a{host}" for host in self.hosts)
        return f"homog {name} {self.start} {len(self.hosts)} {hosts} {self.flops} {self.bytes}"


def tasks(
    n: int, *, at_once: float, n_hosts: int, fixed_blocks: bool = False, bytes_each: float = 1e7
) -> Iterator[Task]:
    """Yield tasks of some 100 s, so many at once, on blocks in turns or on random hosts."""
    rng = Random(1)
    start = 0.0
    for number in range(n):
        start += rng.expovariate(at_once / DURATION_S)
        if fixed_blocks:
            first = number * n_hosts % N_HOSTS
            hosts = list(range(first, first + n_hosts))
        else:
            hosts = sorted(rng.sample(range(N_HOSTS), n_hosts))
        flops = rng.uniform(0.5, 1.5) * DURATION_S * SPEED
        sent = rng.uniform(0, 2) * bytes_each if bytes_each else 0.0
        yield Task(round(start, 6), hosts, float(f"{flops:.6e}"), float(f"{sent:.6e}"))
