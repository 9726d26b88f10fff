"""Figures for print: the tables of analyses and the leaderboard as SVG, PDF and PNG.

Drawn in two steps: a table becomes marks at places, which are plain values, and matplotlib turns
those into a file. It is loaded when a figure is drawn and not before.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ranking.figures.heat import heat
from ranking.figures.marks import (
    END,
    INK,
    LEADING,
    QUIET,
    START,
    Drawing,
    Mark,
    Words,
    extent,
    moved,
    width,
    wrapped,
)
from ranking.figures.planes import funnel, lines, points
from ranking.figures.radar import radar
from ranking.figures.ratings import TITLE, Group, ratings, whiskers
from ranking.figures.rendering import FigureFormat, FiguresBusyError, alone, rendered
from ranking.findings import Picture, Table
from ranking.plots.radar import axes_of
from ranking.plots.tables import FEWEST_DOTS, alike, as_number, places

__all__ = [
    "FigureFormat",
    "FigureRefusedError",
    "FiguresBusyError",
    "Sign",
    "board_drawing",
    "has_figure",
    "rendered",
    "table_drawing",
]

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
    numbers = [n for n, one in enumerate(table.columns) if not one.kind.is_words]
    if table.picture is Picture.HEAT:
        return [[n] for n in alike(table)[1] if n in numbers]
    across = places(table, "x")
    return [[*across, n] for n in numbers if n != across[0]] if across else []


MARGIN = 8.0
GAP = 8.0
COLUMN = 252.0  # 3.5 inches: one column of a journal
HEAD, CAPTION, SOURCE = 8.5, 6.5, 5.5
SIMULATED = "SIMULATED"
PURPOSES = {True: "exploratory", False: "confirmatory"}


@dataclass(frozen=True)
class Sign:
    """Where a figure comes from: what must be on it when it is found alone.

    ``is_exploratory`` is None for ratings, which are what a study is for.
    """

    study: str
    fit: str
    as_of: dt.datetime
    is_simulated: bool
    is_exploratory: bool | None = None
    is_embargoed: bool = False

    @property
    def text(self) -> str:
        """Return all of it on one line."""
        parts = [
            *(["embargoed: for the study's team alone"] if self.is_embargoed else []),
            *(["simulated data"] if self.is_simulated else []),
            *([] if self.is_exploratory is None else [PURPOSES[self.is_exploratory]]),
            self.study,
            f"fit {self.fit}",
            f"as of {self.as_of:%Y-%m-%d %H:%M %Z}".strip(),
        ]
        return " · ".join(parts)


def sheet(body: Sequence[Mark], title: str, caption: str, sign: Sign) -> Drawing:
    """Put a picture under its title, above its caption and its origin."""
    left, top, right, bottom = extent(body)
    across = max(COLUMN - 2 * MARGIN, right - left)
    tag, room = _tag(across, sign)
    head, high = _paragraph(title, room, HEAD, INK, is_bold=True)
    y = high + GAP
    marks = [*head, *tag, *moved(body, -left, y - top)]
    y += bottom - top + GAP
    for text, size in ((caption, CAPTION), (sign.text, SOURCE)):
        lines, high = _paragraph(text, across, size, QUIET)
        marks += moved(lines, 0.0, y)
        y += high + 2.0
    return Drawing(
        width=across + 2 * MARGIN,
        height=y + 2 * MARGIN - 2.0,
        marks=moved(marks, MARGIN, MARGIN),
        title=f"{title} ({sign.text})",
        stamp=SIMULATED.lower() if sign.is_simulated else "",
    )


def _tag(across: float, sign: Sign) -> tuple[tuple[Mark, ...], float]:
    """Return the word for simulated data in the corner, and the room beside it."""
    if not sign.is_simulated:
        return (), across
    words = Words(SIMULATED, across, 0.78 * HEAD, CAPTION, END, QUIET, is_bold=True)
    return (words,), across - width(SIMULATED, CAPTION, is_bold=True) - GAP


def _paragraph(
    text: str, across: float, size: float, colour: str, *, is_bold: bool = False
) -> tuple[list[Mark], float]:
    """Return text broken into lines, and how high it is."""
    lines = wrapped(text, across, size, is_bold=is_bold) if text else ()
    marks: list[Mark] = [
        Words(line, 0.0, (0.78 + place * LEADING) * size, size, START, colour, is_bold=is_bold)
        for place, line in enumerate(lines)
    ]
    return marks, len(lines) * LEADING * size


def table_drawing(table: Table, sign: Sign) -> Drawing:
    """Draw the picture that a table asks for, on a page with its title and its origin.

    Raises
    ------
    FigureRefusedError
        If the table asks for none, has nothing to draw, or is too large to be read in print.
    """
    if reason := refusal(table):
        raise FigureRefusedError(reason)
    with alone():
        return sheet(_DRAWN[table.picture](table), table.title, table.caption, sign)


def board_drawing(groups: Sequence[Group], caption: str, sign: Sign) -> Drawing:
    """Draw groups of ratings with their intervals, on a page with its title and its origin.

    Raises
    ------
    FigureRefusedError
        If there are no ratings, or too many to be read in print.
    """
    lines = [line for _, group in groups for line in group]
    if all(line.is_derived for line in lines):
        msg = "There are no ratings to draw."
        raise FigureRefusedError(msg)
    if reason := refusal_of_rows(len(lines), Picture.WHISKERS):
        raise FigureRefusedError(reason)
    with alone():
        return sheet(ratings(groups), TITLE, caption, sign)


_DRAWN: dict[Picture, Callable[[Table], tuple[Mark, ...]]] = {
    Picture.HEAT: heat,
    Picture.WHISKERS: whiskers,
    Picture.POINTS: points,
    Picture.LINES: lines,
    Picture.RADAR: radar,
    Picture.FUNNEL: funnel,
}
