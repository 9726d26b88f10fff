"""The dictionary as a table, as JSON and as a page."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from access.console.csv_cells import csv_lines
from ranking.exports.data_dictionary.columns import Column, Table

COLUMNS = ("table", "column", "type", "unit", "values", "meaning")


def as_text(tables: Iterable[Table], form: str) -> str:
    """Return the dictionary as ``csv``, ``json`` or ``md``; KeyError for any other form."""
    ways: dict[str, Callable[[Iterable[Table]], str]] = {
        "csv": lambda found: "".join(csv_lines(as_rows(found))),
        "json": lambda found: json.dumps(as_json(found), ensure_ascii=False, indent=1) + "\n",
        "md": as_markdown,
    }
    return ways[form](tables)


def as_rows(tables: Iterable[Table]) -> Iterator[tuple[str, ...]]:
    """Return a header and one row per column of every table."""
    yield COLUMNS
    for table in tables:
        for column in table.columns:
            cells = (column.kind.value, column.unit, " ".join(column.values), column.meaning)
            yield (table.name, column.name, *cells)


def as_json(tables: Iterable[Table]) -> dict[str, Any]:
    """Return the dictionary as plain values, tables by name."""
    return {
        table.name: {
            "title": table.title,
            "row": table.row,
            "columns": [
                {
                    "name": column.name,
                    "type": column.kind.value,
                    "unit": column.unit,
                    "values": list(column.values),
                    "meaning": column.meaning,
                }
                for column in table.columns
            ],
        }
        for table in tables
    }


def as_markdown(tables: Iterable[Table]) -> str:
    """Return the dictionary as a page: a heading and a table for each."""
    return "\n".join(_section(table) for table in tables)


def _section(table: Table) -> str:
    lines = (_line(column) for column in table.columns)
    head = f"### {table.title}\n\n{table.row}\n\n| column | type | meaning |\n| --- | --- | --- |\n"
    return head + "".join(lines)


def _line(column: Column) -> str:
    kind = f"{column.kind.value}, {column.unit}" if column.unit else column.kind.value
    listed = ", ".join(f"`{value}`" for value in column.values)
    is_listed = listed and column.kind == "text"
    meaning = f"{column.meaning}: {listed}" if is_listed else column.meaning
    return f"| `{column.name}` | {kind} | {meaning} |\n"
