"""What all tests may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says more about the machine than about the code.
settings.register_profile("noctule", deadline=None)
settings.load_profile("noctule")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference material that is not part of the repository."""
    beside_the_repository = Path(__file__).parents[2] / "shared"
    path = Path(os.environ.get("NOCTULE_SHARED", beside_the_repository))
    if not (path / "traces").is_dir():
        pytest.skip(f"no reference material in {path}; NOCTULE_SHARED can name its folder")
    return path
