"""What a row of a table is called in a picture."""

from ranking.figures.lettering import WORDS, clean
from ranking.findings import Cell, Column, ColumnKind, Table

ABOUT = frozenset({ColumnKind.SYSTEM, ColumnKind.EVALUATOR})


def row_names(table: Table) -> tuple[str, ...]:
    """Name each row by its systems or evaluators, else by its first words.

    Where names would be alike, all words of the rows are told. Without any words there are none.
    """
    wanted = ABOUT if any(column.kind in ABOUT for column in table.columns) else None
    names = tuple(_name(row, table.columns, wanted) for row in table.rows)
    if len(set(names)) == len(names):
        return names
    return tuple(_name(row, table.columns, WORDS) for row in table.rows)


def _name(
    row: tuple[Cell, ...], columns: tuple[Column, ...], wanted: frozenset[ColumnKind] | None
) -> str:
    if wanted is None:
        return clean(row[0]) if isinstance(row[0], str) else ""
    told = [
        clean(cell)
        for cell, column in zip(row, columns, strict=True)
        if isinstance(cell, str) and column.kind in wanted
    ]
    return ", ".join(told) if wanted is WORDS else " and ".join(told)


def places(table: Table, *keys: str) -> list[int] | None:
    """Return where the columns of these keys are, or None if one is missing."""
    known = [column.key for column in table.columns]
    return [known.index(key) for key in keys] if set(keys) <= set(known) else None
