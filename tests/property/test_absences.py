"""Hosts that fail, windows and attempts on random cases: rules that no schedule may break."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noctule import HostSet, Platform, simulate
from noctule.errors import InputError
from noctule.external_events import ExternalEvents
from noctule.platform import PowerModel
from noctule.policies.around_windows import (
    EasyAroundWindows,
    FcfsAroundWindows,
    FillerAroundWindows,
)
from noctule.synthetic import Failures
from noctule.testing import check_schedule, start_times
from noctule.testing.strategies import platforms, workloads
from noctule.windows import Maintenance, Reservation, Windows
from noctule.workload import Workload

POLICIES = ("fcfs", "filler", "easy", "conservative", "replanning")
ALLOCATIONS = ("first", "best_effort_contiguous", "contiguous", "best_effort_local", "local")
N_HOSTS = 6


@st.composite
def host_sets(draw):
    return HostSet(draw(st.sets(st.integers(0, N_HOSTS - 1), min_size=1, max_size=4)))


@st.composite
def windows(draw, workload: Workload, *, kills: bool = True, announcements: bool = True):
    found = []
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, 25))
        announced = draw(st.integers(0, start)) if announcements and draw(st.booleans()) else 0
        end = start + draw(st.sampled_from((1, 3, 10)))
        ends_jobs = kills and draw(st.booleans())
        found.append(
            Maintenance(draw(host_sets()), start, end, announced=announced, kills=ends_jobs)
        )
    ids = workload.job_ids.tolist()
    if ids and draw(st.booleans()):
        mine = draw(st.sets(st.sampled_from(ids), min_size=1, max_size=4))
        start = draw(st.integers(0, 15))
        hosts = draw(st.one_of(st.integers(1, 2), host_sets()))
        found.append(Reservation(hosts, start, start + draw(st.integers(1, 25)), mine))
    try:
        return Windows(found).on(N_HOSTS)
    except InputError:  # too many hosts for a number of them
        return Windows(found[:-1])


def failures_of(draw) -> ExternalEvents | None:
    if draw(st.booleans()):
        return None
    seed = draw(st.integers(0, 1000))
    return Failures.draw(N_HOSTS, mtbf=20, mttr=4, seed=seed, until=60).events()


@st.composite
def cases(draw, **options):
    workload = draw(workloads(max_hosts=N_HOSTS, **options))
    return workload, draw(windows(workload)), failures_of(draw)


@given(case=cases(unlimited=True, overruns=True, cancellations=True), data=st.data())
def test_no_job_is_where_it_must_not_be(case, data):
    workload, closed, failures = case
    policy = data.draw(st.sampled_from(POLICIES))
    allocation = data.draw(st.sampled_from(ALLOCATIONS))
    schedule = simulate(
        Platform.homogeneous(N_HOSTS),
        workload,
        f"{policy}(allocation={allocation})",
        failures,
        windows=closed,
        on_failure=data.draw(st.sampled_from(("end", "resubmit"))),
        max_attempts=5,
        checkpoint_every=data.draw(st.sampled_from((math.inf, 2))),
    )
    assert check_schedule(schedule, windows=closed, events=failures) == []
    rest = {"running", "waiting"} & set(schedule.column("state"))
    assert not rest


@given(case=cases(cancellations=True), order=st.sampled_from(("fcfs", "sjf")))
@pytest.mark.parametrize(
    ("native", "twin"),
    [
        ("fcfs", FcfsAroundWindows),
        ("filler", FillerAroundWindows),
        ("easy", EasyAroundWindows),
    ],
)
def test_native_policies_do_what_their_twins_do(native, twin, case, order):
    workload, closed, failures = case
    if not len(closed):  # then they count hosts, as their other twins do
        return
    platform = Platform.homogeneous(N_HOSTS)
    kept = {"windows": closed, "on_failure": "resubmit", "max_attempts": 4}
    ours = simulate(platform, workload, f"{native}(order={order})", failures, **kept)
    theirs = simulate(platform, workload, twin(order), failures, **kept)
    assert start_times(ours) == start_times(theirs)
    assert ours.column("hosts").tolist() == theirs.column("hosts").tolist()


@given(
    platform=platforms(max_hosts=8),
    workload=workloads(unlimited=False, overruns=True, cancellations=True),
    policy=st.sampled_from(("fcfs", "filler", "easy")),
    allocation=st.sampled_from(ALLOCATIONS),
)
def test_a_window_that_nobody_meets_changes_nothing(platform, workload, policy, allocation):
    spec = f"{policy}(allocation={allocation})"
    far = Windows([Maintenance(HostSet([0]), 1e6, 2e6)])
    usual = simulate(platform, workload, spec)
    around = simulate(platform, workload, spec, windows=far)
    assert start_times(around) == start_times(usual)


@given(
    platform=platforms(max_hosts=8),
    workload=workloads(overruns=True, cancellations=True),
    policy=st.sampled_from(("conservative", "replanning")),
)
def test_plans_by_name_are_those_of_neighbours_where_neighbours_are_asked_for(
    platform, workload, policy
):
    spec = f"{policy}(allocation=contiguous)"
    far = Windows([Maintenance(HostSet([0]), 1e6, 2e6)])
    usual = simulate(platform, workload, spec)
    around = simulate(platform, workload, spec, windows=far)
    assert start_times(around) == start_times(usual)


@given(workload=workloads(max_hosts=N_HOSTS), seed=st.integers(0, 1000), data=st.data())
def test_resubmission_conserves_work(workload, seed, data):
    failures = Failures.draw(N_HOSTS, mtbf=30, mttr=4, seed=seed, until=80).events()
    schedule = simulate(
        Platform.homogeneous(N_HOSTS),
        workload,
        "easy",
        failures,
        on_failure="resubmit",
        enforce_walltime=False,
        checkpoint_every=data.draw(st.sampled_from((math.inf, 1, 2, 3))),
        checkpoint_cost=data.draw(st.sampled_from((0, 1))),
        restart_cost=data.draw(st.sampled_from((0, 2))),
    )
    done: dict[str, float] = {}
    ids = schedule.column("job_id").tolist()
    for job_id, useful in zip(ids, schedule.column("useful_time").tolist(), strict=True):
        first = str(job_id).partition("#")[0]
        done[first] = done.get(first, 0.0) + useful
    amounts = zip(workload.job_ids.tolist(), workload.table.amount.tolist(), strict=True)
    assert done == pytest.approx({str(job_id): amount for job_id, amount in amounts})


@given(
    workload=workloads(max_hosts=N_HOSTS).filter(len),  # else nothing ever happens
    seed=st.integers(0, 1000),
)
def test_joules_are_those_of_what_hosts_did(workload, seed):
    failures = Failures.draw(N_HOSTS, mtbf=30, mttr=4, seed=seed, until=80).events()
    watts = {"n_idle": 95.0, "n_computing": 190.0, "n_failed": 10.0}
    power = PowerModel(idle=95, computing=190, off=10)
    platform = Platform.homogeneous(N_HOSTS, power=power)
    kept = {"on_failure": "resubmit", "energy": "exact", "checkpoint_every": 2}
    schedule = simulate(platform, workload, "easy", failures, **kept)
    states = schedule.host_states
    dates = [0.0, *states["time"], schedule.end]
    spent = (dates[1] - dates[0]) * N_HOSTS * 95.0
    for name, each in watts.items():
        numbers = states[name].tolist()
        steps = zip(numbers, dates[1:], dates[2:], strict=False)
        spent += each * math.fsum(n * (end - start) for n, start, end in steps)
    energy = schedule.energy
    assert energy.joules() == pytest.approx(spent)
    assert math.fsum(energy.by_spending.values()) == pytest.approx(spent)
    assert energy.hosts["joules"].sum() == pytest.approx(spent)
