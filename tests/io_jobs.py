"""Jobs of Batsim 4 that were started with an additional IO job: both are one parallel task."""

from __future__ import annotations

from collections.abc import Sequence as Many

from noctule.errors import NoctuleError
from noctule.workload import Compute, HomogeneousTask, ParallelTask, Profile, Sequence

Hosts = Many[int]
Amounts = tuple[dict[int, float], dict[tuple[int, int], float]]


def merged(profile: Profile, hosts: Hosts, extra: Profile, extra_hosts: Hosts) -> Profile:
    """Return the profile of a job on its hosts and those of its IO, in the order of their ids."""
    if isinstance(extra, Sequence):
        if not isinstance(profile, Sequence) or len(profile.parts) != len(extra.parts):
            raise NoctuleError("an IO job that is a sequence, of a job that is not a like one")
        pairs = zip(profile.parts, extra.parts, strict=True)
        parts = tuple(merged(one, hosts, other, extra_hosts) for one, other in pairs)
        return Sequence(parts, profile.repeat, profile.return_code)
    flops, traffic = amounts(profile, hosts)
    more_flops, more_traffic = amounts(extra, extra_hosts)
    union = sorted({*hosts, *extra_hosts})
    return ParallelTask(
        tuple(flops.get(host, 0.0) + more_flops.get(host, 0.0) for host in union),
        tuple(
            traffic.get((a, b), 0.0) + more_traffic.get((a, b), 0.0) for a in union for b in union
        ),
    )


def amounts(profile: Profile, hosts: Hosts) -> Amounts:
    """Return the flops of each host, and the bytes from each to each."""
    n = len(hosts)
    match profile:
        case ParallelTask(flops=flops, bytes=sent):
            matrix = sent or (0.0,) * (n * n)
            pairs = ((a, b) for a in hosts for b in hosts)
            return dict(zip(hosts, flops, strict=True)), dict(zip(pairs, matrix, strict=True))
        case Compute(work=work, spread=spread):
            return dict.fromkeys(hosts, work / n if spread else work), {}
        case HomogeneousTask(flops=flops, bytes=sent, amounts="each"):
            return alike(hosts, flops, sent)
        case HomogeneousTask(flops=flops, bytes=sent, amounts="spread_flops"):
            return alike(hosts, flops / n, sent / n)
    raise NoctuleError(f"an IO job with a {type(profile).__name__}, expected parallel tasks")


def alike(hosts: Hosts, flops: float, sent: float) -> Amounts:
    pairs = [(a, b) for a in hosts for b in hosts if a != b]
    return dict.fromkeys(hosts, flops), dict.fromkeys(pairs, sent)
