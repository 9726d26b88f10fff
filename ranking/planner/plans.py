"""What more judgments a study needs and what they cost: from what an analysis kept, or before any.

Points are Elo points of the study's own scale; squared errors are in natural-log units.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ranking.numerics.elo import ELO_PER_LOG_UNIT
from ranking.numerics.planning.design import MOST_UNITS, design_effect_of_ranking
from ranking.numerics.planning.needs import Need, Wish, judgments_of_ranking, needs_of
from ranking.numerics.planning.parts import ErrorParts

SECONDS_AN_HOUR = 3600.0
HEADER = (
    *("first", "second", "difference_elo", "standard_error_elo", "power_now", "judgments_more"),
    *("is_limited_by_dialogues", "best_power_on_these_dialogues", "dialogues_more"),
    *("dialogues_more_low", "dialogues_more_high", "judgments_on_new_dialogues"),
)
Cell = str | int | float | bool | None


@dataclass(frozen=True)
class Rates:
    """What a judgment takes; None where it is not known.

    ``price`` is money for one judgment, ``seconds`` its time, ``per_person`` how many one person
    gives. For judges the last two are None.
    """

    price: float | None = None
    seconds: float | None = None
    per_person: float | None = None


@dataclass(frozen=True)
class Bill:
    """So many judgments, and what they come to."""

    n_judgments: int
    n_people: int | None
    hours: float | None
    cost: float | None

    @classmethod
    def of(cls, n_judgments: int, rates: Rates) -> "Bill":
        """Count people, hours and money."""
        people = None if not rates.per_person else math.ceil(n_judgments / rates.per_person)
        hours = None if rates.seconds is None else n_judgments * rates.seconds / SECONDS_AN_HOUR
        cost = None if rates.price is None else n_judgments * rates.price
        return cls(n_judgments, people, hours, cost)


@dataclass(frozen=True)
class Size:
    """How large a study is."""

    n_judgments: int
    n_comparisons: int
    n_units: int

    @property
    def per_comparison(self) -> float:
        """Return how many judgments a comparison has in the mean."""
        return self.n_judgments / max(self.n_comparisons, 1)

    @property
    def per_unit(self) -> float:
        """Return how many judgments a source dialogue has in the mean."""
        return self.n_judgments / max(self.n_units, 1)


@dataclass(frozen=True)
class PairPlan:
    """What one pair of neighbours needs; points for the difference seen and its error.

    ``judgments_more`` are on the same comparisons, None where no number is enough or nobody
    knows; ``on_new`` are on ``dialogues_more`` new source dialogues, None beyond all bounds.
    """

    first: str
    second: str
    difference: float
    error: float
    need: Need
    judgments_more: int | None
    dialogues_more: int | None
    dialogues_low: int
    dialogues_high: int | None
    on_new: int | None

    def as_row(self) -> tuple[Cell, ...]:
        """Return the cells of a download."""
        best = self.need.best_power
        return (
            *(self.first, self.second, round(self.difference, 3), round(self.error, 3)),
            *(round(self.need.power, 4), self.judgments_more, self.need.is_limited),
            *(None if math.isnan(best) else round(best, 4), self.dialogues_more),
            *(self.dialogues_low, self.dialogues_high, self.on_new),
        )


@dataclass(frozen=True)
class StudyPlan:
    """What all neighbours need together.

    ``same`` is for more judgments of the same comparisons, ``per_comparison`` of each then; None
    where that is not enough. ``new`` is for ``n_dialogues`` new source dialogues.
    """

    size: Size
    pairs: tuple[PairPlan, ...]
    same: Bill | None
    per_comparison: float | None
    new: Bill | None
    n_dialogues: int | None

    @property
    def n_met(self) -> int:
        """Return how many neighbours have judgments enough."""
        return sum(pair.need.is_met for pair in self.pairs)

    @property
    def n_limited(self) -> int:
        """Return for how many neighbours the dialogues are too few, however much is judged."""
        return sum(pair.need.is_limited for pair in self.pairs)

    @property
    def is_known(self) -> bool:
        """Whether it is known what more judgments of a comparison bring."""
        return not any(math.isnan(pair.need.repeats) for pair in self.pairs)

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """Yield a header and a row per pair of neighbours."""
        yield HEADER
        for pair in self.pairs:
            yield pair.as_row()


@dataclass(frozen=True)
class FirstPlan:
    """What a study that nobody judged yet needs, under assumptions."""

    bill: Bill
    n_contexts: int
    n_systems: int
    design_effect: float


def plan_of(kept: Mapping[str, Any], wish: Wish, rates: Rates) -> StudyPlan:
    """Return what a study with judgments needs.

    Parameters
    ----------
    kept : mapping
        What the analysis of planning keeps (`ranking.analyses.planning.planned_parts`).
    wish : Wish
        What is wanted, in natural-log units.
    rates : Rates
        What a judgment takes.

    Raises
    ------
    ValueError
        If the wish is out of range.
    """
    size = _size(kept)
    found = [_parts(row) for row in kept["neighbours"]]
    needs = needs_of(found, wish)
    pairs = tuple(
        _pair(row, need, size) for row, need in zip(kept["neighbours"], needs, strict=True)
    )
    repeats = max((need.repeats for need in needs), default=1.0)
    is_enough = all(math.isfinite(need.repeats) for need in needs)
    units = max((need.dialogues for need in needs), default=0)
    more = max(0, units - size.n_units) if units < MOST_UNITS else None
    return StudyPlan(
        size=size,
        pairs=pairs,
        same=Bill.of(_more(repeats, size), rates) if is_enough else None,
        per_comparison=repeats * size.per_comparison if is_enough else None,
        new=None if more is None else Bill.of(math.ceil(more * size.per_unit), rates),
        n_dialogues=more,
    )


def first_plan(
    wish: Wish, rates: Rates, *, n_systems: int, n_pairs: int, per_pair: int, correlation: float
) -> FirstPlan:
    """Return what a planned study needs, in closed form.

    Parameters
    ----------
    wish, rates
        As in `plan_of`.
    n_systems, n_pairs, per_pair : int
        Systems, and how each context is judged: pairs, and judgments of a pair.
    correlation : float
        Between judgments of one comparison, 0 to 1.

    Raises
    ------
    ValueError
        If there are fewer than two systems, or the wish or the correlation is out of range.
    """
    effect = design_effect_of_ranking(n_systems, n_pairs, per_pair, correlation)
    per_context = n_pairs * per_pair
    level = wish.level_of_each(n_systems - 1)
    needed = judgments_of_ranking(
        n_systems, wish.difference, level=level, power=wish.power, design_effect=effect
    )
    n_contexts = math.ceil(needed / per_context)
    return FirstPlan(Bill.of(n_contexts * per_context, rates), n_contexts, n_systems, effect)


def _size(kept: Mapping[str, Any]) -> Size:
    units = max((row["n_units"] for row in kept["neighbours"]), default=0)
    return Size(kept["n_judgments"], kept["n_comparisons"], units)


def _parts(row: Mapping[str, Any]) -> ErrorParts:
    return ErrorParts(
        n_units=row["n_units"],
        between=row["between"],
        within=math.nan if row["within"] is None else row["within"],
        raters=row["raters"],
        freedom=row["freedom"],
    )


def _pair(row: Mapping[str, Any], need: Need, size: Size) -> PairPlan:
    def more(units: int) -> int | None:
        return max(0, units - size.n_units) if units < MOST_UNITS else None

    dialogues = more(need.dialogues)
    return PairPlan(
        first=row["first"],
        second=row["second"],
        difference=row["difference"] * ELO_PER_LOG_UNIT,
        error=need.error * ELO_PER_LOG_UNIT,
        need=need,
        judgments_more=_more(need.repeats, size) if math.isfinite(need.repeats) else None,
        dialogues_more=dialogues,
        dialogues_low=more(need.fewest) or 0,
        dialogues_high=more(need.most),
        on_new=None if dialogues is None else math.ceil(dialogues * size.per_unit),
    )


def _more(repeats: float, size: Size) -> int:
    return math.ceil((repeats - 1.0) * size.n_judgments)
