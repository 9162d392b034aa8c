"""A campaign on a Dask cluster. Dask moves runs, files and answers; here is what it is asked for.

A run goes out with the hashes of its files. A worker that has no such content, neither sent before
nor at the same path, says so, and the run is sent again with the contents. A run whose worker dies
is repeated by Dask, and sent again if Dask gives up, until too many workers have died of it.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from importlib import metadata
from typing import Any

import dask
import msgspec
from distributed import Client, Future, KilledWorker, Security
from distributed.client import FutureCancelledError

from noctule.campaign.dask_task import (
    Answer,
    Done,
    Fault,
    Lost,
    Missing,
    Order,
    Refused,
    clear_desk,
    do_run,
)
from noctule.campaign.dask_uploads import Uploads
from noctule.campaign.execution import Outcome
from noctule.campaign.running import Progress, Task
from noctule.campaign.specs import FileRef
from noctule.errors import InputError, ProtocolError

RUNS_PER_THREAD = 3
FEWEST_RUNS = 8
_LOOK_EVERY_S = 0.1
_TEND_EVERY_S = 1.0
_CONNECT_S = 10
_SILENCE_S = 60
_NOBODY_S = 600
_LEAVE_S = 0.3
_MOST_DEATHS = 10
_ANSWERS: msgspec.msgpack.Decoder[Answer] = msgspec.msgpack.Decoder(Answer)
_NOISY = ("distributed", "tornado", "dask_jobqueue")


def work_on(
    address: str,
    progress: Progress,
    *,
    security: Security | None = None,
    tend: Callable[[], object] | None = None,
) -> None:
    """Do all tasks on the cluster of a scheduler; who gives `tend` sees to its workers.

    It is called every second. Without it, workers that stay away end the campaign.
    """
    session = _Session(address, progress, security, tend)
    thread = threading.Thread(target=session.run, daemon=True)
    with quiet():
        thread.start()
        try:
            while thread.is_alive():
                thread.join(_LOOK_EVERY_S)
                progress.look()
        finally:
            session.stop()
            thread.join(3 * _LEAVE_S)
    if session.fault is not None:
        raise session.fault


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Dask's logs off the terminal: what matters of them is said in one line in the end."""
    loggers = [
        logger
        for name, logger in list(logging.root.manager.loggerDict.items())
        if isinstance(logger, logging.Logger) and name.partition(".")[0] in _NOISY
    ]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        # input files are arguments of tasks on purpose
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"}):
            yield
    finally:
        for logger, was_disabled in zip(loggers, before, strict=True):
            logger.disabled = was_disabled


class _Session:
    """One campaign on a cluster, in an event loop on a thread of its own."""

    def __init__(
        self,
        address: str,
        progress: Progress,
        security: Security | None,
        tend: Callable[[], object] | None,
    ) -> None:
        self.fault: BaseException | None = None
        self._address = address
        self._progress = progress
        self._security = security
        self._tend = tend
        self._whole: asyncio.Task[None] | None = None
        self._has_begun = threading.Event()

    def run(self) -> None:
        """Do it all; what goes wrong is kept as the fault."""
        try:
            asyncio.run(self._main())
        except asyncio.CancelledError:
            pass
        except BaseException as error:
            self.fault = error
        finally:
            self._has_begun.set()

    def stop(self) -> None:
        """Leave as soon as possible; harmless after the end."""
        self._has_begun.wait(_LEAVE_S)
        if self._whole is not None:
            with suppress(RuntimeError):
                self._whole.get_loop().call_soon_threadsafe(self._whole.cancel)

    async def _main(self) -> None:
        self._whole = asyncio.current_task()
        self._has_begun.set()
        # tasks of Dask fail when a scheduler dies; all of ours are awaited
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        client = Client(
            self._address,
            asynchronous=True,
            set_as_default=False,
            timeout=_CONNECT_S,
            security=self._security,
        )
        try:
            await self._connect(client)
            await _Crew(client, self._address, self._progress, self._tend).work()
        finally:
            await self._leave(client)

    async def _connect(self, client: Any) -> None:
        try:
            await asyncio.wait_for(client, 2 * _CONNECT_S)
        except OSError:
            raise InputError(
                f"{self._address}: no answer within {_CONNECT_S} s, expected a Dask scheduler"
            ) from None
        except (ValueError, TypeError, ImportError) as error:
            raise InputError(f"{self._address}: not a Dask scheduler to use: {error}") from None

    async def _leave(self, client: Client) -> None:
        if client.status == "running":
            cleared: Any = client.run(clear_desk, on_error="ignore")
            with suppress(Exception):
                await asyncio.wait_for(cleared, _LEAVE_S)
        with suppress(Exception):
            await asyncio.wait_for(client.close(), _LEAVE_S)


class _Crew:
    """Whoever works for the scheduler that a client is connected to."""

    def __init__(
        self,
        client: Client,
        address: str,
        progress: Progress,
        tend: Callable[[], object] | None,
    ) -> None:
        self._client = client
        self._address = address
        self._progress = progress
        self._tend = tend
        self._version = metadata.version("noctule")
        self._name = uuid.uuid4().hex
        self._uploads = Uploads(client)
        self._one_suspect = asyncio.Lock()
        self._n_orders = 0
        self._n_serving = 0
        self._has_ended = asyncio.Event()

    async def work(self) -> None:
        """Do all tasks."""
        await self._check_versions()
        try:
            async with asyncio.TaskGroup() as group:
                await self._keep_serving(group)
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None

    async def _keep_serving(self, group: asyncio.TaskGroup) -> None:
        """Have as many runs under way as the cluster can take, whoever comes and goes."""
        last_seen = time.monotonic()
        while not self._has_ended.is_set():
            n_threads = await self._n_threads()
            if self._tend is not None:
                self._tend()
            elif n_threads:
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > _NOBODY_S:
                raise ProtocolError(
                    f"{self._address}: no worker for {_NOBODY_S} s, expected some to come; "
                    "finished runs are kept"
                )
            n_wanted = max(FEWEST_RUNS, RUNS_PER_THREAD * n_threads)
            for _ in range(n_wanted - self._n_serving):
                self._n_serving += 1
                group.create_task(self._serve())
            with suppress(TimeoutError):
                await asyncio.wait_for(self._has_ended.wait(), _TEND_EVERY_S)

    async def _serve(self) -> None:
        while (task := self._progress.next_task()) is not None:
            self._progress.record(task, await self._outcome(task))
        self._n_serving -= 1
        if self._n_serving == 0:
            self._has_ended.set()

    async def _outcome(self, task: Task) -> Outcome:
        files: tuple[FileRef, ...] = ()
        n_deaths = 0
        while True:
            answer = await self._answer(task, files, is_suspect=n_deaths > 0)
            match answer:
                case Done(outcome):
                    return outcome
                case Missing(missing):
                    files = tuple(dict.fromkeys((*files, *missing)))
                case Refused(worker, version):
                    raise self._refusal(worker, f"has noctule {version}")
                case Fault(traceback):
                    raise RuntimeError(f"a run failed on a worker:\n{traceback}")
                case Lost(reason, n):
                    n_deaths += n
                    if n_deaths >= _MOST_DEATHS:
                        return Outcome(error=reason or f"its worker died {n_deaths} times")

    async def _answer(self, task: Task, files: tuple[FileRef, ...], *, is_suspect: bool) -> Answer:
        """Send a run out; suspects go one by one, each to a process that it may take down alone."""
        async with AsyncExitStack() as stack:
            if is_suspect:
                await stack.enter_async_context(self._one_suspect)
            try:
                contents = await stack.enter_async_context(self._uploads.sent(files))
            except InputError as error:
                return Done(Outcome(error=str(error)))
            in_thread = task.is_native and not is_suspect
            order = Order(task.spec, in_thread, self._version, files)
            return await self._answered(msgspec.msgpack.encode(order), contents)

    async def _answered(self, order: bytes, contents: list[Future[bytes]]) -> Answer:
        await self._check_connection()
        self._n_orders += 1
        key = f"noctule_run-{self._name}-{self._n_orders}"
        future: Any = self._client.submit(do_run, order, *contents, key=key)
        try:
            return _ANSWERS.decode(await future)
        except KilledWorker as killed:
            return Lost(n_deaths=killed.allowed_failures + 1)
        except (FutureCancelledError, OSError):
            is_connected = self._client.status == "running"
            await self._check_connection()
            return Lost(n_deaths=int(is_connected))
        except Exception as error:
            await self._check_versions()
            if "deserialization of the task graph" in str(error):
                raise InputError(
                    f"{self._address}: the scheduler does not understand the tasks, "
                    f"expected noctule {self._version} to be installed there"
                ) from None
            raise
        finally:
            future.release()

    async def _n_threads(self) -> int:
        await self._check_connection()
        asked: Any = self._client.nthreads()
        try:
            return sum((await asyncio.wait_for(asked, _SILENCE_S)).values())
        except TimeoutError:
            raise ProtocolError(
                f"{self._address}: the Dask scheduler has been silent for {_SILENCE_S} s, "
                "expected an answer; finished runs are kept"
            ) from None
        except OSError:
            return 0

    async def _check_connection(self) -> None:
        """Wait until the client is connected again, or has given up, which it does in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * _CONNECT_S):
                while self._client.status == "connecting":
                    await asyncio.sleep(_LOOK_EVERY_S)
        if self._client.status != "running":
            raise ProtocolError(
                f"{self._address}: the Dask scheduler is gone, expected it to stay to the end; "
                "finished runs are kept"
            )

    async def _check_versions(self) -> None:
        asked: Any = self._client.run(metadata.version, "noctule", on_error="return")
        try:
            found = await asyncio.wait_for(asked, _SILENCE_S)
        except OSError:
            return
        for worker, version in found.items():
            if isinstance(version, metadata.PackageNotFoundError):
                raise self._refusal(worker, "has no noctule")
            if isinstance(version, str) and version != self._version:
                raise self._refusal(worker, f"has noctule {version}")

    def _refusal(self, worker: str, what: str) -> InputError:
        return InputError(
            f"{self._address}: the worker {worker} {what}, expected {self._version}: "
            "results would not be the same"
        )
