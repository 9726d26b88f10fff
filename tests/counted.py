"""Count what is read from the database, whatever a kind of database needs around it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

from django.db import connection
from django.test.utils import CaptureQueriesContext

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
