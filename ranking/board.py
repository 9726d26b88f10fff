"""What a leaderboard shows, as plain values, and how it reads as text."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

HEAT_STEPS = 10
WHISKER_WIDTH = 240
WHISKER_MARGIN = 8
CENTRE = 1500.0


@dataclass(frozen=True)
class Whisker:
    """Where an interval is drawn, in the units of a picture `WHISKER_WIDTH` wide."""

    low: float
    middle: float
    high: float
    centre: float


@dataclass(frozen=True)
class DimensionShare:
    """The share of marks won on one dimension, in per cent; nothing when there are no marks."""

    key: str
    name: str
    per_cent: float | None
    n_marks: int

    @property
    def heat(self) -> str:
        """Return the shade of the cell: the tens of its per cent."""
        if self.per_cent is None:
            return ""
        return f"h{min(HEAT_STEPS - 1, int(self.per_cent // HEAT_STEPS))}"


@dataclass(frozen=True)
class BoardRow:
    """One system on a leaderboard; Elo figures are in points, shares in per cent."""

    slug: str
    name: str
    kind: str
    is_simulated: bool
    elo: float
    elo_se: float
    elo_low: float
    elo_high: float
    rank: int
    rank_low: int
    rank_high: int
    n_judgments: int
    wins: int
    losses: int
    ties: int
    dimensions: tuple[DimensionShare, ...]
    whisker: Whisker

    @property
    def is_baseline(self) -> bool:
        """Say whether people wrote the completions: the row to hold the others against."""
        return self.kind != "MODEL"

    @property
    def win_rate(self) -> float:
        """Return the share of judgments won, a tie counting half, in per cent."""
        return 100.0 * (self.wins + self.ties / 2) / self.n_judgments

    @property
    def rank_text(self) -> str:
        """Return the interval of ranks, or the rank when only one is left."""
        low, high = self.rank_low, self.rank_high
        return str(low) if low == high else f"{low}\N{EN DASH}{high}"

    @property
    def label(self) -> str:
        """Return the name, saying "simulated" if it does not say so itself."""
        says_so = "simulated" in self.name.casefold()
        return self.name if says_so or not self.is_simulated else f"{self.name} (simulated)"


@dataclass(frozen=True)
class Board:
    """The ratings of one fit and the terms on which they hold."""

    study: str
    title: str
    key: str
    pool: str
    context_set: str
    state: str
    as_of: dt.datetime
    refusal: str
    components: tuple[tuple[str, ...], ...]
    is_simulated: bool
    n_judgments: int
    n_dialogues: int
    n_raters: int
    judges: tuple[str, ...]
    has_simulated_evaluators: bool
    method: dict[str, object]
    replicates_without_maximum: int
    warnings: tuple[str, ...]
    inputs_hash: str
    protocol_hash: str
    code_version: str
    rows: tuple[BoardRow, ...]

    @property
    def has_human_baseline(self) -> bool:
        """Say whether completions written for the study by people are among the systems."""
        return any(row.kind == "HUMAN" for row in self.rows)

    @property
    def dimensions(self) -> tuple[DimensionShare, ...]:
        """Return the dimensions that have a column, as the first row has them."""
        return self.rows[0].dimensions if self.rows else ()


def whiskers(intervals: Sequence[tuple[float, float, float]]) -> list[Whisker]:
    """Place (low, middle, high) intervals and the centre on one common scale."""
    lowest = min(CENTRE, *(low for low, _, _ in intervals))
    highest = max(CENTRE, *(high for _, _, high in intervals))
    scale = (WHISKER_WIDTH - 2 * WHISKER_MARGIN) / max(highest - lowest, 1.0)

    def place(points: float) -> float:
        return round(WHISKER_MARGIN + scale * (points - lowest), 1)

    return [Whisker(place(a), place(b), place(c), place(CENTRE)) for a, b, c in intervals]


def as_text(board: Board) -> str:
    """Write a leaderboard as lines of text for a terminal."""
    lines = [f"{board.title}: {board.pool.lower()}, {board.context_set.lower()} contexts"]
    if board.is_simulated:
        lines.append("Some systems or judges are simulated: these scores mean nothing.")
    if board.refusal:
        return "\n".join([*lines, board.refusal, *(", ".join(c) for c in board.components)])
    width = max(len(row.label) for row in board.rows)
    keys = [share.key for share in board.dimensions]
    heads = [f"{'Rank':>7}  {'System':<{width}}  {'Elo':>5}  {'95 % interval':>13}  {'Win %':>5}"]
    lines.append("  ".join(heads + [f"{key:>4}" for key in keys]))
    lines += [_line(row, width) for row in board.rows]
    lines += board.warnings
    return "\n".join(lines)


def _line(row: BoardRow, width: int) -> str:
    interval = f"{row.elo_low:.0f} to {row.elo_high:.0f}"
    shares = [f"{'-' if d.per_cent is None else f'{d.per_cent:.0f}':>4}" for d in row.dimensions]
    cells = [
        f"{row.rank_text:>7}",
        f"{row.label:<{width}}",
        f"{row.elo:>5.0f}",
        f"{interval:>13}",
        f"{row.win_rate:>5.1f}",
    ]
    return "  ".join(cells + shares)
