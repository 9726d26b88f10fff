"""Position of a message and place of a judgment: whether either sways those who judge."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np

from ranking.analyses import common
from ranking.analyses.common import (
    P_VALUE,
    adjusted_tests,
    decimal,
    difference_of,
    ends,
    family_of,
    interval_cells,
    mean_cell,
    rests_on_enough,
    share_ends,
    with_test,
)
from ranking.findings import Cell, Column, ColumnKind, Picture, Table
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.sources import JudgmentFacts
from ranking.numerics.agreement.majority import NO_MAJORITY, majorities, two_sided_p
from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.clustered_means import (
    ClusteredMean,
    NothingLeftError,
    TooFewDialoguesError,
    clustered_difference,
    clustered_mean,
    crossed,
    partial_slope,
)

PEOPLE, JUDGES = "People", "LLM judges"
EVEN = 0.5


Tendency = tuple[tuple[Cell, ...], float | None]
"""The cells of a share and its interval, and the p-value of its being one half."""


def tendency(chosen: Booleans, columns: JudgmentColumns, rows: Integers, level: float) -> Tendency:
    """Say how often one of two was chosen, in these decided judgments.

    The p-value is the larger of two: the sign test's, which takes judgments as independent, and
    the one clustered by dialogue, which needs many dialogues, and by person. Of too few there is
    neither test nor interval, and no interval of what is the same in all.
    """
    values = chosen.astype(np.float64)
    found = by_person_too(partial(clustered_mean, values), columns, rows)
    if not rests_on_enough(found):
        return (round(float(chosen.mean()), 4), None, None), None
    ends = share_ends(found, level)
    p_value = two_sided_p(int(chosen.sum()), len(chosen))
    return (round(found.mean, 4), *ends), max(p_value, found.p_value(EVEN))


def adjusted(found: Sequence[ClusteredMean | None]) -> list[float | None]:
    """Adjust the p-values of all that were found; what is 0 in every dialogue has none."""
    told = [one if one and (one.varies or one.p_value() < 1.0) else None for one in found]
    return [decimal(p, 6) for p in adjusted_tests(told)]


def adjusted_p(raw: Sequence[float | None]) -> list[float | None]:
    """Adjust the p-values that there are, rounded; the others keep their places."""
    return [decimal(p, 6) for p in common.adjusted(raw)]


def kinds(columns: JudgmentColumns) -> Iterator[tuple[str, Booleans]]:
    """Yield people and LLM judges with their judgments, where there are any."""
    is_judge = columns.is_judge[columns.evaluator]
    for name, chosen in ((PEOPLE, ~is_judge), (JUDGES, is_judge)):
        if chosen.any():
            yield name, chosen


def with_all(columns: JudgmentColumns) -> list[tuple[str, Booleans]]:
    """Return both kinds, and all together where there are both."""
    found = list(kinds(columns))
    everybody = np.ones(columns.n_judgments, dtype=np.bool_)
    return [*found, ("All", everybody)] if len(found) > 1 else found


KIND = Column("kind", "Evaluators", ColumnKind.TEXT)
FIGURES = (
    Column("decided", "Decided judgments", ColumnKind.COUNT),
    Column("value", "First position preferred", ColumnKind.SHARE),
)
ORDERS = (
    P_VALUE,
    Column("both", "Pairs judged in both orders", ColumnKind.COUNT),
    Column("same", "Same answer in both", ColumnKind.SHARE),
    Column("always_first", "First position in both", ColumnKind.SHARE),
    Column("always_second", "Second position in both", ColumnKind.SHARE),
)
CAPTION = (
    "Of judgments with a winner, the share in which the message in the first position won; one "
    "half is no bias. Of the pairs that an evaluator judged in both orders, how many got the same "
    "answer, and how many the same position; the rest are ties in one order alone. p is the "
    "larger of the sign test's and of that clustered by source dialogue, of people by person as "
    "well: they stand for other people, judges for themselves; with few people it is rough. "
    f"{family_of('the first position against one half, in each row')}"
)


@dataclass(frozen=True)
class Orders:
    """Pairs that one evaluator judged in both orders, shape (n_both,).

    ``early`` is 1 where the first completion won when it was shown first, -1 where the second
    did and 0 for a tie; ``late`` is the same when the second completion was shown first.
    """

    evaluator: Integers
    early: Integers
    late: Integers

    def cells(self, chosen: Booleans) -> tuple[Cell, ...]:
        """Return how many of these pairs there are, and the shares of the outcomes."""
        if not chosen.any():
            return 0, None, None, None
        early, late = self.early[chosen], self.late[chosen]
        outcomes = (early == late, (early > 0) & (late < 0), (early < 0) & (late > 0))
        return (len(early), *(round(float(one.mean()), 4) for one in outcomes))


def position_tables(columns: JudgmentColumns, level: float) -> list[Table]:
    """Return the table by kind of evaluator and the one by evaluator; none if sides are unknown."""
    if not ((columns.shown != 0) & (columns.strength != 0)).any():
        return []
    orders = both_orders(columns)
    return [_by_kind(columns, orders, level), _by_evaluator(columns, orders, level)]


def both_orders(columns: JudgmentColumns) -> Orders:
    """Find who judged a pair in both orders; of several samples of an order, what most said."""
    rows = np.flatnonzero(columns.shown != 0)
    key = columns.evaluator[rows] * columns.n_items + columns.item[rows]
    keys, place = np.unique(key, return_inverse=True)
    side = np.sign(columns.strength[rows])
    sums, counts = np.zeros((2, len(keys))), np.zeros((2, len(keys)), dtype=np.int64)
    order = (columns.shown[rows] < 0).astype(np.int64)
    np.add.at(sums, (order, place), side)
    np.add.at(counts, (order, place), 1)
    has_both = counts.all(axis=0)
    said = np.sign(sums[:, has_both]).astype(np.int64)
    return Orders(keys[has_both] // max(1, columns.n_items), said[0], said[1])


def _by_kind(columns: JudgmentColumns, orders: Orders, level: float) -> Table:
    heads, tendencies, rest = [], [], []
    for name, chosen in with_all(columns):
        heads.append(name)
        tendencies.append(_first(columns, np.flatnonzero(chosen), level))
        members = np.unique(columns.evaluator[chosen])
        rest.append(orders.cells(np.isin(orders.evaluator, members)))
    rows = _rows([(head,) for head in heads], tendencies, rest)
    title = "Position, by kind of evaluator"
    return Table(
        "position",
        title,
        CAPTION,
        (KIND, *FIGURES, *ends(level, ColumnKind.SHARE), *ORDERS),
        rows,
        Picture.WHISKERS,
    )


def _by_evaluator(columns: JudgmentColumns, orders: Orders, level: float) -> Table:
    order = np.argsort(columns.evaluator, kind="stable")
    n = np.bincount(columns.evaluator, minlength=len(columns.evaluators))
    heads, tendencies, rest = [], [], []
    for place, rows in enumerate(np.split(order, np.cumsum(n)[:-1])):
        kind = "LLM judge" if columns.is_judge[place] else "person"
        heads.append((columns.evaluators[place], kind))
        tendencies.append(_first(columns, rows, level))
        rest.append(orders.cells(orders.evaluator == place))
    columns_of = (
        Column("evaluator", "Evaluator", ColumnKind.EVALUATOR),
        KIND,
        *FIGURES,
        *ends(level, ColumnKind.SHARE),
        *ORDERS,
    )
    rows_of = _rows(heads, tendencies, rest)
    return Table("position_each", "Position, by evaluator", CAPTION, columns_of, rows_of)


def _first(columns: JudgmentColumns, rows: Integers, level: float) -> tuple[int, Tendency | None]:
    """Count decided judgments whose sides are known, and how often the first position won."""
    toward = np.sign(columns.strength[rows]) * columns.shown[rows]
    decided = rows[toward != 0]
    if not len(decided):
        return 0, None
    return len(decided), tendency(toward[toward != 0] > 0, columns, decided, level)


def _rows(
    heads: Sequence[tuple[str, ...]],
    found: list[tuple[int, Tendency | None]],
    rest: list[tuple[Cell, ...]],
) -> tuple[tuple[Cell, ...], ...]:
    p_values = adjusted_p([None if one is None else one[1] for _, one in found])
    rows = []
    for head, (n, one), p, orders in zip(heads, found, p_values, rest, strict=True):
        figures = (None, None, None) if one is None else one[0]
        rows.append((*head, n, *figures, p, *orders))
    return tuple(rows)


FEWEST_PLACES = 6  # judgments that make a first and a last third
STEP = 100  # judgments
FIGURE = Column("figure", "Figure", ColumnKind.TEXT)
TIES, STRENGTH = "Ties, share", "Strength where there is a winner, 1 to 5"


def severity_table(columns: JudgmentColumns, level: float) -> Table | None:
    """Compare how often and how strongly people and judges prefer; None without both."""
    is_judge = columns.is_judge[columns.evaluator]
    if not is_judge.any() or is_judge.all():
        return None
    figures = {TIES: _ties(columns), STRENGTH: _strength(columns)}
    found, means = [], []
    for every in figures.values():
        rows = np.flatnonzero(np.isfinite(every))
        values = every[rows]
        found.append(difference_of(values, columns.unit[rows], is_judge[rows]))
        means.append([mean_cell(values[chosen]) for chosen in (~is_judge[rows], is_judge[rows])])
    parts = zip(figures, means, found, adjusted(found), strict=True)
    return Table(
        "severity",
        "How severe people and judges are",
        "Who ties often sees no difference where others see one; who gives high strengths sees "
        "large ones. Single evaluators are compared by the analysis of evaluators in the model. "
        f"{family_of('the difference in each row')}",
        (
            FIGURE,
            Column("people", "People"),
            Column("judges", "LLM judges"),
            *with_test("Judges less people", level),
        ),
        tuple((name, *m, *interval_cells(gap, level), p) for name, m, gap, p in parts),
    )


def drift_table(columns: JudgmentColumns, facts: JudgmentFacts, level: float) -> Table | None:
    """Compare the first third of each evaluator's judgments with the last; None if too few."""
    third = _thirds(columns, facts.place)
    figures = all_figures(columns, facts)
    heads, found = list[tuple[Cell, ...]](), []
    for name, chosen in kinds(columns):
        for label, every in figures.items():
            rows = np.flatnonzero(chosen & np.isin(third, (0, 2)) & np.isfinite(every))
            values, is_last = every[rows], third[rows] == 2  # noqa: PLR2004 - the third
            gap = by_person_too(
                partial(clustered_difference, values, is_second=is_last), columns, rows
            )
            if gap is not None:
                parts = (mean_cell(values[~is_last]), mean_cell(values[is_last]))
                heads.append((name, label, len(rows), *parts))
                found.append(gap)
    if not found:
        return None
    parts_of = zip(heads, found, adjusted(found), strict=True)
    return Table(
        "drift",
        "From the first third to the last",
        "Each evaluator's judgments in the order in which they were given. Agreement is with what "
        "most of the other answers to the same pair say, where most say one thing. What one "
        "person's answers have in common is in the intervals of people. "
        f"{family_of('the difference in each row')}",
        (
            KIND,
            FIGURE,
            Column("judgments", "Judgments", ColumnKind.COUNT),
            Column("first", "First third"),
            Column("last", "Last third"),
            *with_test("Difference", level),
        ),
        tuple((*head, *interval_cells(gap, level), p) for head, gap, p in parts_of),
    )


def fatigue_table(columns: JudgmentColumns, facts: JudgmentFacts, level: float) -> Table | None:
    """Return what changes with each further judgment of a person; None if nothing can."""
    is_person = ~columns.is_judge[columns.evaluator]
    heads, found = list[tuple[Cell, ...]](), []
    for label, every in all_figures(columns, facts).items():
        rows = np.flatnonzero(is_person & np.isfinite(every))
        slope = _slope(columns, every, facts.place, rows)
        if slope is not None:
            n_people = len(np.unique(columns.evaluator[rows]))
            heads.append((label, len(rows), n_people))
            found.append(slope)
    if not found:
        return None
    parts = zip(heads, found, adjusted(found), strict=True)
    return Table(
        "fatigue",
        f"What changes with {STEP} judgments more",
        f"{PEOPLE} alone, each compared with himself or herself. Tired people may agree less, tie "
        "more and take less time; those who learn the task take less time, too, and agree more. "
        f"{family_of('the change in each row')}",
        (
            FIGURE,
            Column("judgments", "Judgments", ColumnKind.COUNT),
            Column("people", PEOPLE, ColumnKind.COUNT),
            *with_test(f"Change with {STEP} judgments", level),
        ),
        tuple((*h, *interval_cells(one, level, times=STEP), p) for h, one, p in parts),
    )


def all_figures(columns: JudgmentColumns, facts: JudgmentFacts) -> dict[str, Floats]:
    """Return agreement, ties, strength and time of each judgment; NaN where there is none."""
    seconds = np.where(facts.seconds > 0.0, facts.seconds, np.nan)
    return {
        "Agreement with the majority, share": agreement(columns),
        TIES: _ties(columns),
        STRENGTH: _strength(columns),
        "Seconds, natural logarithm": np.log(seconds),
    }


def agreement(columns: JudgmentColumns) -> Floats:
    """Return 1 where a judgment says what most others say of its pair, else 0.

    NaN where most others say nothing in particular. An evaluator's other answers to the pair, as
    in the other order, are not among the others. Cost O(n log n).
    """
    side = np.sign(columns.strength) + 1
    counts = np.zeros((columns.n_items, 3), dtype=np.int64)
    np.add.at(counts, (columns.item, side), 1)
    key = columns.item * len(columns.evaluators) + columns.evaluator
    keys, place = np.unique(key, return_inverse=True)
    own = np.zeros((len(keys), 3), dtype=np.int64)
    np.add.at(own, (place, side), 1)
    most = majorities(counts[columns.item] - own[place])
    agrees: Floats = np.where(most == NO_MAJORITY, np.nan, (most == side).astype(np.float64))
    return agrees


def _ties(columns: JudgmentColumns) -> Floats:
    ties: Floats = (columns.strength == 0).astype(np.float64)
    return ties


def _strength(columns: JudgmentColumns) -> Floats:
    size = np.abs(columns.strength).astype(np.float64)
    strength: Floats = np.where(size > 0, size, np.nan)
    return strength


def _thirds(columns: JudgmentColumns, place: Integers) -> Integers:
    """Return the third of its evaluator's judgments that each is in; -1 where they are too few."""
    n = np.bincount(columns.evaluator, minlength=len(columns.evaluators))[columns.evaluator]
    return np.where(n >= FEWEST_PLACES, 3 * place // n, -1)


def _slope(
    columns: JudgmentColumns, values: Floats, place: Integers, rows: Integers
) -> ClusteredMean | None:
    """Return the slope of a figure on the place, each person with a level of their own."""
    if not len(rows):
        return None
    who = columns.evaluator[rows]
    y, x = (_within(one, who) for one in (values[rows], place[rows].astype(np.float64)))
    none = np.empty((len(rows), 0))
    return by_person_too(lambda way: partial_slope(y, x, none, way), columns, rows)


def by_person_too(
    estimate: Callable[[Integers], ClusteredMean], columns: JudgmentColumns, rows: Integers
) -> ClusteredMean | None:
    """Return a figure with its error by dialogue and person, as people have ways of their own.

    So it holds for other people, but for these judges where they judged alone.
    """
    unit, who = columns.unit[rows], columns.evaluator[rows]
    by_both = [] if columns.is_judge[who].all() else [partial(crossed, estimate, unit, who)]
    for attempt in (*by_both, partial(estimate, unit)):
        with suppress(NothingLeftError, TooFewDialoguesError):
            return attempt()
    return None


def _within(values: Floats, group: Integers) -> Floats:
    """Take the mean of its group from each value."""
    n = np.maximum(np.bincount(group), 1)
    return values - (np.bincount(group, weights=values) / n)[group]
