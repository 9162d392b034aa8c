"""An API in front of a store, served by a loop in a thread of the test's own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from noctule.kube.api import Api
from noctule.kube.http import Server
from noctule.kube.store import Store

T = TypeVar("T")

START = 1577836800.0  # 2020-01-01T00:00:00Z


class ServedApi:
    def __init__(self, loop: asyncio.AbstractEventLoop, store: Store, server: Server) -> None:
        self.loop = loop
        self.store = store
        self.server = server

    def call(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Call a function in the thread of the server."""

        async def run() -> T:
            return function(*arguments, **named)

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result(10)


@contextmanager
def served(
    store: Store | None = None, token: str | None = None, watch_lists: bool = True, **limits: Any
) -> Iterator[ServedApi]:
    store = store or Store(now=lambda: START)
    loop = asyncio.new_event_loop()
    server = Server(Api(store, watch_lists=watch_lists), token, **limits)
    loop.run_until_complete(server.start())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield ServedApi(loop, store, server)
        failure = server.failure
    finally:
        asyncio.run_coroutine_threadsafe(server.close(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
    assert failure is None, failure
