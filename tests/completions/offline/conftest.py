"""The offline provider as a server, and a connection to it."""

import http.client
from collections.abc import Iterator

import pytest

from completions import offline


@pytest.fixture
def server() -> Iterator[offline.OfflineServer]:
    with offline.running() as server:
        yield server


@pytest.fixture
def connection(server: offline.OfflineServer) -> Iterator[http.client.HTTPConnection]:
    host, port = server.server_address[:2]
    connection = http.client.HTTPConnection(str(host), int(port), timeout=20)
    yield connection
    connection.close()
