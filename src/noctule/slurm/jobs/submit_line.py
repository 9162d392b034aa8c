"""What the command line of a submission asks for, as far as accounting does not keep it.

`sacct` has no column for dependencies, begin times, several partitions, or whether memory and GPUs
were asked for by node, task or job: its SubmitLine has them. Options within a script (#SBATCH) are
not on the command line.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any

from noctule.errors import InputError
from noctule.slurm.conf.gres import Gres, parse_gres
from noctule.slurm.conf.values import COUNTS, MINUTES
from noctule.slurm.jobs.requests import parse_dependencies

Reader = Callable[[str], dict[str, Any]]

COMMANDS = ("sbatch", "srun", "salloc")
_QUOTED = re.compile(r"""["'\\]""")
_SIZE = re.compile(r"([0-9]+)([KMGT]?)B?", re.ASCII | re.IGNORECASE)
_NODES = re.compile(r"([0-9]+)(k?)(?:-([0-9]+)(k?))?", re.ASCII)
_THROTTLE = re.compile(r"%([0-9]+)$", re.ASCII)
_FACTORS = {"K": 1 / 1024, "": 1, "M": 1, "G": 1024, "T": 1024**2}

_SHORT = {
    "A": "account",
    "C": "constraint",
    "H": "hold",
    "J": "job-name",
    "L": "licenses",
    "N": "nodes",
    "S": "core-spec",
    "a": "array",
    "b": "begin",
    "c": "cpus-per-task",
    "d": "dependency",
    "m": "distribution",
    "n": "ntasks",
    "p": "partition",
    "q": "qos",
    "s": "oversubscribe",
    "t": "time",
    "w": "nodelist",
    "x": "exclude",
    # not asked for here, but followed by a value that is none of our words
    "B": "extra-node-info",
    "D": "chdir",
    "F": "nodefile",
    "G": "gpus",
    "M": "clusters",
    "e": "error",
    "i": "input",
    "o": "output",
}
# options that stand alone, so that the next word is not their value
_ALONE = (
    "hold oversubscribe share exclusive contiguous requeue no-requeue overcommit quiet verbose "
    "parsable spread-job use-min-nodes reboot test-only ignore-pbs nice get-user-env wait "
    "no-kill propagate pty unbuffered label"
)
_STANDS_ALONE = frozenset(_ALONE.split())
_SHORT_ALONE = "HOQWhksuv"


def options_of(line: str, component: int = 0) -> dict[str, str]:
    """Return the options of the submitting command by their long name; the last one counts.

    Those of the components of a heterogeneous job stand between colons.
    """
    found: dict[str, str] = {}
    command, *rest = _words(line) or [""]
    if command.rpartition("/")[2] not in COMMANDS:
        return found
    for _ in range(component):
        rest = rest[rest.index(":") + 1 :] if ":" in rest else []
    words = iter(rest)
    for word in words:
        if word == "--" or not word.startswith("-") or word == "-":
            break
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if not equals and name not in _STANDS_ALONE:
                value = next(words, "")
            found[name] = value
        else:
            _take_short(word[1:], words, found)
    return found


def _words(line: str) -> list[str]:
    if _QUOTED.search(line):
        try:
            return shlex.split(line)
        except ValueError:  # cut within quotes
            pass
    return line.split()


def _take_short(letters: str, words: Iterator[str], found: dict[str, str]) -> None:
    """Take letters that stand together; the first that has a value takes what follows it."""
    for i, letter in enumerate(letters):
        if letter in _SHORT_ALONE:
            found[_SHORT.get(letter, letter)] = ""
            continue
        rest = letters[i + 1 :].removeprefix("=")
        found[_SHORT.get(letter, letter)] = rest or next(words, "")
        return


def asked_on_line(line: str, component: int = 0) -> tuple[dict[str, Any], list[str]]:
    """Return fields of a Request, and the options whose values could not be read.

    Keys `begin` and `deadline` are left out: as text they depend on the clock; `has_begin` says
    that a begin time was asked for.
    """
    options = options_of(line, component)
    asked: dict[str, Any] = {}
    unread: list[str] = []
    for name, text in options.items():
        read = _READERS.get(name)
        if read is not None:
            try:
                asked |= read(text)
            except (InputError, ValueError):
                unread.append(f"--{name}")
    if "begin" in options:
        asked["has_begin"] = True
    return asked, unread


def stands_alone(name: str) -> bool:
    """Whether an option has no value, or needs none."""
    return name in _STANDS_ALONE


def readable_options() -> list[str]:
    """Return the long names of the options that `asked_on_line` reads."""
    return sorted(_READERS)


def _nodes(text: str) -> dict[str, Any]:
    match = _NODES.fullmatch(text)
    if match is None:
        raise ValueError
    low = int(match[1]) * (1024 if match[2] else 1)
    if match[3] is None:
        return {"min_nodes": low, "max_nodes": 0}
    return {"min_nodes": low, "max_nodes": int(match[3]) * (1024 if match[4] else 1)}


def _megabytes(text: str) -> int:
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError
    return round(int(match[1]) * _FACTORS[match[2].upper()])


def _memory(text: str) -> dict[str, Any]:
    return {"memory_mb": _megabytes(text), "memory_is_per_cpu": False}


def _memory_per_cpu(text: str) -> dict[str, Any]:
    return {"memory_mb": _megabytes(text), "memory_is_per_cpu": True}


def _gpus(field: str) -> Reader:
    def read(text: str) -> dict[str, Any]:
        found = []
        for word in text.split(","):
            kind, _, count = word.rpartition(":")
            found.append(Gres("gpu", kind, int(count)))
        return {field: tuple(found)}

    return read


def _dependencies(text: str) -> dict[str, Any]:
    dependencies, is_any = parse_dependencies(text, "--dependency")
    return {"dependencies": dependencies, "any_dependency": is_any}


def _array(text: str) -> dict[str, Any]:
    match = _THROTTLE.search(text)
    return {"array_throttle": int(match[1])} if match else {}


def _minutes(field: str) -> Reader:
    return lambda text: {field: MINUTES.read(text)}


def _whole(field: str) -> Reader:
    return lambda text: {field: int(text)}


def _text(field: str) -> Reader:
    return lambda text: {field: text}


def _set(field: str, value: Any) -> Reader:
    return lambda _: {field: value}


def _nice(text: str) -> dict[str, Any]:
    return {"nice": int(text) if text else 100}


def _partitions(text: str) -> dict[str, Any]:
    return {"partitions": tuple(word for word in text.split(",") if word)}


def _exclusive(text: str) -> dict[str, Any]:
    if text == "user":
        return {"exclusive_user": True}
    return {"exclusive": text in ("", "exclusive")}


def _switches(text: str) -> dict[str, Any]:
    count, _, longest = text.partition("@")
    wait = MINUTES.read(longest) * 60.0 if longest else None
    return {"switches": int(count), "switch_wait": wait}


_READERS: dict[str, Reader] = {
    "array": _array,
    "constraint": _text("features"),
    "contiguous": _set("contiguous", True),
    "cpus-per-task": _whole("cpus_per_task"),
    "dependency": _dependencies,
    "exclude": _text("excluded_nodes"),
    "exclusive": _exclusive,
    "gpus": _gpus("gres_per_job"),
    "gpus-per-node": _gpus("gres_per_node"),
    "gpus-per-task": _gpus("gres_per_task"),
    "gres": lambda text: {"gres_per_node": parse_gres(text, "--gres")},
    "hold": _set("held", True),
    "job-name": _text("name"),
    "licenses": lambda text: {"licenses": COUNTS.read(text)},
    "mem": _memory,
    "mem-per-cpu": _memory_per_cpu,
    "nice": _nice,
    "no-requeue": _set("requeue", False),
    "nodelist": _text("required_nodes"),
    "nodes": _nodes,
    "ntasks": _whole("tasks"),
    "ntasks-per-node": _whole("tasks_per_node"),
    "oversubscribe": _set("oversubscribe", True),
    "partition": _partitions,
    "requeue": _set("requeue", True),
    "share": _set("oversubscribe", True),
    "switches": _switches,
    "time-min": _minutes("time_min"),
}
