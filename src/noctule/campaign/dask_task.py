"""What a Dask worker does for a campaign: it answers orders, with outcomes or with what it lacks.

A worker keeps a desk: the files that were sent to it, the workloads that the next runs may need,
the processes of policies in Python. It belongs to the worker, is made when the first order comes,
and is cleared when the campaign ends.
"""

from __future__ import annotations

import shutil
import threading
import traceback
import uuid
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec
from distributed import Status, Worker, get_worker

from noctule.campaign.execution import Outcome, Runner, Stopped
from noctule.campaign.inputs import InputFiles
from noctule.campaign.local import PolicyProcess, ProcessEnded
from noctule.campaign.specs import FileRef, RunSpec
from noctule.errors import NoctuleError

_DESK = "noctule_desk"
# a process dies alone; three tries are as much evidence as a dozen dead workers with many runs
_DEATHS_OF_A_PROCESS = 4
_LEAVING = (Status.closing, Status.closed, Status.failed, Status.stopping)


class Order(msgspec.Struct, frozen=True):
    """A run to do, in a thread or a process; `sent` are the files whose contents come with it."""

    spec: RunSpec
    in_thread: bool
    version: str
    sent: tuple[FileRef, ...] = ()


class Done(msgspec.Struct, frozen=True, tag=True):
    """The run was done, well or badly."""

    outcome: Outcome


class Missing(msgspec.Struct, frozen=True, tag=True):
    """The run needs files that the worker does not have."""

    files: tuple[FileRef, ...]


class Refused(msgspec.Struct, frozen=True, tag=True):
    """The worker has another version of Noctule."""

    worker: str
    version: str


class Lost(msgspec.Struct, frozen=True, tag=True):
    """The run was cut off; it may do better elsewhere."""

    reason: str = ""
    n_deaths: int = 1


class Fault(msgspec.Struct, frozen=True, tag=True):
    """Something went wrong that should not; as text, because not all exceptions can travel."""

    traceback: str


Answer = Done | Missing | Refused | Lost | Fault


def do_run(order: bytes, *contents: bytes) -> bytes:
    """Answer an order, on a worker; orders and answers are encoded."""
    worker = get_worker()
    # an order is read whole only by the version that wrote it
    version = msgspec.msgpack.decode(order, type=_Version).version
    ours = _version()
    answer: Answer
    if version != ours:
        answer = Refused(worker.address, ours)
    else:
        answer = _desk_of(worker).answer(msgspec.msgpack.decode(order, type=Order), contents)
    return msgspec.msgpack.encode(answer)


def content(value: bytes) -> bytes:
    """Return the content of a file: as a task, it can be computed again where it got lost."""
    return value


def clear_desk(dask_worker: Worker) -> None:
    """Remove what the campaign has left on a worker."""
    desk = dask_worker.__dict__.pop(_DESK, None)
    if desk is not None:
        desk.close()


class _Version(msgspec.Struct):
    version: str


@cache
def _version() -> str:
    return metadata.version("noctule")


def _desk_of(worker: Worker) -> _Desk:
    desks: dict[str, _Desk] = worker.__dict__
    return desks[_DESK] if _DESK in desks else desks.setdefault(_DESK, _Desk(worker))


class _Desk:
    """What the threads of a worker share."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        # no other may ever have the same: this one may still be closed
        self._received = Path(worker.local_directory) / f"noctule-{uuid.uuid4().hex}"
        self._inputs = InputFiles(self._received)
        self._runner = Runner(self._inputs, is_stopped=self._is_stopped)
        self._lock = threading.Lock()
        self._idle: list[PolicyProcess] = []
        self._n_under_way = 0
        self._is_closed = False

    def answer(self, order: Order, contents: tuple[bytes, ...]) -> Answer:
        """Do a run, unless a file is missing."""
        with self._lock:
            self._n_under_way += 1
        try:
            return self._answered(order, contents)
        except Stopped:
            return Lost("its worker left")
        except NoctuleError as error:
            return Done(Outcome(error=str(error)))
        except Exception:
            return Fault(traceback.format_exc())
        finally:
            with self._lock:
                self._n_under_way -= 1
            self._clear_if_closed()

    def close(self) -> None:
        """Clear it as soon as nobody works at it."""
        self._is_closed = True
        self._clear_if_closed()

    def _answered(self, order: Order, contents: tuple[bytes, ...]) -> Answer:
        try:
            for file, sent in zip(order.sent, contents, strict=True):
                self._inputs.receive(file, sent)
        except OSError as error:
            return Lost(f"{self._received}: cannot be written: {error.strerror or error}")
        files = order.spec.input_files
        missing = tuple(file for file in files if not self._inputs.has(file))
        if missing:
            return Missing(missing)
        if order.in_thread:
            return Done(self._runner.execute(order.spec))
        return self._in_a_process(order.spec)

    def _in_a_process(self, spec: RunSpec) -> Answer:
        with self._lock:
            process = self._idle.pop() if self._idle else PolicyProcess(self._received)
        try:
            return Done(process.execute(spec, self._is_stopped))
        except ProcessEnded as end:
            if not end.by_signal:
                return Done(Outcome(error=str(end)))
            # this need not be the policy's doing: job systems end jobs with signals
            return Lost(str(end), _DEATHS_OF_A_PROCESS)
        finally:
            with self._lock:
                self._idle.append(process)

    def _is_stopped(self) -> bool:
        """Whether nobody wants the run of this thread any more."""
        if self._worker.status in _LEAVING:
            return True
        key: Any = self._worker.active_threads.get(threading.get_ident())
        task = self._worker.state.tasks.get(key)
        return task is not None and task.state == "cancelled"

    def _clear_if_closed(self) -> None:
        with self._lock:
            if not self._is_closed or self._n_under_way:
                return
            processes, self._idle = self._idle, []
        for process in processes:
            process.end()
        shutil.rmtree(self._received, ignore_errors=True)
