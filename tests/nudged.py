"""What workers are told in a test, whose own transaction never ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from django.db import connection
from django.test import TestCase

from access import nudges
from access.nudges import Work


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
