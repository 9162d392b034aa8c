"""Processes that give inputs to a reader; one that dies or hangs is noticed and replaced.

A worker writes down which input it is at before it begins with it, so that the input that killed
it is known. Time is that of the processor, so that a busy machine changes nothing; only a worker
that sleeps is noticed by the clock.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from judging import Fault, judged
from mutations import Corpus
from targets import Reader

# Workers begin as copies of a process that has read the package, and nothing else.
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([name for name in sys.modules if name.split(".")[0] == "noctule"])


@dataclass(frozen=True)
class Limits:
    """What an input may take: seconds of the processor, seconds of the clock, bytes of memory."""

    cpu: float = 20.0
    clock: float = 120.0
    memory: int = 4 << 30


@dataclass(frozen=True)
class Finding:
    """An input with which a reader did what it may not do."""

    reader: str
    index: int
    fault: Fault


@dataclass(frozen=True)
class Batch:
    """Some inputs of one reader: those from `first` to `last`, or `data`."""

    reader: Reader
    corpus: Corpus
    seed: int
    first: int
    last: int
    data: bytes | None = None

    def input(self, index: int) -> bytes:
        return self.corpus.input(self.seed, index) if self.data is None else self.data


def _mapped() -> int:
    """Return how much memory this process has mapped, used or not."""
    n_pages = int(Path("/proc/self/statm").read_text().split()[0])
    return n_pages * resource.getpagesize()


def _serve(connection: Connection, index: Any, folder: Path, limits: Limits) -> None:
    """Work on batches until there are none; what is found is told at once."""
    warnings.simplefilter("error")
    if _mapped() < limits.memory:  # a sanitizer has mapped terabytes already
        resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    folder.mkdir()
    os.chdir(folder)
    while True:
        batch: Batch = connection.recv()
        path = folder / f"input{batch.reader.ending}"
        for i in range(batch.first, batch.last):
            index.value = i
            data = batch.input(i)
            signal.setitimer(signal.ITIMER_PROF, limits.cpu)
            fault = judged(batch.reader, path, data)
            signal.setitimer(signal.ITIMER_PROF, 0)
            if fault is not None:
                connection.send(Finding(batch.reader.name, i, fault))
        connection.send(batch)


class _Worker:
    """A process, and what it is at."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.limits = limits
        self.batch: Batch | None = None
        self._index = _FORKS.Value("q", -1, lock=False)
        self.connection, other = _FORKS.Pipe()
        arguments = (other, self._index, folder, limits)
        self.process = _FORKS.Process(target=_serve, args=arguments, daemon=True)
        self.process.start()
        other.close()
        self._seen = (-1, time.monotonic())

    def begin(self, batch: Batch) -> None:
        self.batch = batch
        self._index.value = -1
        self._seen = (-1, time.monotonic())
        self.connection.send(batch)

    def is_stuck(self) -> bool:
        """Tell whether it has been at one input for too long by the clock."""
        now, index = time.monotonic(), self._index.value
        if index != self._seen[0]:
            self._seen = (index, now)
        return self._seen[0] >= 0 and now - self._seen[1] > self.limits.clock

    def died_at(self, *, stuck: bool) -> tuple[int, Fault]:
        """Bury the process; return the input that it was at, and how it ended."""
        if stuck:
            self.process.kill()
        self.process.join()
        self.connection.close()
        code, index = self.process.exitcode or 0, self._index.value
        if stuck:
            return index, Fault("hangs", f"no end after {self.limits.clock:g} s of the clock")
        if code == -signal.SIGPROF:
            return index, Fault("hangs", f"no end after {self.limits.cpu:g} s of the processor")
        if code < 0:
            name = signal.Signals(-code).name
            return index, Fault(f"dies of {name}", f"the process died of {name}")
        return index, Fault(f"exits with {code}", f"the process ended with exit code {code}")

    def close(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


@dataclass(frozen=True)
class Progress:
    """How many more inputs have been given to a reader."""

    reader: str
    n_inputs: int


def work(batches: Iterator[Batch], *, jobs: int, limits: Limits) -> Iterator[Finding | Progress]:
    """Do all batches; yield findings as they come, and the progress of each batch."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        crew = _Crew(Path(folder), limits)
        try:
            while crew.give_work(batches, jobs):
                for worker in crew.wait():
                    yield from crew.look_at(worker)
        finally:
            crew.close()


class _Crew:
    """The workers, and what is left of batches whose workers died."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._folder = folder
        self._limits = limits
        self._workers: list[_Worker] = []
        self._again: list[Batch] = []
        self._n_hired = 0

    def give_work(self, batches: Iterator[Batch], jobs: int) -> bool:
        """Give a batch to all who have none; tell whether anybody has work."""
        while len(self._busy()) < jobs:
            batch = self._again.pop() if self._again else next(batches, None)
            if batch is None:
                break
            idle = [worker for worker in self._workers if worker.batch is None]
            (idle[0] if idle else self._hired()).begin(batch)
        return bool(self._busy())

    def wait(self) -> list[_Worker]:
        """Wait until something happens, or for a second."""
        busy = self._busy()
        wait([handle for w in busy for handle in (w.connection, w.process.sentinel)], 1.0)
        return busy

    def look_at(self, worker: _Worker) -> Iterator[Finding | Progress]:
        """Take what a worker says; if it is gone, go on behind the input that it died of."""
        batch = worker.batch
        assert batch is not None
        name = batch.reader.name
        stuck, dead = worker.is_stuck(), not worker.process.is_alive()
        try:
            while worker.connection.poll():
                said = worker.connection.recv()
                if isinstance(said, Finding):
                    yield said
                else:
                    worker.batch = None
                    yield Progress(name, batch.last - batch.first)
        except (EOFError, ConnectionError):
            dead = True
        if worker.batch is None or not (stuck or dead):
            return
        index, fault = worker.died_at(stuck=stuck)
        self._workers.remove(worker)
        if index < batch.first:
            raise RuntimeError(f"a worker did not begin: {fault.text}")
        yield Finding(name, index, fault)
        yield Progress(name, index + 1 - batch.first)
        if index + 1 < batch.last:
            self._again.append(replace(batch, first=index + 1))

    def close(self) -> None:
        for worker in self._workers:
            worker.close()

    def _busy(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.batch is not None]

    def _hired(self) -> _Worker:
        self._n_hired += 1
        worker = _Worker(self._folder / str(self._n_hired), self._limits)
        self._workers.append(worker)
        return worker


def batches_of(
    readers: Sequence[tuple[Reader, Corpus]], *, n_inputs: int, seed: int, size: int
) -> Iterator[Batch]:
    """Cut the inputs of some readers into batches."""
    for reader, corpus in readers:
        for first in range(0, n_inputs, size):
            yield Batch(reader, corpus, seed, first, min(first + size, n_inputs))
