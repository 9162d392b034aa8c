"""Tasks of which several executors run on one host: what they compute and send there adds up.

That is how a job of Batsim 4 runs together with an additional IO job, and one of Batsim 5 whose
parts run on different hosts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from collections.abc import Sequence as Many

from noctule.errors import InputError
from noctule.profile_facts import return_code_of
from noctule.workload import Compute, HomogeneousTask, ParallelTask, Profile, Sequence

Hosts = Many[int]
Flops = defaultdict[int, float]
Traffic = defaultdict[tuple[int, int], float]
# The matrix of what each sends to each has the square of it.
MOST_HOSTS = 2000


def merged(profile: Profile, hosts: Hosts, extra: Profile, extra_hosts: Hosts) -> Profile:
    """Return the profile of a job on its hosts and those of its IO, in the order of their ids.

    `hosts` and `extra_hosts` are those of executors, of which several may run on one host.
    """
    if isinstance(extra, Sequence):
        if not isinstance(profile, Sequence) or len(profile.parts) != len(extra.parts):
            raise InputError("got a sequence, expected the job to be one of the same length")
        pairs = zip(profile.parts, extra.parts, strict=True)
        parts = tuple(merged(one, hosts, other, extra_hosts) for one, other in pairs)
        return Sequence(parts, profile.repeat, profile.return_code)
    return _task(((profile, hosts), (extra, extra_hosts)), {*hosts, *extra_hosts})


def placed(profile: Profile, executors: Hosts, hosts: Collection[int]) -> Profile:
    """Return what a task is for all hosts of a job, of which its executors have only some."""
    return _task(((profile, executors),), hosts)


def _task(tasks: Many[tuple[Profile, Hosts]], hosts: Collection[int]) -> ParallelTask:
    flops: Flops = defaultdict(float)
    traffic: Traffic = defaultdict(float)
    for profile, executors in tasks:
        _add(profile, executors, flops, traffic)
    union = sorted(hosts)
    if traffic and len(union) > MOST_HOSTS:
        raise InputError(f"got {len(union)} hosts that communicate, expected up to {MOST_HOSTS}")
    return ParallelTask(
        tuple(flops[host] for host in union),
        tuple(traffic[a, b] for a in union for b in union) if traffic else (),
        return_code_of(tasks[0][0]),
    )


def _add(profile: Profile, hosts: Hosts, flops: Flops, traffic: Traffic) -> None:
    """Add the flops of each host, and the bytes from each to each."""
    n = len(hosts)
    match profile:
        case ParallelTask(flops=own, bytes=sent) if len(own) == n:
            for host, amount in zip(hosts, own, strict=True):
                flops[host] += amount
            if sent:
                pairs = ((a, b) for a in hosts for b in hosts)
                for pair, amount in zip(pairs, sent, strict=True):
                    traffic[pair] += amount
        case Compute(work=work, spread=spread):
            _add_alike(hosts, work / n if spread else work, 0.0, flops, traffic)
        case HomogeneousTask(flops=own_flops, bytes=own_bytes, amounts="each"):
            _add_alike(hosts, own_flops, own_bytes, flops, traffic)
        case HomogeneousTask(flops=own_flops, bytes=own_bytes, amounts="spread_flops"):
            _add_alike(hosts, own_flops / n, own_bytes / n, flops, traffic)
        case HomogeneousTask(flops=own_flops, bytes=own_bytes):
            _add_alike(hosts, own_flops / n, own_bytes / max(n * n - n, 1), flops, traffic)
        case _:
            raise InputError(
                f"got {n} hosts for a {type(profile).__name__} to put together with another, "
                "expected parallel tasks and as many hosts as each is for"
            )


def _add_alike(hosts: Hosts, each: float, sent: float, flops: Flops, traffic: Traffic) -> None:
    for host in hosts:
        flops[host] += each
    if sent and len(hosts) <= MOST_HOSTS:
        for i, a in enumerate(hosts):
            for k, b in enumerate(hosts):
                traffic[a, b] += sent if i != k else 0.0
    elif sent:
        raise InputError(f"got {len(hosts)} hosts that communicate, expected up to {MOST_HOSTS}")
