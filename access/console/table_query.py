"""Pure: read what the query of an address asks of a table, and write the query that asks it."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode


def read_text(query: Mapping[str, str], name: str) -> str:
    """Return what the query says under a name, trimmed, without what no database compares with."""
    return query.get(name, "").replace("\0", "").strip()


def write_query(options: Mapping[str, Any]) -> str:
    """Return the query that asks this, without its question mark and what is empty."""
    return urlencode({name: value for name, value in options.items() if value})
