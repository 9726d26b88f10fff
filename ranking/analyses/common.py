"""What analyses begin with: judgments as on the board, sides of pairs, cells of results."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np

from ranking.analyses import FEWEST_DIALOGUES, AnalysisInputs
from ranking.findings import AnalysisRefusedError, Cell, Column, ColumnKind
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.method import Method
from ranking.judgments.sources import ItemFacts, SystemFacts
from ranking.numerics.agreement.resampled import IntervalEstimate, draw_times, estimated
from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.bradley_terry import NotConvergedError, fit_bradley_terry
from ranking.numerics.clustered_means import (
    ClusteredMean,
    TooFewDialoguesError,
    clustered_difference,
    clustered_mean,
)
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.few_units import few_units_warning
from ranking.numerics.multiplicity import benjamini_hochberg
from ranking.numerics.simultaneous import effective_units
from ranking.numerics.strength import shares
from ranking.numerics.strength_mode import StrengthMode
from ranking.numerics.tables import WeightedPairs, WinTables, tabulate


@dataclass(frozen=True)
class FittedBoard:
    """The judgments weighted as the fit weighs them, their tables, and the log strengths."""

    pairs: WeightedPairs
    tables: WinTables
    log_strengths: Floats


def fitted(inputs: AnalysisInputs) -> FittedBoard:
    """Weigh and fit the judgments as the fit does.

    Raises
    ------
    AnalysisRefusedError
        If there are no judgments or fewer than two systems, or the strengths are not determined.
    """
    columns = inputs.columns
    check_enough(columns)
    pairs = weighted_pairs(columns, inputs.method)
    tables = tabulated(columns, inputs.method)
    try:
        fit = fit_bradley_terry(tables.total())
    except (NotConnectedError, NotConvergedError) as error:
        msg = "The judgments do not place all systems on one scale."
        raise AnalysisRefusedError(msg) from error
    return FittedBoard(pairs, tables, fit.log_strengths)


def weighted_pairs(columns: JudgmentColumns, method: Method) -> WeightedPairs:
    """Return one row per judgment, weighted as the method has it."""
    split = shares(columns.strength, method.strength)
    weight = judgment_weights(columns, method)
    return WeightedPairs(
        columns.unit, columns.first, columns.second, weight * split.first, weight * split.second
    )


def tabulated(columns: JudgmentColumns, method: Method) -> WinTables:
    """Return the weighted wins per source dialogue, under the method's mode and masses."""
    pairs = weighted_pairs(columns, method)
    return tabulate(pairs, n_units=len(columns.units), n_systems=len(columns.systems))


def whole_wins(columns: JudgmentColumns, method: Method) -> Floats:
    """Return who beat whom how often, a tie as half a win each, shape (n_systems, n_systems).

    Each judgment counts once, whatever it weighs: these are counts.
    """
    return tabulated(columns, replace(with_whole_wins(method), masses=None)).total()


def with_whole_wins(method: Method) -> Method:
    """Return the method with every win whole, whatever its strength."""
    return replace(method, strength=StrengthMode.IGNORE)


def method_of_marks(columns: JudgmentColumns, method: Method) -> Method:
    """Return the method for marks on one dimension: whole wins where they have no size."""
    has_sizes = bool((np.abs(columns.strength) > 1).any())
    return method if has_sizes else with_whole_wins(method)


def judgment_weights(columns: JudgmentColumns, method: Method) -> Floats:
    """Return what each judgment counts: 1, unless the method declares masses of the pools."""
    by_judge = columns.is_judge[columns.evaluator].astype(np.int64)
    n = np.bincount(by_judge, minlength=2)
    if method.masses is None or not n.all():
        return np.ones(columns.n_judgments)
    masses = np.array(method.masses, dtype=np.float64)
    weights: Floats = (masses / masses.sum() * n.sum() / n)[by_judge]
    return weights


def estimate(label: str, kind: ColumnKind = ColumnKind.NUMBER) -> tuple[Column, Column, Column]:
    """Return the columns of a figure and of the ends of its interval."""
    return Column("value", label, kind), Column("low", "from", kind), Column("high", "to", kind)


RATED = (
    Column("system", "System", ColumnKind.SYSTEM),
    *estimate("Elo", ColumnKind.ELO),
    Column("rank_low", "Best rank", ColumnKind.COUNT),
    Column("rank_high", "Worst rank", ColumnKind.COUNT),
)
"""The columns of systems with their ratings, intervals and ranks."""


def family_of(tests: str) -> str:
    """Say over which tests p-values are adjusted, as the caption of each table with some does."""
    return f"P-values are adjusted over one family of tests: {tests}."


def decimal(value: float | None, digits: int = 4) -> float | None:
    """Return a number as it is stored: rounded, and None where it is not known."""
    return None if value is None or not math.isfinite(value) else round(float(value), digits)


def mean_cell(values: Floats | Booleans) -> float | None:
    """Return the mean of values, or the share of what is so, as it is stored; None of none."""
    return decimal(float(values.mean())) if values.size else None


def points(value: float) -> float:
    """Return a figure in Elo points as it is stored."""
    return round(float(value), 2)


P_VALUE = Column("p", "p, Benjamini-Hochberg", ColumnKind.P_VALUE)


def ends(level: float, kind: ColumnKind = ColumnKind.NUMBER) -> tuple[Column, Column]:
    """Return the columns of the ends of an interval; the head says how sure it is."""
    return Column("low", f"{100 * level:g} % from", kind), Column("high", "to", kind)


def with_test(
    label: str, level: float, kind: ColumnKind = ColumnKind.NUMBER
) -> tuple[Column, Column, Column, Column]:
    """Return the columns of a figure, of the ends of its interval and of its p-value."""
    return Column("value", label, kind), *ends(level, kind), P_VALUE


def interval_cells(
    found: ClusteredMean | None, level: float, *, times: float = 1.0, most: float = math.inf
) -> tuple[Cell, Cell, Cell]:
    """Return a figure and the ends of its interval, so many times as large and ``most`` at most.

    Of too few dialogues nothing is told.
    """
    if not rests_on_enough(found):
        return None, None, None
    value = min(most, max(-most, times * found.mean))
    return decimal(value), *end_cells(found, level, times=times, least=-most, most=most)


def end_cells(
    found: ClusteredMean,
    level: float,
    *,
    times: float = 1.0,
    least: float = -math.inf,
    most: float = math.inf,
) -> tuple[float | None, float | None]:
    """Return the ends of an interval, so many times as large, from ``least`` to ``most``.

    Where dialogues do not differ at all there are none: nothing says how far they might.
    """
    if not found.varies:
        return None, None
    low, high = (min(most, max(least, times * end)) for end in found.interval(level))
    return decimal(low), decimal(high)


def share_ends(found: ClusteredMean | None, level: float) -> tuple[float | None, float | None]:
    """Return the ends of the interval of a share, 0 to 1, as `end_cells` does of other means."""
    low, high = found.share_interval(level) if found and found.varies else (None, None)
    return decimal(low), decimal(high)


def share_cells(found: ClusteredMean | None, level: float) -> tuple[Cell, Cell, Cell]:
    """Return a share, or a difference of shares, with the ends of its interval, -1 to 1."""
    return interval_cells(found, level, most=1.0)


def means_by(group: Integers, values: Floats, n_groups: int) -> Floats:
    """Return the mean of each group, shape (n_groups,), NaN where it has no values."""
    n = np.bincount(group, minlength=n_groups)
    sums = np.bincount(group, weights=values, minlength=n_groups)
    return np.where(n > 0, sums / np.maximum(n, 1), np.nan)


def mean_of(values: Floats, unit: Integers) -> ClusteredMean | None:
    """Return a mean clustered by dialogue, or None where there are too few dialogues."""
    try:
        return clustered_mean(values, unit)
    except TooFewDialoguesError:
        return None


def difference_of(values: Floats, unit: Integers, is_second: Booleans) -> ClusteredMean | None:
    """Return the second part's mean less the first's, or None where one is missing."""
    try:
        return clustered_difference(values, unit, is_second)
    except TooFewDialoguesError:
        return None


def adjusted_tests(found: Sequence[ClusteredMean | None]) -> list[float | None]:
    """Return the adjusted p-values of what rests on enough dialogues; the others keep places."""
    return adjusted([one.p_value() if rests_on_enough(one) else None for one in found])


def rests_on_enough(found: ClusteredMean | None) -> TypeGuard[ClusteredMean]:
    """Say whether something was found, on as many dialogues as a test needs."""
    return found is not None and found.n_clusters >= FEWEST_DIALOGUES


def adjusted(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust the p-values that there are (Benjamini-Hochberg); the others keep their places."""
    known = [place for place, p in enumerate(p_values) if p is not None]
    raw = np.array([p for p in p_values if p is not None], dtype=np.float64)
    by_place = dict(zip(known, benjamini_hochberg(raw).tolist(), strict=True))
    return [by_place.get(place) for place in range(len(p_values))]


def check_enough(columns: JudgmentColumns, *, for_intervals: bool = False) -> None:
    """Refuse judgments that no model can be fitted to.

    Raises
    ------
    AnalysisRefusedError
        If there are no judgments, of fewer than two systems, or, for intervals, on one source
        dialogue alone.
    """
    if not columns.n_judgments:
        msg = "There are no judgments yet."
        raise AnalysisRefusedError(msg)
    if len(columns.systems) <= 1:
        msg = "There is only one system, and nothing to compare it with."
        raise AnalysisRefusedError(msg)
    if for_intervals and len(columns.units) <= 1:
        msg = "All judgments are on one source dialogue; an interval needs two or more."
        raise AnalysisRefusedError(msg)


def preferred(columns: JudgmentColumns) -> tuple[Integers, Integers]:
    """Return winner and loser of each judgment; for a tie first and second."""
    ahead = columns.strength >= 0
    winner = np.where(ahead, columns.first, columns.second)
    return winner, np.where(ahead, columns.second, columns.first)


def model_sides(columns: JudgmentColumns, facts: Mapping[str, SystemFacts]) -> Integers:
    """Say of each judgment whether a model stood against a person: 1 first, -1 second, 0 not."""
    kind = np.array([facts[slug].kind for slug in columns.systems])
    first, second = kind[columns.first], kind[columns.second]
    is_first = (first == "MODEL") & (second == "HUMAN")
    is_second = (first == "HUMAN") & (second == "MODEL")
    return np.where(is_first, 1, np.where(is_second, -1, 0))


def units_of_items(columns: JudgmentColumns) -> Integers:
    """Return the source dialogue of each pair, shape (n_items,)."""
    unit = np.zeros(columns.n_items, dtype=np.int64)
    unit[columns.item] = columns.unit
    return unit


def units_of_messages(columns: JudgmentColumns, items: ItemFacts) -> Integers:
    """Return the source dialogue of each message, shape (n_messages,)."""
    unit = np.zeros(len(items.system), dtype=np.int64)
    unit[items.message[columns.item].ravel()] = np.repeat(columns.unit, 2)
    return unit


LENGTH = "length"


def lengths_of(columns: JudgmentColumns) -> Floats | None:
    """Return the characters of both messages of each judgment, shape (n_judgments, 2), if known."""
    if columns.features is None or LENGTH not in columns.feature_names:
        return None
    lengths: Floats = columns.features[columns.item, :, columns.feature_names.index(LENGTH)]
    return lengths


TWICE = 1 / 3
"""What `relative` is where one message has twice as much as the other."""


def relative(first: Floats, second: Floats) -> Floats:
    """Return (a - b) / (a + b) of figures that are not below 0, and 0 where both are 0."""
    total = first + second
    differences: Floats = (first - second) / np.where(total == 0, 1.0, total)
    return differences


def best_first(ratings: Floats) -> list[int]:
    """Return the places of the systems from the best to the last, equal ones in their order."""
    return [int(one) for one in np.argsort(-ratings, kind="stable")]


def few_dialogues(n_units: int) -> tuple[str, ...]:
    """Say what few source dialogues do to intervals; nothing if there are enough."""
    few = few_units_warning(n_units)
    return () if few is None else (few,)


@dataclass(frozen=True)
class Samples:
    """Dialogues drawn anew: how often each is in each sample, and the level of intervals."""

    times: Floats
    level: float

    @classmethod
    def drawn(cls, n_units: int, method: Method) -> "Samples":
        """Draw the dialogues anew, as often as the method says."""
        rng = np.random.default_rng(method.seed)
        return cls(draw_times(n_units, method.replicates, rng), method.level)

    @property
    def n_units(self) -> int:
        """Return how many dialogues there are."""
        return int(self.times.shape[1])

    def cells(
        self, coefficient: Callable[[Floats], Floats], unit: Integers
    ) -> tuple[Cell, Cell, Cell]:
        """Return a coefficient with its interval, as three cells.

        ``unit`` are the dialogues, however often named, of what it is about.
        """
        n_units = int(effective_units(np.bincount(unit)))
        return estimate_cells(estimated(coefficient, n_units, self.times, level=self.level))


def estimate_cells(found: IntervalEstimate) -> tuple[Cell, Cell, Cell]:
    """Return a figure and the ends of its interval, as far as they are known."""
    return decimal(found.value), decimal(found.low), decimal(found.high)
