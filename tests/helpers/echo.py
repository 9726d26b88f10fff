"""A WSGI application that says what reached it, for tests of the web server of a deployment."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

SECRET = "what-she-told-nobody-else"
PIECE = b"x" * 100_000


class Closing:
    """An answer in pieces that tells on standard output that it was closed."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def close(self) -> None:
        sys.stdout.write('{"message": "closed"}\n')
        sys.stdout.flush()


def application(environ: dict[str, Any], start: Callable[..., object]) -> Iterable[bytes]:
    """Answer with the request; fail at ``/failing/...``; send without an end at ``/endless``."""
    path = environ["PATH_INFO"]
    if path.startswith("/failing/"):
        raise ValueError
    if path == "/endless":
        start("200 OK", [("Content-Type", "text/plain")])
        return Closing(iter(lambda: PIECE, b""))
    size = len(environ["wsgi.input"].read())
    told = {name: value for name, value in environ.items() if isinstance(value, str)}
    body = json.dumps(told | {"size": size}).encode()
    start("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]
