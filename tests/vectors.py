"""Run cases recorded from SimGrid on Noctule's machine, and tell how far they differ.

    python tests/vectors.py FILE.json...

Files have the form of tests/vectors/simgrid/cases.json or smpi-cases.json. Prints a line a case and
the worst relative difference; the exit code is 1 if that is above 1e-9.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import noctule as nt
from noctule import _core
from noctule.errors import NoctuleError
from noctule.machine import Machine

TOLERANCE = 1e-9
MODEL = "ptask_L07"

Case = Mapping[str, Any]


def main(files: list[str]) -> int:
    if not files:
        print(__doc__)
        return 2
    worst = 0.0
    for file in files:
        cases = json.loads(Path(file).read_text())["cases"]
        for case in cases:
            if not is_ours(case):
                print(f"{case['name']:30} skipped: optional model {case['host_model']}")
                continue
            found = difference(expectation(case), run_case(case))
            worst = max(worst, found)
            print(f"{case['name']:30} {found:.2e}{'' if found <= TOLERANCE else '  DIFFERS'}")
    print(f"worst relative difference: {worst:.2e}")
    return int(not worst <= TOLERANCE)


def is_ours(case: Case) -> bool:
    """Tell whether a case is of the model that Batsim uses."""
    return "traces" in case or case["host_model"] == MODEL


def expectation(case: Case) -> Mapping[str, Any]:
    """Return what SimGrid answered."""
    answer: Mapping[str, Any] = case["L07"] if "traces" in case else case["expect"]
    return answer


def run_case(case: Case) -> dict[str, Any]:
    """Return what our machine answers, in the form of the expectation."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in case.get("files", {}).items():
            (Path(folder) / name).write_text(text)
        path = Path(folder) / "platform.xml"
        path.write_text(case["platform_xml"])
        try:
            platform = configured(nt.load_platform(path), case.get("cfg", ()))
            if "traces" in case:
                return replayed(platform, case)
            return _Run(platform, case).answers()
        except NoctuleError as error:
            return {"error": str(error)}


def configured(platform: nt.Platform, settings: Iterable[str]) -> nt.Platform:
    """Return a platform with options of SimGrid as on its command line."""
    options = dict(platform.network.options)
    options.update(setting.split(":", 1) for setting in settings)
    return replace(platform, network=replace(platform.network, options=options))


def replayed(platform: nt.Platform, case: Case) -> dict[str, Any]:
    texts = ["\n".join(lines) for lines in case["traces"]]
    trace = _core.MpiTrace(texts, [f"rank {i}" for i in range(len(texts))])
    machine = Machine(platform)
    ends = machine.replay(trace, case["hosts"])
    return {str(i): end for i, end in enumerate(ends)} | {"end": max(ends)}


@dataclass
class _Task:
    kind: str
    start: float
    status: str = "done"

    @property
    def failure(self) -> str:
        return "linkfailure" if self.kind == "comm" else "hostfailure"


@dataclass
class _Run:
    """The commands of a case, each at its date, in the order given."""

    platform: nt.Platform
    case: Case
    tasks: dict[str, _Task] = field(default_factory=dict)
    found: dict[str, Any] = field(default_factory=dict)
    n_steps: int = 0

    def answers(self) -> dict[str, Any]:
        energy = "simgrid" if self.case.get("energy") else "off"
        self.machine = Machine(self.platform, energy=energy)
        self.steps: list[tuple[float, int, int, Callable[[], None]]] = []
        last = []
        for line in self.case["commands"]:
            name, *words = line.split()
            if name == "energy":
                last.append(self.energies)
            else:
                getattr(self, f"do_{name}")(iter(words))
        while self.steps:
            self.steps.sort(key=lambda step: step[:3])
            date, _, _, step = self.steps.pop(0)
            self.go_to(date, step)
        while self.tasks.keys() - self.machine.ends.keys():  # hosts may come and go for ever
            if self.machine.next_time == math.inf:
                break
            self.machine.advance(self.machine.next_time)
        for query in last:
            query()
        self.close()
        return self.found

    def go_to(self, date: float, step: Callable[[], None]) -> None:
        """Do a step at its date, after those of the same instant, unless it has become needless."""
        while self.machine.now < date:
            next_time = self.machine.next_time
            if next_time > date:
                if self.is_needless(step):
                    return
                next_time = date
            self.machine.advance(next_time)
        step()

    def is_needless(self, step: Callable[[], None]) -> bool:
        return isinstance(step, _Stop) and step.name in self.machine.ends

    def close(self) -> None:
        machine = self.machine
        tasks = {
            name: {
                "kind": task.kind,
                "start": task.start,
                "end": machine.ends.get(name, math.inf),
                "status": task.failure if name in machine.failed else task.status,
            }
            for name, task in self.tasks.items()
        }
        if tasks:
            self.found["tasks"] = tasks
        self.found["end"] = machine.now

    def at(
        self, date: float, step: Callable[[], None], turn: int = 0, number: int | None = None
    ) -> None:
        """Do something at a date, in the order of turns and then of the commands."""
        self.n_steps += 1
        self.steps.append((date, turn, self.n_steps if number is None else number, step))

    def do_ptask(self, words: Iterator[str], walltime: float = math.inf) -> None:
        name, start, hosts = next(words), float(next(words)), self.hosts(words)
        flops = numbers(words, len(hosts)) if next(words) == "F" else []
        traffic = numbers(words, len(hosts) ** 2) if next(words) == "B" else []
        self.begin(
            name, "ptask", start, walltime, lambda: self.machine.run(name, hosts, flops, traffic)
        )

    def do_homog(self, words: Iterator[str], walltime: float = math.inf) -> None:
        name, start, hosts = next(words), float(next(words)), self.hosts(words)
        flops, traffic = float(next(words)), float(next(words))
        self.begin(
            name,
            "ptask",
            start,
            walltime,
            lambda: self.machine.run_alike(name, hosts, flops, traffic),
        )

    def do_wptask(self, words: Iterator[str]) -> None:
        self.do_ptask(words, float(next(words)))

    def do_whomog(self, words: Iterator[str]) -> None:
        self.do_homog(words, float(next(words)))

    def do_exec(self, words: Iterator[str]) -> None:
        name, start, host, flops = next(words), float(next(words)), next(words), float(next(words))
        self.begin(name, "exec", start, math.inf, lambda: self.machine.execute(name, host, flops))

    def do_sleep(self, words: Iterator[str]) -> None:
        name, start, host, lasts = next(words), float(next(words)), next(words), float(next(words))
        self.begin(name, "sleep", start, math.inf, lambda: self.machine.sleep(name, host, lasts))

    def do_comm(self, words: Iterator[str]) -> None:
        name, start, src, dst = next(words), float(next(words)), next(words), next(words)
        n_bytes = float(next(words))
        self.begin(
            name, "comm", start, math.inf, lambda: self.machine.send(name, src, dst, n_bytes)
        )

    def do_pstate(self, words: Iterator[str]) -> None:
        date, host, state = float(next(words)), next(words), int(next(words))
        self.at(date, lambda: self.machine.set_power_state(host, state))

    def do_bw(self, words: Iterator[str]) -> None:
        date, link, value = float(next(words)), next(words), float(next(words))
        self.at(date, lambda: self.machine.set_bandwidth(link, value))

    def do_lat(self, words: Iterator[str]) -> None:
        date, link, value = float(next(words)), next(words), float(next(words))
        self.at(date, lambda: self.machine.set_latency(link, value))

    def do_off(self, words: Iterator[str]) -> None:
        date, host = float(next(words)), next(words)
        self.at(date, lambda: self.machine.switch_host(host, on=False))

    def do_on(self, words: Iterator[str]) -> None:
        date, host = float(next(words)), next(words)
        self.at(date, lambda: self.machine.switch_host(host, on=True))

    def do_route(self, words: Iterator[str]) -> None:
        src, dst = next(words), next(words)
        path = self.machine.route(src, dst)
        self.found.setdefault("routes", {})[f"{src}->{dst}"] = {
            "latency": path.latency,
            "links": list(path.links),
        }

    def do_energyat(self, words: Iterator[str]) -> None:
        date, host = float(next(words)), next(words)

        def ask() -> None:
            machine = self.machine
            self.found.setdefault("energyat", []).append(
                {
                    "t": machine.now,
                    "host": host,
                    "joules": machine.energy(host),
                    "watts": machine.power(host),
                    "load": machine.load(host),
                }
            )

        # SimGrid's actors read at once what was billed at this very instant; else they wait for
        # a bill, and find what others have changed meanwhile.
        def begin() -> None:
            machine = self.machine
            if machine._core.last_bill(machine.host_id(host)) == machine.now:
                ask()
            else:
                self.at(date, lambda: self.bill(host), number=number)
                self.at(date, ask, turn=1)

        number = self.n_steps + 1
        self.at(date, begin, turn=-1)

    def bill(self, host: str) -> None:
        self.machine.energy(host)

    def energies(self) -> None:
        hosts = self.platform.all_hosts()
        self.found["energy"] = {host.name: self.machine.energy(host.name) for host in hosts}

    def begin(
        self, name: str, kind: str, start: float, walltime: float, begin: Callable[[], None]
    ) -> None:
        def step() -> None:
            self.tasks[name] = _Task(kind, self.machine.now)
            begin()
            if walltime < math.inf:
                self.at(self.machine.now + walltime, _Stop(self, name))

        self.at(start, step)

    @staticmethod
    def hosts(words: Iterator[str]) -> list[str]:
        return [next(words) for _ in range(int(next(words)))]


@dataclass
class _Stop:
    """The walltime of a task."""

    run: _Run
    name: str

    def __call__(self) -> None:
        machine = self.run.machine
        if self.name not in machine.ends:
            machine.cancel(self.name)
            machine.ends[self.name] = machine.now
            self.run.tasks[self.name].status = "timeout"


def numbers(words: Iterator[str], n: int) -> list[float]:
    return [float(next(words)) for _ in range(n)]


def difference(expected: Any, found: Any) -> float:
    """Return the worst relative difference of two answers; infinite where their shapes differ."""
    if isinstance(expected, Mapping) and "error" in expected:
        return 0.0 if "error" in found else math.inf
    if isinstance(expected, Mapping) and "routes" in expected and "routes" in found:
        found = {**found, "routes": renamed(expected["routes"], found["routes"])}
    pairs = _parts(expected, found)
    if pairs is not None:
        return max((difference(one, other) for one, other in pairs), default=0.0)
    if expected == found:
        return 0.0
    if not (isinstance(expected, int | float) and isinstance(found, int | float)):
        return math.inf
    return abs(expected - found) / max(abs(expected), abs(found))


def _parts(expected: Any, found: Any) -> list[tuple[Any, Any]] | None:
    """Return what two mappings or two lists of one shape have at the same places."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        if expected.keys() == found.keys():
            return [(expected[key], found[key]) for key in expected]
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return list(zip(expected, found, strict=True))
    return None


def renamed(expected: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Return routes with the links called as expected, where that is a matter of names alone.

    Recorded platforms have other names of zones than their routes.
    """
    names: dict[str, str] = {}
    for pair in expected.keys() & found.keys():
        for one, other in zip(expected[pair]["links"], found[pair]["links"], strict=False):
            names.setdefault(other, one)
    if len(set(names.values())) < len(names):
        return dict(found)
    return {
        pair: {**route, "links": [names.get(link, link) for link in route["links"]]}
        for pair, route in found.items()
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
