"""Figures for print: the tables of analyses and the leaderboard as SVG, PDF and PNG.

Drawn in two steps: a table becomes marks at places, which are plain values, and matplotlib turns
those into a file. It is loaded when a figure is drawn and not before.
"""

from collections.abc import Callable

from ranking.boards.board import Board
from ranking.figures import ratings
from ranking.figures.funnel import funnel
from ranking.figures.heat import heat
from ranking.figures.lines import lines
from ranking.figures.marks import Drawing, Mark
from ranking.figures.points import points
from ranking.figures.radar import radar
from ranking.figures.ratings import whiskers
from ranking.figures.refusing import FigureRefusedError, has_figure, refusal, refusal_of_rows
from ranking.figures.rendering import FigureFormat, FiguresBusyError, alone, rendered
from ranking.figures.sheet import Sign, sheet
from ranking.findings import Picture, Table

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


def board_drawing(board: Board, sign: Sign) -> Drawing:
    """Draw ratings with their intervals, on a page with its title and its origin.

    Raises
    ------
    FigureRefusedError
        If there are no ratings, or too many to be read in print.
    """
    if not board.rows:
        msg = "There are no ratings to draw."
        raise FigureRefusedError(msg)
    n_rows = len(board.rows) + len(board.people)
    if reason := refusal_of_rows(n_rows, Picture.WHISKERS):
        raise FigureRefusedError(reason)
    with alone():
        return sheet(ratings.ratings(board), ratings.TITLE, ratings.caption(board), sign)


_DRAWN: dict[Picture, Callable[[Table], tuple[Mark, ...]]] = {
    Picture.HEAT: heat,
    Picture.WHISKERS: whiskers,
    Picture.POINTS: points,
    Picture.LINES: lines,
    Picture.RADAR: radar,
    Picture.FUNNEL: funnel,
}
