"""What is said of a column and of a table, and the dictionary as a table, JSON and a page."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from access.console.csv_cells import csv_lines

PER_DIMENSION = "<dimension>"


class Kind(StrEnum):
    """Which type the values of a column have; any may be missing."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    TIME = "time"
    JSON = "json"


@dataclass(frozen=True)
class ExportColumn:
    """One column of an export.

    ``values`` lists what may stand in it, where that is a list; ``unit`` is of a number. A
    ``name`` that ends in ``<dimension>`` stands for one column per dimension of the rubric.
    """

    name: str
    kind: Kind
    meaning: str
    values: tuple[str, ...] = ()
    unit: str = ""
    shows_system: bool = False

    def of(self, dimensions: Sequence[str]) -> tuple["ExportColumn", ...]:
        """Return the columns of a study with these dimensions that it stands for."""
        if not self.name.endswith(PER_DIMENSION):
            return (self,)
        stem = self.name.removesuffix(PER_DIMENSION)
        return tuple(replace(self, name=f"{stem}{key}") for key in dimensions)


@dataclass(frozen=True)
class ExportTable:
    """One export: its name in addresses, what a row is, and its columns in order."""

    name: str
    title: str
    row: str
    columns: tuple[ExportColumn, ...]
    is_nested: bool = False

    def of(
        self, dimensions: Sequence[str] = (), *, without: Collection[str] = ()
    ) -> tuple[ExportColumn, ...]:
        """Return the columns of a study with these dimensions, without some."""
        kept = (column for column in self.columns if column.name not in without)
        return tuple(one for column in kept for one in column.of(dimensions))


def text(name: str, meaning: str, *values: str) -> ExportColumn:
    """Return a column of text."""
    return ExportColumn(name, Kind.TEXT, meaning, values)


def flag(name: str, meaning: str) -> ExportColumn:
    """Return a column of yes and no."""
    return ExportColumn(name, Kind.BOOLEAN, meaning, ("true", "false"))


def count(name: str, meaning: str, *, unit: str = "") -> ExportColumn:
    """Return a column of whole numbers."""
    return ExportColumn(name, Kind.INTEGER, meaning, unit=unit)


def number(name: str, meaning: str, *, unit: str) -> ExportColumn:
    """Return a column of numbers."""
    return ExportColumn(name, Kind.NUMBER, meaning, unit=unit)


def nested(name: str, meaning: str) -> ExportColumn:
    """Return a column of lists."""
    return ExportColumn(name, Kind.JSON, meaning)


def time(name: str, meaning: str) -> ExportColumn:
    """Return a column of times."""
    return ExportColumn(name, Kind.TIME, meaning, unit="UTC, ISO 8601")


def system(name: str, meaning: str, *values: str) -> ExportColumn:
    """Return a column of text that says which system it was."""
    return ExportColumn(name, Kind.TEXT, meaning, values, shows_system=True)


STUDY_COLUMNS = (
    text("study", "slug of the study"),
    flag("is_simulated_study", "the study's raters are programs"),
)


COLUMNS = ("table", "column", "type", "unit", "values", "meaning")


def as_text(tables: Iterable[ExportTable], form: str) -> str:
    """Return the dictionary as ``csv``, ``json`` or ``md``; KeyError for any other form."""
    ways: dict[str, Callable[[Iterable[ExportTable]], str]] = {
        "csv": lambda found: "".join(csv_lines(as_rows(found))),
        "json": lambda found: json.dumps(as_json(found), ensure_ascii=False, indent=1) + "\n",
        "md": as_markdown,
    }
    return ways[form](tables)


def as_rows(tables: Iterable[ExportTable]) -> Iterator[tuple[str, ...]]:
    """Return a header and one row per column of every table."""
    yield COLUMNS
    for table in tables:
        for column in table.columns:
            cells = (column.kind.value, column.unit, " ".join(column.values), column.meaning)
            yield (table.name, column.name, *cells)


def as_json(tables: Iterable[ExportTable]) -> dict[str, Any]:
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


def as_markdown(tables: Iterable[ExportTable]) -> str:
    """Return the dictionary as a page: a heading and a table for each."""
    return "\n".join(_section(table) for table in tables)


def _section(table: ExportTable) -> str:
    lines = (_line(column) for column in table.columns)
    head = f"### {table.title}\n\n{table.row}\n\n| column | type | meaning |\n| --- | --- | --- |\n"
    return head + "".join(lines)


def _line(column: ExportColumn) -> str:
    kind = f"{column.kind.value}, {column.unit}" if column.unit else column.kind.value
    listed = ", ".join(f"`{value}`" for value in column.values)
    is_listed = listed and column.kind == "text"
    meaning = f"{column.meaning}: {listed}" if is_listed else column.meaning
    return f"| `{column.name}` | {kind} | {meaning} |\n"
