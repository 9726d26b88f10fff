"""What a leaderboard shows, as plain values."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

HEAT_STEPS = 10
WHISKER_WIDTH = 240
WHISKER_MARGIN = 8
CENTRE = 1500.0
FEW_OPPONENTS = 3.0


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
        """Say whether people wrote the completions: a row to hold the others against."""
        return self.kind != "MODEL"

    @property
    def is_human(self) -> bool:
        """Say whether the study's supporters wrote the completions."""
        return self.kind == "HUMAN"

    @property
    def win_rate(self) -> float:
        """Return the share of judgments won, a tie counting half, in per cent."""
        return 100.0 * (self.wins + self.ties / 2) / self.n_judgments

    @property
    def rank_text(self) -> str:
        """Return the interval of ranks, or the rank when only one is left."""
        low, high = self.rank_low, self.rank_high
        return str(low) if low == high else f"{low}\N{EN DASH}{high}"


@dataclass(frozen=True)
class PeopleRow:
    """A system made from people's texts, on the scale of the table; it is no system of its own.

    ``n_contexts`` of ``contexts`` have a say in it; both may be means over splits.
    """

    kind: str
    name: str
    elo: float
    elo_se: float
    elo_low: float
    elo_high: float
    n_judgments: int
    n_contexts: int
    contexts: int
    opponents_per_text: float
    whisker: Whisker

    @property
    def is_optimistic(self) -> bool:
        """Say whether its texts were chosen by the judgments that score them."""
        return self.kind == "BEST_PLAIN"

    @property
    def has_little_to_choose_by(self) -> bool:
        """Say whether texts met so few systems that a cross-fitted choice is hardly one."""
        return self.kind == "BEST_CROSS_FITTED" and self.opponents_per_text < FEW_OPPONENTS


@dataclass(frozen=True)
class PeopleRefusal:
    """A system made from people's texts that could not be rated, and why."""

    kind: str
    name: str
    reason: str


@dataclass(frozen=True)
class Conditions:
    """The terms on which the ratings of a fit hold; never shown without them."""

    pool: str
    context_set: str
    as_of: dt.datetime
    n_judgments: int
    n_dialogues: int
    n_raters: int
    judges: tuple[str, ...]
    is_simulated: bool
    has_simulated_evaluators: bool
    has_simulated_contexts: bool
    slightly: int
    much: int
    replicates: int
    replicates_without_maximum: int
    seed: int
    warnings: tuple[str, ...]
    inputs_hash: str
    protocol_hash: str
    plan: str
    code_version: str


@dataclass(frozen=True)
class Board:
    """The ratings of one fit, or why there are none, with the conditions."""

    study: str
    title: str
    key: str
    refusal: str
    components: tuple[tuple[str, ...], ...]
    conditions: Conditions
    rows: tuple[BoardRow, ...]
    people: tuple[PeopleRow, ...] = ()
    people_refused: tuple[PeopleRefusal, ...] = ()

    @property
    def has_human_baseline(self) -> bool:
        """Say whether completions written for the study by people are among the systems."""
        return any(row.is_human for row in self.rows)

    @property
    def dimensions(self) -> tuple[DimensionShare, ...]:
        """Return the dimensions that have a column, as the first row has them."""
        return self.rows[0].dimensions if self.rows else ()


def whiskers(intervals: Sequence[tuple[float, float, float]]) -> list[Whisker]:
    """Place (low, middle, high) intervals and the centre on one common scale."""
    lowest = min((low for low, _, _ in intervals), default=CENTRE)
    highest = max((high for _, _, high in intervals), default=CENTRE)
    scale = (WHISKER_WIDTH - 2 * WHISKER_MARGIN) / max(highest - lowest, 1.0)

    def place(points: float) -> float:
        return round(WHISKER_MARGIN + scale * (points - lowest), 1)

    return [Whisker(place(a), place(b), place(c), place(CENTRE)) for a, b, c in intervals]
