"""Workers on this machine: a thread each, and a process of its own for policies in Python.

A native run lets go of Python's lock, so that threads run side by side. Any other run is sent to
the process of its thread; if that dies, the run has failed, and the next one gets a new process.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

import msgspec

from noctule.campaign.execution import Outcome, Runner, Stopped
from noctule.campaign.running import Progress, Task
from noctule.campaign.specs import RunSpec
from noctule.errors import InputError

_LOOK_EVERY_S = 0.1
_LENGTH_BYTES = 8
# few enough to stay in the caches, enough to keep threads from waiting for each other
_BATCH_S = 0.005
_LARGEST_BATCH = 4


def write_message(stream: IO[bytes], content: bytes) -> None:
    """Write a message behind its length."""
    stream.write(len(content).to_bytes(_LENGTH_BYTES, "big") + content)
    stream.flush()


def read_message(stream: IO[bytes]) -> bytes | None:
    """Read a message; None if the other side is gone."""
    length = stream.read(_LENGTH_BYTES)
    if len(length) < _LENGTH_BYTES:
        return None
    n = int.from_bytes(length, "big")
    content = stream.read(n)
    return content if len(content) == n else None


def usable_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class LocalWorkers:
    """So many workers on this machine; as many as there are cores by default."""

    def __init__(self, n_workers: int | None = None) -> None:
        if n_workers is not None and n_workers < 1:
            raise InputError(f"workers: got {n_workers}, expected a number >= 1")
        self._n_workers = n_workers or usable_cores()

    def work(self, progress: Progress) -> None:
        """Do all tasks; Ctrl-C stops the runs that are under way and leaves the others done."""
        team = _Team(progress, self._n_workers)
        try:
            team.work()
        finally:
            team.stop()
        if team.fault is not None:
            raise team.fault


class _Team:
    """The threads of one call, which share a runner and stop together."""

    def __init__(self, progress: Progress, n_workers: int) -> None:
        self.fault: BaseException | None = None
        self._progress = progress
        self._stopped = threading.Event()
        self._runner = Runner(is_stopped=self._stopped.is_set)
        self._processes = [PolicyProcess() for _ in range(n_workers)]
        # daemons: one that reads a large file must not hold up the end
        self._threads = [
            threading.Thread(target=self._serve, args=[process], daemon=True)
            for process in self._processes
        ]

    def work(self) -> None:
        """Start the threads and wait for them."""
        for thread in self._threads:
            thread.start()
        for thread in self._threads:
            while thread.is_alive():
                thread.join(_LOOK_EVERY_S)
                self._progress.look()

    def stop(self) -> None:
        """Stop what is under way."""
        self._stopped.set()
        for process in self._processes:
            process.kill()

    def _serve(self, process: PolicyProcess) -> None:
        n_tasks = 1
        try:
            while not self._stopped.is_set():
                tasks = self._progress.next_tasks(n_tasks)
                if not tasks:
                    return
                began = time.perf_counter()
                outcomes = self._done(tasks, process)
                if not self._stopped.is_set():
                    self._progress.record_all(tasks, outcomes)
                n_tasks = _next_size(len(tasks), time.perf_counter() - began)
        except Stopped:
            pass
        except BaseException as error:
            self.fault = self.fault or error
            self._stopped.set()
        finally:
            process.end()

    def _done(self, tasks: Sequence[Task], process: PolicyProcess) -> list[Outcome]:
        *others, last = [task.spec for task in tasks]
        if tasks[-1].is_native:
            return self._runner.execute_all([*others, last])
        done = self._runner.execute_all(others) if others else []
        try:
            return [*done, process.execute(last)]
        except ProcessEnded as end:
            return [*done, Outcome(error=str(end))]


def _next_size(n_tasks: int, seconds: float) -> int:
    """Return how many tasks to do together: so many that they take a few milliseconds."""
    fitting = int(n_tasks * _BATCH_S / max(seconds, 1e-6))
    return max(1, min(fitting, 4 * n_tasks, _LARGEST_BATCH))


class ProcessEnded(Exception):  # noqa: N818  (what it means is for others to say)
    """The process of a run has ended before the run."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the process of the run {_ended_how(code)}")
        self.by_signal = code < 0


def _ended_how(code: int) -> str:
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


class PolicyProcess:
    """A process that does runs, started when the first one comes."""

    def __init__(self, received: Path | None = None) -> None:
        """Take the folder that input files were sent to, if they were."""
        self._received = received
        self._process: subprocess.Popen[bytes] | None = None

    def execute(self, spec: RunSpec, is_stopped: Callable[[], bool] | None = None) -> Outcome:
        """Do a run there; end it if it is stopped."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            write_message(process.stdin, msgspec.msgpack.encode(spec))
            if is_stopped is not None:
                self._await_answer(process.stdout, is_stopped)
            answer = read_message(process.stdout)
        except (BrokenPipeError, ValueError):
            answer = None
        if answer is not None:
            return msgspec.msgpack.decode(answer, type=Outcome)
        self._process = None
        process.communicate()
        raise ProcessEnded(process.returncode)

    def end(self) -> None:
        """End the process, whatever it does, and let go of it."""
        self.kill()
        process, self._process = self._process, None
        if process is not None:
            process.communicate()

    def kill(self) -> None:
        """End the process from any thread: that which talks to it finds that it is gone."""
        process = self._process
        if process is not None:
            process.kill()
            process.wait()

    def _await_answer(self, stream: IO[bytes], is_stopped: Callable[[], bool]) -> None:
        waiting = select.poll()
        waiting.register(stream, select.POLLIN)
        while not waiting.poll(_LOOK_EVERY_S * 1000):
            if is_stopped():
                self.end()
                raise Stopped

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            received = [] if self._received is None else [str(self._received)]
            self._process = subprocess.Popen(
                [sys.executable, "-m", "noctule.campaign.policy_process", *received],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # Ctrl-C is for the campaign, which ends its processes
                start_new_session=True,
            )
        return self._process
