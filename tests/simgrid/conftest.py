"""SimGrid, where it was asked for and can be had."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from noctule.simgrid.building import SimGridMissingError
from noctule.simgrid.driver import Driver


@pytest.fixture(scope="session")
def simgrid() -> Driver:
    if os.environ.get("NOCTULE_TEST_SIMGRID") != "1":
        pytest.skip("`make test-simgrid` compares with SimGrid")
    try:
        return Driver.built()
    except SimGridMissingError as why:
        pytest.skip(str(why))


@pytest.fixture(scope="session")
def vectors() -> Path:
    """The folder of what SimGrid answered when the vectors were made."""
    path = Path(__file__).parents[1] / "vectors" / "simgrid"
    if not path.is_dir():
        shared = Path(os.environ.get("NOCTULE_SHARED", Path(__file__).parents[3] / "shared"))
        path = shared / "vectors" / "simgrid"
    if not path.is_dir():
        pytest.skip(f"no vectors in {path}; NOCTULE_SHARED can name the folder of reference data")
    return path


@pytest.fixture(scope="session")
def published(vectors: Path) -> list[dict[str, Any]]:
    return list(json.loads((vectors / "cases.json").read_text())["cases"])


@pytest.fixture(scope="session")
def published_traces(vectors: Path) -> list[dict[str, Any]]:
    return list(json.loads((vectors / "smpi-cases.json").read_text())["cases"])
