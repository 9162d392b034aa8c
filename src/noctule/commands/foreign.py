"""Programs that are imitated: their ways to end are exit codes of their own."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import click

from noctule.batsim.options import BatsimError
from noctule.errors import DeadlockError, NoctuleError


def run_foreign(do: Callable[[], int], aborted: int, deadlock: int | None = None) -> int:
    """Do something, and return its exit code, or one for what went wrong."""
    try:
        with _ended_by_signals():
            return do()
    except BatsimError as error:
        return _fail(str(error), error.code)
    except DeadlockError as error:
        return _fail(str(error), aborted if deadlock is None else deadlock)
    except (NoctuleError, OSError) as error:
        return _fail(str(error), aborted)
    except _Terminated:
        return _fail("terminated", 128 + signal.SIGTERM)
    except KeyboardInterrupt:
        return _fail("interrupted", 128 + signal.SIGINT)


class _Terminated(KeyboardInterrupt):
    """Somebody wants the program to end: schedulers and tools do so to Batsim."""


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let a request to end come as an exception, so that what happened so far is kept."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
        raise _Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _fail(message: str, code: int) -> int:
    click.echo(f"noctule: {message}", err=True)
    return code
