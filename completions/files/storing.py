"""What every import that stores rows needs: batches for queries, and one way to say it changed."""

import itertools
from collections.abc import Iterable, Iterator
from typing import TypeVar

BATCH = 500
"""Rows per query: fewer than the variables that any database takes."""

Item = TypeVar("Item")


class OutcomeChangedError(Exception):
    """The import would end otherwise than it was shown; nothing is stored."""


def batches(items: Iterable[Item], size: int = BATCH) -> Iterator[list[Item]]:
    """Yield so many items at once as one query takes."""
    items = iter(items)
    while batch := list(itertools.islice(items, size)):
        yield batch
