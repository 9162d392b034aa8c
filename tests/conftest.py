"""What all tests may use."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says more about the machine than about the code. `make test` looks at
# some examples of each property, `make test-slow` at many (--hypothesis-profile thorough).
settings.register_profile("some", deadline=None, max_examples=40)
settings.register_profile("thorough", deadline=None, max_examples=100)
settings.load_profile("some")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference material that is not part of the repository."""
    beside_the_repository = Path(__file__).parents[2] / "shared"
    path = Path(os.environ.get("NOCTULE_SHARED", beside_the_repository))
    if not (path / "traces").is_dir():
        pytest.skip(f"no reference material in {path}; NOCTULE_SHARED can name its folder")
    return path


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let SIGINT mean what it usually does, here and in programs that are started meanwhile.

    Libraries change that, and in the background of a shell it is ignored.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
