"""What all tests may use."""

from __future__ import annotations

import os
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
