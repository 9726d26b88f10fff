"""Findings without single people in them: who may see whom, and what is shown instead."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from django.utils.translation import ngettext

from ranking.findings import Cell, Column, ColumnKind, Table
from ranking.report.rendered.cells import as_number
from ranking.report.rendered.values import Names

FEWEST_TOGETHER = 5  # fewer people would see themselves in a median
Row = tuple[Cell, ...]


def public_table(table: Table, names: Names) -> tuple[Table, int]:
    """Return the table as this reader may have it, and how many people are not shown alone.

    Rows about one person each become a row of medians, if it is of enough people; columns about
    one person are left out.
    """
    kept = [n for n, one in enumerate(table.columns) if not names.is_hidden_column(one.key)]
    table = replace(
        table,
        title=names.without_people(table.title),
        caption=names.without_people(table.caption),
        columns=tuple(table.columns[n] for n in kept),
        rows=tuple(tuple(_clean(row[n], names) for n in kept) for row in table.rows),
    )
    about = [n for n, one in enumerate(table.columns) if one.kind is ColumnKind.EVALUATOR]
    rows, hidden = list[Row](), list[Row]()
    for row in table.rows:
        is_hidden = any(names.is_hidden(row[n]) for n in about)
        (hidden if is_hidden else rows).append(row)
    n_people = len({tuple(row[n] for n in about) for row in hidden})
    if n_people >= FEWEST_TOGETHER and len(about) == 1 and n_people == len(hidden):
        rows.append(_together(table.columns, hidden))
    return replace(table, rows=tuple(rows)), n_people


def _clean(cell: Cell, names: Names) -> Cell:
    """Take pseudonyms out of words; a cell that is a pseudonym alone is about that person."""
    is_words = isinstance(cell, str) and cell not in names.people
    return names.without_people(str(cell)) if is_words else cell


def _together(columns: Sequence[Column], rows: Sequence[Row]) -> Row:
    """Return one row of medians for rows about people."""
    text = ngettext("%(n)d person, median", "%(n)d people, median", len(rows)) % {"n": len(rows)}
    return tuple(
        text if column.kind is ColumnKind.EVALUATOR else _median([row[n] for row in rows])
        for n, column in enumerate(columns)
    )


def _median(cells: Sequence[Cell]) -> float | None:
    numbers = [number for number in map(as_number, cells) if number is not None]
    return median(numbers) if numbers else None
