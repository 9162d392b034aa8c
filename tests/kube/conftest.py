"""An API that is served, and a client of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from served_api import ServedApi, served
from tiny_client import TinyClient


@pytest.fixture
def api() -> Iterator[ServedApi]:
    with served() as running:
        yield running


@pytest.fixture
def client(api: ServedApi) -> Iterator[TinyClient]:
    client = TinyClient(api.server.port)
    yield client
    client.close()
