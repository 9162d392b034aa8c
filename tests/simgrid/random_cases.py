"""Random cases in the form of the published vectors: a platform, commands, options.

    python tests/simgrid/random_cases.py SEED... [-o FILE.json]

prints the cases of these seeds with what SimGrid answers, for `tests/vectors.py` to run again.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from random_platforms import FAMILIES, Draw, Drawn, draw_platform

Case = dict[str, Any]

WHOLE_EVERY = 25
"""One case in so many is a whole simulation."""


def date(rng: Draw, horizon: float) -> float:
    if rng.round_numbers:
        return int(rng.uniform(0, horizon) * 2) / 2
    return 0.0 if rng.random() < 0.1 else round(rng.uniform(0, horizon), 6)


def moment(rng: Draw, horizon: float) -> float:
    """Return a date that no task has, which are multiples of a microsecond."""
    return round(rng.uniform(0, horizon), 6) + 5e-7


def amount(rng: Draw, least: float, most: float, zero: float) -> float:
    """Return a power of ten between two, or zero with that chance."""
    if rng.random() < zero:
        return 0.0
    if rng.round_numbers:
        return rng.choice([1, 2, 5]) * 10.0 ** rng.randint(int(least), int(most))
    return float(f"{10 ** rng.uniform(least, most):.9g}")


def members(rng: Draw, hosts: Sequence[str], *, repeated: bool) -> list[str]:
    n = rng.randint(1, min(8, len(hosts)))
    chosen = rng.sample(hosts, n)
    if repeated and rng.random() < 0.15:
        chosen += rng.choices(chosen, k=rng.randint(1, 3))
    return chosen


def parallel_task(rng: Draw, drawn: Drawn, name: str, start: float) -> str:
    """Return a ptask or a homogeneous one, with or without a walltime."""
    flops_only = not drawn.routed or rng.random() < 0.25
    repeated = flops_only or drawn.self_traffic
    hosts = members(rng, list(drawn.hosts), repeated=repeated)
    n = len(hosts)
    walltime = f"{rng.uniform(0.1, 20):.6f} " if rng.random() < 0.2 else ""
    if rng.random() < 0.4:
        zero = 0.0 if n == 1 else 0.15
        flops = amount(rng, 8, 10.5, zero)
        each = 0.0 if flops_only else amount(rng, 4, 8.5, 0.1)
        words = [name, start, n, *hosts, flops, each]
        return f"{'w' * bool(walltime)}homog {walltime}" + " ".join(map(str, words))
    vector = ["-"]
    if n == 1 or flops_only or rng.random() < 0.8:
        vector = ["F", *(str(amount(rng, 8, 10.5, 0.2)) for _ in hosts)]
    matrix = ["-"]
    if not flops_only:
        absent = rng.uniform(0, 0.9)
        pairs = [absent if drawn.self_traffic or i % (n + 1) else 1 for i in range(n * n)]
        matrix = ["B", *(str(amount(rng, 4, 8.5, zero)) for zero in pairs)]
    words = [name, start, n, *hosts, *vector, *matrix]
    return f"{'w' * bool(walltime)}ptask {walltime}" + " ".join(map(str, words))


def task(rng: Draw, drawn: Drawn, name: str, horizon: float) -> str:
    hosts = list(drawn.hosts)
    start = date(rng, horizon)
    kind = rng.random()
    if kind < 0.1:
        return f"exec {name} {start} {rng.choice(hosts)} {amount(rng, 8, 10.5, 0.05)}"
    if kind < 0.2:
        return f"sleep {name} {start} {rng.choice(hosts)} {rng.uniform(0, 10):.6f}"
    if kind < 0.3 and drawn.routed:
        ends = rng.choices(hosts, k=2) if drawn.self_traffic else rng.sample(hosts, 2)
        return f"comm {name} {start} {' '.join(ends)} {int(amount(rng, 0, 9, 0.05))}"
    return parallel_task(rng, drawn, name, start)


def steady_hosts(tasks: Sequence[str]) -> set[str]:
    """Return the hosts where actors of the driver wait: SimGrid kills them with the host."""
    found: set[str] = set()
    for line in (task.split() for task in tasks):
        if line[0] == "comm":
            found.update(line[3:5])
        elif line[0] == "sleep":
            found.add(line[3])
        elif line[0] in ("wptask", "whomog"):
            found.add(line[5])
    return found


def changes(rng: Draw, drawn: Drawn, horizon: float) -> Iterator[str]:
    """Yield changes of the platform while tasks run.

    None at the date of another command: which comes first is then a matter of SimGrid's actors.
    """
    several = [host for host, n in drawn.hosts.items() if n > 1]
    if several and rng.random() < 0.5:
        for _ in range(rng.randint(1, 4)):
            host = rng.choice(several)
            yield f"pstate {moment(rng, horizon)} {host} {rng.randrange(drawn.hosts[host])}"
    if drawn.links and rng.random() < 0.3:
        for _ in range(rng.randint(1, 3)):
            yield f"bw {moment(rng, horizon)} {rng.choice(drawn.links)} {amount(rng, 7, 10, 0)}"
    if drawn.links and rng.random() < 0.3:
        for _ in range(rng.randint(1, 3)):
            yield f"lat {moment(rng, horizon)} {rng.choice(drawn.links)} {amount(rng, -6, -2, 0.1)}"


def failure(rng: Draw, drawn: Drawn, tasks: Sequence[str], horizon: float) -> list[str]:
    """Return a host's end and perhaps its return, in a gap of what would start there.

    SimGrid notices a task that starts on a host which is off at its next event, whatever that is.
    """
    mortal = sorted(set(drawn.hosts) - steady_hosts(tasks) - {min(drawn.hosts)})
    if not mortal or rng.random() < 0.6:
        return []
    host = rng.choice(mortal)
    starts = sorted(float(start_of(task)) for task in tasks if host in task.split())
    off = round(rng.uniform(0.1, horizon), 6)
    later = [start for start in starts if start >= off]
    if not later:
        return [f"off {off} {host}"]
    on = round(off + rng.uniform(0.05, 0.95) * (later[0] - off), 6)
    return [f"off {off} {host}", f"on {on} {host}"] if off < on < later[0] else []


def start_of(command: str) -> str:
    words = command.split()
    return words[3 if words[0] in ("wptask", "whomog") else 2]


def questions(rng: Draw, drawn: Drawn, commands: Sequence[str], horizon: float) -> Iterator[str]:
    hosts = list(drawn.hosts)
    if drawn.routed:
        asked = {(rng.choice(hosts), rng.choice(hosts)) for _ in range(rng.randint(0, 6))}
        yield from (f"route {one} {other}" for one, other in sorted(asked))
    if drawn.energy:
        for _ in range(rng.randint(0, 5)):
            some_start = start_of(rng.choice(commands))
            when = some_start if rng.random() < 0.3 else date(rng, 2 * horizon)
            yield f"energyat {when} {rng.choice(hosts)}"
        yield "energy"


def random_case(seed: int) -> Case:
    """Return the case of a seed; families take turns."""
    rng = Draw(f"noctule {seed}")
    family = list(FAMILIES)[seed % len(FAMILIES)]
    whole = seed % WHOLE_EVERY == WHOLE_EVERY - 1
    fatpipes = not whole and rng.random() < 0.3
    rng.round_numbers = not whole and rng.random() < 0.25
    n_tasks = rng.randint(150, 400) if whole else rng.choice([1, 2, 3, 5, 8, 12, 20])
    # Whether readings come before an end at their instant hangs on long sums of round numbers.
    exact = not rng.round_numbers or n_tasks <= 3
    drawn = draw_platform(rng, family, energy=exact and rng.random() < 0.4, fatpipes=fatpipes)
    horizon = n_tasks * 10 ** rng.uniform(-1, 0.3)
    commands = [task(rng, drawn, f"t{i}", horizon) for i in range(n_tasks)]
    others = [*changes(rng, drawn, horizon), *failure(rng, drawn, commands, horizon)]
    others += questions(rng, drawn, commands, horizon)
    commands += others
    rng.shuffle(commands)
    cfg = [f"network/TCP-gamma:{rng.choice([65536, 20000000])}"] if rng.random() < 0.1 else []
    return {
        "name": f"{'whole-' * whole}{family}-{seed}",
        "platform": f"{family}-{seed}.xml",
        "platform_xml": drawn.xml,
        "files": drawn.files,
        "commands": commands,
        "cfg": cfg,
        "host_model": "ptask_L07",
        "energy": drawn.energy,
        "note": f"seed {seed}",
    }


def main() -> None:
    from noctule.simgrid.driver import Driver

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", type=int, nargs="+", metavar="SEED")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    cases = [random_case(seed) for seed in options.seeds]
    for case, answer in zip(cases, Driver.built().answers(cases), strict=True):
        case["expect"] = {key: found for key, found in answer.items() if key != "cpu_seconds"}
    text = json.dumps({"made_with": "SimGrid", "cases": cases}, indent=1) + "\n"
    if options.output:
        options.output.write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
