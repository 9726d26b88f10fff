"""Pure: read what the query of an address asks of a table, and write the query that asks it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Options = TypeVar("Options", bound="DataclassInstance")


@dataclass(frozen=True)
class Column:
    """The head of a column: the order that it leads to, and how the table is sorted by it now."""

    name: str
    label: object
    sort: str
    query: str
    is_number: bool = False

    @property
    def direction(self) -> str:
        """``ascending`` or ``descending``; empty where the table is not sorted by it."""
        return {self.name: "ascending", f"-{self.name}": "descending"}.get(self.sort, "")


def sort_after_click(name: str, sort: str) -> str:
    """Return the order that the head of a column leads to: upwards, or down where it is so now."""
    return f"-{name}" if sort == name else name


def read_text(query: Mapping[str, str], name: str) -> str:
    """Return what the query says under a name, trimmed, without what no database compares with."""
    return query.get(name, "").replace("\0", "").strip()


def read_query(kind: type[Options], query: Mapping[str, str]) -> Options:
    """Return a dataclass of texts with what the query says, trimmed; what is empty is as usual."""
    given = {one.name: read_text(query, one.name) for one in fields(kind)}
    return kind(**{name: value for name, value in given.items() if value})


def write_query(options: Mapping[str, Any]) -> str:
    """Return the query that asks this, without its question mark and what is empty."""
    return urlencode({name: value for name, value in options.items() if value})
