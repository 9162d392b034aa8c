"""A platform of which joules are easily told by hand, and runs on it."""

from __future__ import annotations

from small_runs import Scripted, job

import noctule as nt
from noctule.messages import JobSubmitted, PowerStateChanged, SetPowerState, StartJob
from noctule.platform import PowerModel

FULL, SLOW, ASLEEP, SWITCHING_OFF, SWITCHING_ON = range(5)
#: 100 W idle and 200 W computing; at half the speed 80 W and 120 W; 10 W asleep. Switching off
#: takes 5 s at 50 W, switching on 10 s at 150 W.
POWER = PowerModel(
    idle=100,
    computing=200,
    off=10,
    switch_off_seconds=5,
    switch_off_watts=50,
    switch_on_seconds=10,
    switch_on_watts=150,
    slower=((0.5, 80, 120),),
)


def hosts(n: int) -> nt.Platform:
    return nt.Platform.homogeneous(n, power=POWER)


def run(policy, jobs, *, n: int = 2, energy: str = "exact", **options) -> nt.Schedule:
    return nt.simulate(hosts(n), nt.Workload.from_jobs(jobs), policy, energy=energy, **options)


def sleeping_until_b(view, events):
    """Let host 1 sleep until B comes; it is off after 5 s, and on again 10 s after B came."""
    for event in events:
        if isinstance(event, JobSubmitted) and event.job.id == "A":
            yield StartJob(event.job, [0])
            yield SetPowerState([1], ASLEEP)
        elif isinstance(event, JobSubmitted):
            yield SetPowerState([1], FULL)
        elif isinstance(event, PowerStateChanged) and event.state == FULL:
            yield from (StartJob(waiting) for waiting in view.waiting)


def night_and_day(**options) -> nt.Schedule:
    """Run A on host 0 from 0 to 10 while host 1 goes to sleep, and B on both from 60 to 80.

    Host 1 is switched off from 0 to 5 and, as B is submitted, on from 50 to 60.
    """
    jobs = [job("A", runtime=10), job("B", hosts=2, runtime=20, submit=50)]
    return run(Scripted(sleeping_until_b), jobs, **options)
