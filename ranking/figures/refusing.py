"""Which tables have a figure, why others have none, and what a row is called in one."""

from ranking.figures.lettering import WORDS, as_number, clean
from ranking.findings import Cell, Column, ColumnKind, Picture, Table
from ranking.plots.radar import axes_of

KEYS = {
    Picture.WHISKERS: ("low", "value", "high"),
    Picture.POINTS: ("x", "y"),
    Picture.FUNNEL: ("x", "y"),
}
MOST_ROWS = {
    Picture.HEAT: 60,
    Picture.WHISKERS: 120,
    Picture.POINTS: 1000,
    Picture.LINES: 2000,
    Picture.RADAR: 1000,  # of more than a few the first are drawn
    Picture.FUNNEL: 1000,
}
MOST_COLUMNS = {Picture.HEAT: 41, Picture.LINES: 41, Picture.RADAR: 17}
FEWEST_DOTS = 2


class FigureRefusedError(Exception):
    """There is no figure of this; the message says why."""


def has_figure(table: Table) -> bool:
    """Say whether a figure of the table can be drawn."""
    return not refusal(table)


def refusal(table: Table) -> str:
    """Return why there is no figure of a table, or nothing if there is one."""
    if table.picture is Picture.NONE or not _has_values(table):
        return "There is nothing in this table that could be drawn."
    if too_many := refusal_of_rows(len(table.rows), table.picture):
        return too_many
    most = MOST_COLUMNS.get(table.picture, len(table.columns))
    if len(table.columns) > most:
        return _too_many(len(table.columns), "columns", most)
    return ""


def refusal_of_rows(n_rows: int, picture: Picture) -> str:
    """Return why so many rows are not drawn, or nothing if they are."""
    most = MOST_ROWS[picture]
    return _too_many(n_rows, "rows", most) if n_rows > most else ""


def _too_many(n: int, what: str, most: int) -> str:
    return (
        f"This table has {n} {what}, and a figure of more than {most} could not be read in print. "
        "The table as CSV has all of them."
    )


def _has_values(table: Table) -> bool:
    """Say whether as many rows as it takes have all that one mark needs."""
    needed = _needed(table)
    known = (
        any(all(as_number(row[n]) is not None for n in some) for some in needed)
        for row in table.rows
    )
    return sum(known) >= (FEWEST_DOTS if table.picture is Picture.FUNNEL else 1)


def _needed(table: Table) -> list[list[int]]:
    """Return the sets of columns of which one, all known in a row, gives a mark."""
    if keys := KEYS.get(table.picture):
        at = places(table, *keys)
        return [at] if at else []
    if table.picture is Picture.RADAR:
        return [[n] for n in axes_of(table)]
    numbers = [n for n, one in enumerate(table.columns) if one.kind not in WORDS]
    if table.picture is Picture.HEAT:
        kind = table.columns[1].kind if len(table.columns) > 1 else None
        return [[n] for n in numbers if n and table.columns[n].kind is kind]
    across = places(table, "x")
    return [[*across, n] for n in numbers if n != across[0]] if across else []


ABOUT = frozenset({ColumnKind.SYSTEM, ColumnKind.EVALUATOR})


def row_names(table: Table) -> tuple[str, ...]:
    """Name each row by its systems or evaluators, else by its first words.

    Where names would be alike, all words of the rows are told. Without any words there are none.
    """
    kinds = ABOUT if any(column.kind in ABOUT for column in table.columns) else None
    names = tuple(_name(row, table.columns, kinds) for row in table.rows)
    if len(set(names)) == len(names):
        return names
    return tuple(_name(row, table.columns, WORDS) for row in table.rows)


def _name(
    row: tuple[Cell, ...], columns: tuple[Column, ...], kinds: frozenset[ColumnKind] | None
) -> str:
    if kinds is None:
        return clean(row[0]) if isinstance(row[0], str) else ""
    told = [
        clean(cell)
        for cell, column in zip(row, columns, strict=True)
        if isinstance(cell, str) and column.kind in kinds
    ]
    return ", ".join(told) if kinds is WORDS else " and ".join(told)


def places(table: Table, *keys: str) -> list[int] | None:
    """Return where the columns of these keys are, or None if one is missing."""
    known = [column.key for column in table.columns]
    return [known.index(key) for key in keys] if set(keys) <= set(known) else None
