"""Clusters on loopback."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which workers of `cluster` were started."""
    return tmp_path_factory.mktemp("elsewhere")


@pytest.fixture(scope="module")
def cluster(elsewhere: Path) -> Iterator[Any]:
    """Two workers, each a process with a nanny, in another folder than the tests."""
    from cluster_campaigns import local_cluster

    here = Path.cwd()
    os.chdir(elsewhere)
    try:
        started = local_cluster()
    finally:
        os.chdir(here)
    with started:
        yield started
