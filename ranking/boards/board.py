"""What a leaderboard shows, as plain values and as text, with links to the analyses of its fit."""

import datetime as dt
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import NamedTuple

from ranking.plots.scales import Interval, Tick, Whisker


@dataclass(frozen=True)
class AnalysisLink:
    """One analysis of the fit of that name, what it asks, and where it stands.

    ``state`` is one of `FitState`; ``is_exploratory`` says that the study's file did not name it
    before the judgments were seen.
    """

    fit: str
    slug: str
    label: str
    question: str
    state: str
    is_exploratory: bool = True

    @property
    def is_running(self) -> bool:
        """Say whether it is still being computed."""
        return self.state == "RUNNING"

    @property
    def is_refused(self) -> bool:
        """Say whether the judgments do not allow it."""
        return self.state == "REFUSED"


HEAT_STEPS = 10
CENTRE = 1500.0
FEW_OPPONENTS = 3.0
N_COLUMNS = 6  # beside the dimensions


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
    whisker: Whisker | None = None
    tier: int | None = None
    joint_low: float | None = None
    joint_high: float | None = None
    sandwich_se: float | None = None

    @property
    def interval(self) -> Interval:
        """Return the rating with both of its intervals."""
        return Interval(self.elo_low, self.elo, self.elo_high, self.joint_low, self.joint_high)

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
    opponents_per_text: float | None
    whisker: Whisker | None = None

    @property
    def interval(self) -> Interval:
        """Return the rating with its interval."""
        return Interval(self.elo_low, self.elo, self.elo_high)

    @property
    def is_optimistic(self) -> bool:
        """Say whether its texts were chosen by the judgments that score them."""
        return self.kind == "BEST_PLAIN"

    @property
    def has_little_to_choose_by(self) -> bool:
        """Say whether texts met so few systems that a cross-fitted choice is hardly one."""
        n = self.opponents_per_text
        return self.kind == "BEST_CROSS_FITTED" and n is not None and n < FEW_OPPONENTS


@dataclass(frozen=True)
class PeopleRefusal:
    """A system made from people's texts that could not be rated, and why."""

    kind: str
    name: str
    reason: str


@dataclass(frozen=True)
class Joining:
    """A judgment that would join groups of systems, by names: a share for winner against loser.

    Where the groups never met (``is_either_way``), each of the two needs a share.
    """

    winner: str
    loser: str
    is_either_way: bool


class Missing(NamedTuple):
    """What a board has too few of, by a name, and how many its study wants."""

    what: str
    n: int
    wanted: int


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
    """The ratings of one fit, or why there are none, with the conditions.

    Where something is ``missing``, no system is ranked. They are ``is_implied`` where nobody
    compared messages: each was rated alone, and pairs follow from points. While they are
    ``is_embargoed`` they are for the study's team alone.
    """

    study: str
    title: str
    key: str
    refusal: str
    components: tuple[tuple[str, ...], ...]
    conditions: Conditions
    rows: tuple[BoardRow, ...]
    people: tuple[PeopleRow, ...] = ()
    people_refused: tuple[PeopleRefusal, ...] = ()
    ticks: tuple[Tick, ...] = ()
    joining: tuple[Joining, ...] = ()
    analyses: tuple[AnalysisLink, ...] = ()
    missing: tuple[Missing, ...] = ()
    is_implied: bool = False
    is_embargoed: bool = False

    @property
    def leading(self) -> tuple[str, ...]:
        """Return the names of the systems that nothing sets apart from the first; of one, none."""
        if not self.has_tiers or len(self.rows) == 1:
            return ()
        return tuple(row.name for row in self.rows if self._is_leading(row))

    @property
    def behind(self) -> tuple[str, ...]:
        """Return the names of the systems that the intervals set apart from the first."""
        if not self.leading:
            return ()
        return tuple(row.name for row in self.rows if not self._is_leading(row))

    def _is_leading(self, row: BoardRow) -> bool:
        """Say whether neither tiers nor ranks, which may tell more, set it apart from the first."""
        first = self.rows[0]
        return row.tier == first.tier and row.rank_low <= first.rank_high

    @property
    def has_human_baseline(self) -> bool:
        """Say whether completions written for the study by people are among the systems."""
        return any(row.is_human for row in self.rows)

    @property
    def dimensions(self) -> tuple[DimensionShare, ...]:
        """Return the dimensions that have a column, as the first row has them."""
        return self.rows[0].dimensions if self.rows else ()

    @property
    def n_columns(self) -> int:
        """Return how many columns the table has."""
        return N_COLUMNS + len(self.dimensions)

    @property
    def tiers(self) -> tuple[tuple[int | None, tuple[BoardRow, ...]], ...]:
        """Return the number of each tier with its rows, the first tier first.

        Systems of a tier are not set apart from the best of them. Fits made before there were
        tiers have one without a number.
        """
        groups = groupby(self.rows, key=lambda row: row.tier)
        return tuple((number, tuple(rows)) for number, rows in groups)

    @property
    def has_tiers(self) -> bool:
        """Say whether the fit sorted its systems into tiers."""
        return any(row.tier is not None for row in self.rows)

    @property
    def has_joint_intervals(self) -> bool:
        """Say whether there are intervals that hold for all systems at once."""
        return any(row.joint_low is not None for row in self.rows)

    @property
    def sandwich_per_cent(self) -> float | None:
        """Return the closed-form error as a share of the bootstrap's, their median in per cent."""
        shares = [
            100.0 * row.sandwich_se / row.elo_se
            for row in self.rows
            if row.sandwich_se is not None and row.elo_se > 0
        ]
        return median(shares) if shares else None


CAUTION = "Scores say how supportive short replies were perceived to be; they certify no safety."
SIMULATED = "Some systems, judges or dialogues are simulated: scores say nothing of real ones."

IMPLIED = (
    "Nobody compared messages: pairs are implied by points that one evaluator gave two of them."
)


def as_text(board: Board) -> str:
    """Write the board, its conditions first."""
    terms = board.conditions
    lines = [
        f"{board.title} ({board.study}): {terms.pool}, {terms.context_set.lower()}",
        f"{terms.n_judgments} judgments on {terms.n_dialogues} source dialogues, fit {board.key}",
        CAUTION,
    ]
    if terms.is_simulated:
        lines.append(SIMULATED)
    if board.is_implied:
        lines.append(IMPLIED)
    lines.append("")
    return "\n".join([*lines, *_ranked_lines(board), *_people_lines(board), *terms.warnings])


def _ranked_lines(board: Board) -> list[str]:
    if board.refusal:
        return [board.refusal, *(f"  {', '.join(group)}" for group in board.components)]
    width = max(len(_label(row)) for row in board.rows)
    heads = ["   Rank", f"{'System':<{width}}", "  Elo", "95 % interval", "Win %"]
    heads += [f"{dimension.key:>4}" for dimension in board.dimensions]
    return ["  ".join(heads), *(_row_line(row, width) for row in board.rows)]


def _row_line(row: BoardRow, width: int) -> str:
    interval = f"{row.elo_low:.0f} to {row.elo_high:.0f}"
    cells = [
        f"{row.rank_text:>7}",
        f"{_label(row):<{width}}",
        f"{row.elo:>5.0f}",
        f"{interval:>13}",
        f"{row.win_rate:>5.1f}",
    ]
    shares = (share.per_cent for share in row.dimensions)
    cells += [f"{'-' if share is None else f'{share:.0f}':>4}" for share in shares]
    return "  ".join(cells)


def _people_lines(board: Board) -> list[str]:
    """Write the rows made from people, which have no rank, under their own line."""
    lines = [*map(_people_line, board.people)]
    lines += [f"  {one.name}: {one.reason}" for one in board.people_refused]
    return ["", "Made from people, no systems of their own:", *lines, ""] if lines else []


def _people_line(row: PeopleRow) -> str:
    caution = ", too high: chosen and scored by the same judgments" if row.is_optimistic else ""
    return f"  {row.name}: {row.elo:.0f} ({row.elo_low:.0f} to {row.elo_high:.0f}){caution}"


def _label(row: BoardRow) -> str:
    """Return the name with what it is; a simulated system's name says so by itself."""
    kinds = {"HUMAN": "people", "ORIGINAL": "original"}
    return f"{row.name} ({kinds[row.kind]})" if row.kind in kinds else row.name
