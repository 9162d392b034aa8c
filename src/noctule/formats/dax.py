"""Pegasus workflows (DAX): tasks, and which of them wait for which.

Of an `adag`, the `job` elements count (`id`, `runtime`, `num_procs`) and the `child` elements with
their `parent`s; files and all else are ignored. As in platform files, nothing outside is read, and
no entity is expanded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn
from xml.parsers import expat

from noctule.errors import InputError
from noctule.platform import MAX_HOSTS
from noctule.units import shown


@dataclass(frozen=True, slots=True)
class Task:
    """A task of a workflow.

    `children` are positions of the tasks that wait for it, in the order in which the file says so;
    `n_parents` says how many it waits for.
    """

    id: str
    runtime: float
    n_hosts: int
    children: tuple[int, ...] = ()
    n_parents: int = 0


@dataclass(frozen=True, slots=True)
class Workflow:
    """Tasks in the order of their file."""

    tasks: tuple[Task, ...]

    @property
    def first(self) -> list[int]:
        """Positions of the tasks that wait for none, by their ids as text."""
        ready = [i for i, task in enumerate(self.tasks) if task.n_parents == 0]
        return sorted(ready, key=lambda i: self.tasks[i].id)


def read_dax(text: bytes, *, source: str) -> Workflow:
    """Read the workflow of a DAX file."""
    reader = _Reader(source)
    try:
        reader.parser.Parse(text, True)
    except expat.ExpatError as error:
        where = f"{source}: line {error.lineno}, column {error.offset + 1}"
        raise InputError(f"{where}: not valid XML: {expat.ErrorString(error.code)}") from None
    except (LookupError, ValueError):
        raise InputError(f"{source}: line 1: got an encoding that cannot be read") from None
    return reader.workflow()


class _Reader:
    """Collects tasks and edges from elements as they begin."""

    def __init__(self, source: str) -> None:
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self._source = source
        self._path: list[str] = []
        self._child = ""
        self._tasks: dict[str, tuple[float, int]] = {}
        self._edges: dict[tuple[str, str], str] = {}

    def workflow(self) -> Workflow:
        """Join tasks by their edges."""
        position = {name: i for i, name in enumerate(self._tasks)}
        children: list[list[int]] = [[] for _ in position]
        n_parents = [0] * len(position)
        for (parent, child), where in self._edges.items():
            for name in (parent, child):
                if name not in position:
                    raise InputError(f"{where}: ref: got {shown(name)}, expected the id of a job")
            children[position[parent]].append(position[child])
            n_parents[position[child]] += 1
        self._refuse_circles(children, n_parents)
        return Workflow(
            tuple(
                Task(name, runtime, n_hosts, tuple(children[i]), n_parents[i])
                for i, (name, (runtime, n_hosts)) in enumerate(self._tasks.items())
            )
        )

    def _refuse_circles(self, children: Sequence[Sequence[int]], n_parents: Sequence[int]) -> None:
        missing = list(n_parents)
        ready = [i for i, n in enumerate(missing) if n == 0]
        n_done = 0
        while ready:
            task = ready.pop()
            n_done += 1
            for child in children[task]:
                missing[child] -= 1
                if missing[child] == 0:
                    ready.append(child)
        if n_done < len(n_parents):
            stuck = next(name for name, n in zip(self._tasks, missing, strict=True) if n)
            raise InputError(
                f"{self._source}: job {shown(stuck)}: waits for itself, expected no circle of jobs"
            )

    @property
    def _where(self) -> str:
        line, column = self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1
        return f"{self._source}: line {line}, column {column}"

    def _doctype(self, *_: object) -> NoReturn:
        raise InputError(f"{self._where}: got a DOCTYPE, expected none: no entity is expanded")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(" ")[2]
        if not self._path and name != "adag":
            raise InputError(f"{self._where}: got <{name}>, expected <adag>, a DAX workflow")
        parents = self._path
        if name == "job" and parents == ["adag"]:
            self._job(attributes)
        elif name == "child" and parents == ["adag"]:
            self._child = self._text(attributes, "child", "ref")
        elif name == "parent" and parents == ["adag", "child"]:
            edge = self._text(attributes, "parent", "ref"), self._child
            self._edges.setdefault(edge, self._where)
        self._path.append(name)

    def _end(self, _tag: str) -> None:
        self._path.pop()

    def _text(self, attributes: dict[str, str], tag: str, key: str) -> str:
        if key not in attributes:
            raise InputError(f"{self._where}: {tag}: {key}: missing")
        return attributes[key]

    def _job(self, attributes: dict[str, str]) -> None:
        name = self._text(attributes, "job", "id")
        where = f"{self._where}: job {shown(name)}"
        if name in self._tasks:
            raise InputError(f"{where}: the id is taken, expected one of its own")
        runtime = _number(self._text(attributes, "job", "runtime"))
        if not runtime >= 0:
            found = shown(attributes["runtime"])
            raise InputError(f"{where}: runtime: got {found}, expected seconds, not negative")
        n_hosts = _number(attributes.get("num_procs", "1"))
        if not (n_hosts <= MAX_HOSTS and n_hosts.is_integer()):
            found = shown(attributes["num_procs"])
            raise InputError(f"{where}: num_procs: got {found}, expected a whole number")
        self._tasks[name] = runtime, max(1, int(n_hosts))


def _number(text: str) -> float:
    """Return a finite number, or NaN."""
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan
