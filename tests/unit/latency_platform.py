"""A platform on which Batsim's messages take round times, and policies that tell what they hear."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest

import noctule as nt
from noctule.messages import Decision, Event
from noctule.workload import Delay, Job, Request, Workload

# A byte of the master to itself takes D, from n0 or n1 to it FROM_HOST.
D = 0.01
FROM_HOST = 0.02
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <host id="master_host" speed="1f"/>
    <host id="n0" speed="1f">
      <prop id="wattage_per_state" value="10:10:20"/>
    </host>
    <host id="n1" speed="1f">
      <prop id="wattage_per_state" value="10:10:20"/>
    </host>
    <link id="loop" bandwidth="1000Bps" latency="0.009s"/>
    <link id="wire" bandwidth="1000Bps" latency="0.019s"/>
    <route src="master_host" dst="master_host"><link_ctn id="loop"/></route>
    <route src="n0" dst="n0"><link_ctn id="loop"/></route>
    <route src="n0" dst="master_host"><link_ctn id="wire"/></route>
    <route src="n1" dst="master_host"><link_ctn id="wire"/></route>
    <route src="n1" dst="n0"><link_ctn id="wire"/></route>
  </zone>
</platform>
"""


def two_hosts(folder: Path) -> nt.Platform:
    path = folder / "platform.xml"
    path.write_text(PLATFORM)
    return nt.load_platform(path)


def delays(*jobs: tuple[float, int], seconds: float = 10.0) -> Workload:
    """Return jobs, each with its submission time and its number of hosts."""
    return Workload.from_jobs(
        [Job(i, time, Request(n), Delay(seconds), 100.0) for i, (time, n) in enumerate(jobs)]
    )


def dates(schedule: nt.Schedule) -> list[tuple[float, float]]:
    """Return the starts and ends of the jobs, by their positions."""
    record = schedule.record
    rows = zip(record.job, record.start_time, record.finish_time, strict=True)
    return [pytest.approx((start, end), abs=1e-12) for _, start, end in sorted(rows)]


class Told:
    """A policy made of a function, which keeps what it is told: calls of (date, events)."""

    def __init__(
        self, decide: Callable[[nt.View, Sequence[Event]], Iterable[Decision] | None]
    ) -> None:
        self._decide = decide
        self.calls: list[tuple[float, list[tuple[str, float]]]] = []

    def decide(self, view: nt.View, events: Sequence[Event]) -> Iterable[Decision] | None:
        self.calls.append((view.now, [(type(one).__name__, one.time) for one in events]))
        return self._decide(view, events)

    def dates(self, kind: str) -> list[float]:
        """Return when events of a kind happened."""
        return [time for _, events in self.calls for name, time in events if name == kind]

    def heard(self, kind: str) -> list[float]:
        """Return when the policy was told of events of a kind."""
        return [now for now, events in self.calls for name, _ in events if name == kind]
