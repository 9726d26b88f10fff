"""Small instruments: counted queries, sent nudges, virtual time, codes of an app."""

import asyncio
import base64
import hashlib
import hmac
import selectors
import struct
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from unittest.mock import patch

from django.db import connection
from django.test import TestCase
from django.test.utils import CaptureQueriesContext

from access import nudges
from access.nudges import Work
from ranking.judgments.frames import integers

READS = ("SELECT", "COPY")  # and neither savepoints nor settings


@dataclass
class Reads:
    """How many queries read something, once the block is over."""

    n: int = 0


@contextmanager
def counted_reads() -> Iterator[Reads]:
    """Count the queries of a block that read rows, those past Django's log of queries too."""
    reads = Reads()
    past_the_log = patch.object(integers, "_gathered", wraps=integers._gathered)
    with past_the_log as gathered, CaptureQueriesContext(connection) as asked:
        yield reads
    reads.n = sum(query["sql"].startswith(READS) for query in asked) + gathered.call_count


@contextmanager
def nudged() -> Iterator[list[Work]]:
    """Commit what the block does, and collect the nudges that are sent for it."""
    sent: list[Work] = []
    nudges.sender.forget()
    connection.run_on_commit.clear()  # what came before the block is committed
    with (
        patch.object(nudges, "publish", lambda work, _within_s: sent.append(work)),
        TestCase.captureOnCommitCallbacks(execute=True),
    ):
        yield sent


Returned = TypeVar("Returned")


class _NoWaiting(selectors.SelectSelector):
    """Instead of waiting for something to happen, pass the time that would have gone by."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            msg = "Everybody waits and nothing will ever happen."
            raise AssertionError(msg)
        self.now += timeout
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _NoWaiting()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now


def run(main: Coroutine[Any, Any, Returned]) -> Returned:
    """Run a coroutine; ``now`` and ``asyncio.sleep`` inside it go by the virtual clock."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(main)


def now() -> float:
    """Return the time of the running loop."""
    return asyncio.get_running_loop().time()


STEP = 30


def code_of(secret: str, *, steps: int = 0, at: float | None = None) -> str:
    """Return the code of a key in base 32, now or ``at`` seconds since 1970, ``steps`` later."""
    counter = int((time.time() if at is None else at) // STEP) + steps
    digest = hmac.new(base64.b32decode(secret), struct.pack(">Q", counter), hashlib.sha1).digest()
    start = digest[-1] & 0x0F
    number = struct.unpack(">I", digest[start : start + 4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"
