"""The leaderboard: ratings with both of their intervals, tier by tier."""

from ranking.boards.board import Board
from ranking.figures.colours import BLUE, PALE
from ranking.figures.marks import QUIET, Block, Mark, Spot, Stroke, Words
from ranking.figures.sheet import extent
from ranking.figures.whiskers import Group, Line, intervals
from ranking.findings import Column, ColumnKind

ELO = Column("elo", "Elo", ColumnKind.ELO)
PEOPLE = "Made from people's texts"
TITLE = "Ratings with intervals"
SCALE = "Bradley-Terry ratings in Elo points; the mean of the systems is 1500 (dashed)."
TIERS = "Systems of one tier are not told apart."
DERIVED = "Hollow dots are no systems: they are made from people's texts, on the same scale."

IMPLIED = "Nobody compared messages: pairs are implied by the points that evaluators gave them."


def caption(board: Board) -> str:
    """Return how to read the picture, and of which judgments it is."""
    terms = board.conditions
    parts = [
        SCALE,
        *([TIERS] if board.has_tiers else []),
        *([DERIVED] if board.people else []),
        *([IMPLIED] if board.is_implied else []),
        f"{terms.pool}, {terms.context_set.lower()}:",
        f"{terms.n_judgments} judgments on {terms.n_dialogues} source dialogues.",
    ]
    return " ".join(parts)


def ratings(board: Board) -> tuple[Mark, ...]:
    """Draw the systems by tier, and below them what is made from people's texts."""
    groups = [
        Group(
            f"Tier {tier.number}" if tier.number is not None else "",
            tuple(Line(row.name, row.interval) for row in tier.rows),
        )
        for tier in board.tiers
    ]
    if board.people:
        lines = tuple(Line(one.name, one.interval, is_derived=True) for one in board.people)
        groups.append(Group(PEOPLE, lines))
    marks = intervals(groups, ELO)
    return (*marks, *_key(board, extent(marks)[3] + 9.0))


def _key(board: Board, y: float) -> tuple[Mark, ...]:
    """Say what the dark and the pale line are."""
    marks: list[Mark] = [
        Stroke(((0.0, y), (16.0, y)), BLUE, 1.1),
        Spot(8.0, y, colour=BLUE),
        Words("95 % interval of one system", 20.0, y + 2.4, 6.0, colour=QUIET),
    ]
    if board.has_joint_intervals:
        marks += [
            Block(124.0, y - 2.5, 16.0, 5.0, PALE),
            Words("of all systems at once", 144.0, y + 2.4, 6.0, colour=QUIET),
        ]
    return tuple(marks)
