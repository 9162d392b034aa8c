"""Energy of random runs whose policy switches hosts at random."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from switched_runs import N_HOSTS, WATTS, jobs, simulated, wishes

from noctule.workload import Compute


@given(jobs, wishes, st.floats(0, 300), st.floats(0, 300))
def test_the_parts_sum_to_the_integral_of_power(rows, some, one, other):
    schedule = simulated(rows, some, "exact")
    found = schedule.energy
    whole = found.joules()
    assert found.spent.min() >= 0
    assert found.spent.sum() == pytest.approx(whole, rel=1e-9)
    assert sum(found.by_spending.values()) == pytest.approx(whole, rel=1e-9)
    first, last = sorted((one, other))
    parts = found.joules(0, first), found.joules(first, last), found.joules(last, 1e9)
    assert sum(parts) == pytest.approx(whole, rel=1e-9)
    for time, joules in zip(
        schedule.record.energy_time, schedule.record.energy_joules, strict=True
    ):
        assert found.joules(0, time) == pytest.approx(joules, rel=1e-9, abs=1e-6)


@given(jobs.map(lambda rows: [(t, 1, what, limit) for t, _, what, limit in rows]), wishes)
def test_joules_are_those_that_the_tables_tell(rows, some):
    """Jobs of one host load it fully or not at all, so that its watts follow from the tables."""
    schedule = simulated(rows, some, "exact")
    end = schedule.end
    runs = schedule.jobs
    computing = {i for i, row in enumerate(rows) if isinstance(row[2], Compute)}
    for host in range(N_HOSTS):
        table = schedule.power_states
        mine = table[[host in hosts for hosts in table["hosts"]]]
        dates = [*mine["time"], end]
        busy = [
            (run.start_time, run.finish_time)
            for run in runs.itertuples()
            if host in run.hosts and run.job_id in computing
        ]
        joules = 0.0
        for state, begin, until in zip(mine["state"], dates, dates[1:], strict=False):
            idle, full = WATTS[state]
            loaded = sum(max(0.0, min(b, until) - max(a, begin)) for a, b in busy)
            joules += loaded * full + (until - begin - loaded) * idle
        assert schedule.energy.spent[host].sum() == pytest.approx(joules, rel=1e-9, abs=1e-6)


@given(jobs, wishes)
def test_billing_as_simgrid_leaves_the_schedule_as_it_is(rows, some):
    exact, lazy = (simulated(rows, some, mode, machine=True) for mode in ("exact", "simgrid"))
    plain = ["start_time", "finish_time", "state"]
    assert exact.jobs[plain].equals(lazy.jobs[plain])
    assert lazy.energy.spent.sum() == pytest.approx(lazy.energy.joules(), rel=1e-9)
