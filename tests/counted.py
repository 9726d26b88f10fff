"""Count what is read from the database, whatever a kind of database needs around it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection
from django.test.utils import CaptureQueriesContext

READS = ("SELECT", "COPY")  # and neither savepoints nor settings


@dataclass
class Reads:
    """How many queries read something, once the block is over."""

    n: int = 0


@contextmanager
def counted_reads() -> Iterator[Reads]:
    """Count the queries of a block that read rows."""
    reads = Reads()
    with CaptureQueriesContext(connection) as asked:
        yield reads
    reads.n = sum(query["sql"].startswith(READS) for query in asked)
