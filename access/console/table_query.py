"""Pure: read what the query of an address asks of a table, and write the query that asks it."""

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Options = TypeVar("Options", bound="DataclassInstance")


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
