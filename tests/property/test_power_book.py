"""Runs that count energy without a machine are those on a machine: same dates, same joules.

All numbers are powers of two and their small multiples, so that dates are exact on both sides, and
events fall together as often as they can.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noctule as nt
from noctule.external_events import ExternalEvent, ExternalEvents
from noctule.messages import CallAt, KillJob, SetPowerState, StartJob
from noctule.platform import HostKind, Hosts, PowerRange, SleepState
from noctule.policies.native import NATIVE_POLICIES
from noctule.record import host_state_columns
from noctule.workload import Compute, Delay, Request

N_HOSTS = 5
FULL, SLOW, ASLEEP, DEEP = 0, 1, 2, 5


def kind(speed: float, cores: int, watts: float, *, asleep: bool = False) -> HostKind:
    """Return a host with two states to compute in and two to sleep in."""
    return HostKind(
        # full, slow, asleep, off, on, deeply asleep, off, on
        speeds=(speed, speed / 2, 1.0, 1 / 4, 1 / 8, 1.0, 1 / 2, 1 / 32),
        initial_state=ASLEEP if asleep else FULL,
        cores=cores,
        powers=(
            PowerRange(watts, watts + 3.7, 2 * watts),
            PowerRange(watts / 2, watts / 2 + 1.1, watts),
            PowerRange(9.75, 9.75, 9.75),
            PowerRange(50.3, 51.3, 60.9),
            PowerRange(110.1, 120.1, 150.7),
            PowerRange(1.25, 1.25, 1.25),
            PowerRange(40.3, 41.3, 50.9),
            PowerRange(100.1, 110.1, 140.7),
        ),
        sleep_states=(SleepState(ASLEEP, 3, 4), SleepState(DEEP, 6, 7)),
    )


kinds = st.builds(
    kind,
    st.sampled_from([0.5, 1.0, 2.0]),
    st.sampled_from([1, 4]),
    st.sampled_from([97.3, 211.9]),
    asleep=st.booleans(),
)
platforms = st.one_of(
    kinds.map(lambda one: nt.Platform(Hosts.alike(list("abcde"), one))),
    st.tuples(
        st.lists(kinds, min_size=2, max_size=2),
        st.lists(st.integers(0, 1), min_size=N_HOSTS, max_size=N_HOSTS),
    ).map(
        lambda drawn: nt.Platform(
            Hosts(list("abcde"), drawn[0], np.array(drawn[1], dtype=np.int32))
        )
    ),
)

lengths = st.sampled_from([1.0, 4.0, 16.0, 64.0])
jobs = st.lists(
    st.tuples(
        st.integers(0, 60),
        st.integers(1, N_HOSTS),
        st.one_of(lengths.map(Compute), lengths.map(Delay)),
        st.sampled_from([math.inf, 8.0, 32.0]),
        st.sampled_from([0.0, 2.0]),  # before it
        st.sampled_from([0.0, 4.0]),  # behind it
    ),
    min_size=1,
    max_size=8,
).map(
    lambda rows: nt.Workload.from_jobs(
        nt.Job(i, t, Request(n), what, limit, launch_delay=launch, epilogue_delay=epilogue)
        for i, (t, n, what, limit, launch, epilogue) in enumerate(rows)
    )
)


@dataclass(frozen=True)
class Wish:
    """What a policy would like to do at a date."""

    date: int
    host: int
    state: int
    kills: bool


wishes = st.lists(
    st.builds(
        Wish,
        st.integers(0, 100),
        st.integers(0, N_HOSTS - 1),
        st.sampled_from([FULL, SLOW, ASLEEP, DEEP]),
        st.booleans(),
    ),
    max_size=12,
)
outages = st.lists(
    st.tuples(st.integers(0, N_HOSTS - 1), st.integers(0, 50), st.integers(1, 50)),
    max_size=2,
    unique_by=lambda outage: outage[0],
)


class Wishful:
    """Does at some dates what is wished and allowed, and starts jobs in order as they fit."""

    def __init__(self, some: list[Wish], *, named: bool) -> None:
        self.wishes = sorted(some, key=lambda wish: wish.date)
        self.named = named
        self.energies: list[float] = []

    def decide(self, view, events):
        self.energies += view.now, view.energy
        free, held = set(view.free), set()
        while self.wishes and self.wishes[0].date <= view.now:
            wish = self.wishes.pop(0)
            running = list(view.running)
            if wish.kills and running:
                yield KillJob(running[0])
                continue
            can = wish.host not in view.switching and wish.host not in view.unavailable
            if wish.state in (ASLEEP, DEEP):
                can = can and wish.host in free and wish.host not in view.asleep
            if can and wish.host not in held:
                yield SetPowerState([wish.host], wish.state)
                held.add(wish.host)
                free.discard(wish.host)
        if self.wishes:
            yield CallAt(self.wishes[0].date)
        for job in view.waiting:
            if job.n_hosts > len(free):
                break
            chosen = sorted(free)[: job.n_hosts] if self.named or held else None
            free -= set(sorted(free)[: job.n_hosts])
            yield StartJob(job, chosen)
        asleep = [host for host in view.asleep if host not in held | set(view.unavailable)]
        if not self.wishes and not view.wakes_hosts and asleep:
            yield SetPowerState(asleep, FULL)


def both(platform, workload, policy, events=(), **options) -> tuple[nt.Schedule, nt.Schedule]:
    light, full = (
        nt.simulate(
            platform,
            workload,
            policy(),
            ExternalEvents.from_events(events),
            energy="exact",
            machine=machine,
            **options,
        )
        for machine in (False, True)
    )
    return light, full


def same(light: nt.Schedule, full: nt.Schedule) -> None:
    """Compare what does not depend on the order of what happens at one instant."""
    assert rows_of(light) == rows_of(full)
    joules = [
        one.column("energy")[np.argsort(one.column("job_id"), kind="stable")]
        for one in (light, full)
    ]
    assert joules[0] == pytest.approx(joules[1], rel=1e-9, nan_ok=True)
    assert light.end == full.end
    whole = full.energy.joules()
    assert light.energy.joules() == pytest.approx(whole, rel=1e-9)
    assert light.energy.spent.min() >= 0
    assert light.energy.spent == pytest.approx(full.energy.spent, rel=1e-9, abs=1e-9 * whole)
    assert switches_of(light) == switches_of(full)
    assert settled(light) == settled(full)
    record, other = light.record, full.record
    assert record.energy_time.tolist() == other.energy_time.tolist()
    assert record.energy_joules == pytest.approx(other.energy_joules, rel=1e-9, abs=1e-9)
    assert np.sort(record.energy_why).tolist() == np.sort(other.energy_why).tolist()
    if len(record.energy_time):
        assert record.energy_least_watts[-1] == pytest.approx(other.energy_least_watts[-1])


def rows_of(schedule: nt.Schedule) -> list[tuple[str, ...]]:
    """Return when and where each job ran, and how it ended, in the order of their ids."""
    names = ("job_id", "start_time", "finish_time", "state", "hosts")
    columns = [map(str, schedule.column(name)) for name in names]
    return sorted(zip(*columns, strict=True))


def switches_of(schedule: nt.Schedule) -> list[tuple[float, str, int]]:
    """Return who went to which power state, in the order of dates and hosts."""
    record = schedule.record
    hosts = map(str, record.power_state_hosts)
    states = record.power_state_value.tolist()
    return sorted(zip(record.power_state_time.tolist(), hosts, states, strict=True))


def settled(schedule: nt.Schedule) -> dict[float, dict[str, int]]:
    """Return how many hosts did what, as it was when each date was over."""
    columns = {name: c.tolist() for name, c in host_state_columns(schedule.record).items()}
    dates = columns.pop("time")
    rows = zip(*columns.values(), strict=True)
    return {t: dict(zip(columns, row, strict=True)) for t, row in zip(dates, rows, strict=True)}


options = st.fixed_dictionaries(
    {"wake_for_jobs": st.booleans(), "until": st.sampled_from([math.inf, 40.0])}
)


@given(platforms, jobs, st.tuples(wishes, st.booleans()), outages, options)
def test_whatever_a_policy_switches(platform, workload, wished, away, options):
    events = [
        ExternalEvent(float(date), what, nt.HostSet(str(host)))
        for host, begin, lasts in away
        for date, what in ((begin, "unavailable"), (begin + lasts, "available"))
    ]
    policies = []

    def policy():
        policies.append(Wishful(wished[0], named=wished[1]))
        return policies[-1]

    light, full = both(platform, workload, policy, events, **options)
    same(light, full)
    assert policies[0].energies == pytest.approx(policies[1].energies, rel=1e-9)


#: What some policies cannot do without.
PARAMETERS = {
    "energy_budget": "(budget=0.8, budget_start=5, budget_end=60)",
    "powercap": "(budget=0.8, budget_start=5, budget_end=60)",
    "proportional": "(rho=0.7, period=10)",
    "reduce_powercap": "(budget=0.8, budget_start=5, budget_end=60)",
}


@pytest.mark.parametrize("policy", sorted(NATIVE_POLICIES))
@given(platform=platforms, workload=jobs)
def test_whatever_a_native_policy_decides(policy, platform, workload):
    spec = policy + PARAMETERS.get(policy, "")
    same(*both(platform, workload, lambda: spec, wake_for_jobs=True))


@given(platforms, jobs, st.integers(0, N_HOSTS - 1))
def test_the_energy_of_a_host_is_the_same_whenever_it_is_asked(platform, workload, host):
    seen = []

    class Curious(Wishful):
        def decide(self, view, events):
            seen[-1].append(view.host_energy(host))
            return super().decide(view, events)

    def policy():
        seen.append([])
        return Curious([Wish(8, host, SLOW, kills=False)], named=False)

    same(*both(platform, workload, policy, wake_for_jobs=True))
    assert seen[0] == pytest.approx(seen[1], rel=1e-9)
