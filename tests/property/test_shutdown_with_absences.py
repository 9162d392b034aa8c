"""Policies that switch hosts, where hosts fail, leave and come back at any time."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st
from test_shutdown import platform, policies, runs, spaced

import noctule as nt
from noctule.external_events import ExternalEvent, ExternalEvents

GONE_AND_BACK = {"failed": "restored", "unavailable": "available"}


@st.composite
def external_events(draw, n_hosts: int) -> ExternalEvents:
    """Draw times in which some hosts are away, one after the other; all come back."""
    events, now = [], 0.0
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(sorted(GONE_AND_BACK)))
        hosts = nt.HostSet(draw(st.sets(st.integers(0, n_hosts - 1), min_size=1)))
        gone = now + draw(st.integers(0, 40))
        now = gone + draw(st.integers(1, 40))
        events.append(ExternalEvent(gone, kind, hosts))
        events.append(ExternalEvent(now, GONE_AND_BACK[kind], hosts))
    return ExternalEvents.from_events(events)


@given(st.data(), runs, policies, st.sampled_from([0, 3]))
def test_every_job_ends_whatever_happens_to_hosts(data, run, policy, epilogue):
    seed, n_jobs, n_hosts = run
    schedule = nt.simulate(
        platform(n_hosts),
        spaced(seed, n_jobs, n_hosts),
        policy,
        data.draw(external_events(n_hosts)),
        energy="exact",
        epilogue_delay=epilogue,
    )
    assert not set(schedule.column("state")) & {"waiting", "running"}
    assert len(schedule) == n_jobs
    assert math.isfinite(schedule.energy.joules())
