"""Who rates mildly and who strictly, and how far LLM judges rate as people do."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ranking.analyses.common import decimal
from ranking.analyses.likert.means import Measure
from ranking.findings import Cell, Column, ColumnKind, Table
from ranking.judgments.method import Method
from ranking.numerics.arrays import Booleans, Floats
from ranking.numerics.clustered_means import TooFewDialoguesError, clustered_mean
from ranking.numerics.correlation import TooFewError
from ranking.numerics.rater_scales import from_the_others
from ranking.numerics.unit_correlation import UnitCorrelation, unit_pearson, unit_spearman

FEWEST = 2
FINE = 2  # decimals of points
EVALUATOR = Column("evaluator", "Evaluator", ColumnKind.EVALUATOR)
STRICTNESS = (
    EVALUATOR,
    Column("n", "Ratings", ColumnKind.COUNT),
    Column("mean", "Mean points"),
    Column("sd", "Standard deviation"),
    Column("from_others", "Above the others"),
    Column("low", "95 % from"),
    Column("high", "to"),
)
CORRELATION = (
    Column("messages", "Messages", ColumnKind.COUNT),
    Column("pearson", "Pearson"),
    Column("pearson_low", "95 % from"),
    Column("pearson_high", "to"),
    Column("spearman", "Spearman"),
    Column("spearman_low", "95 % from"),
    Column("spearman_high", "to"),
)


def strictness_table(measure: Measure, level: float) -> Table:
    """Return the mildness of each evaluator, the mildest first."""
    scores, known = measure.scores, np.isfinite(measure.points)
    apart = np.full(scores.n, np.nan)
    apart[known] = from_the_others(measure.points[known], scores.message[known])
    rows = []
    for place, name in enumerate(scores.evaluators):
        own = known & (scores.evaluator == place)
        if own.any():
            points = measure.points[own]
            sd = float(points.std(ddof=1)) if len(points) > 1 else None
            figures = (decimal(float(points.mean())), decimal(sd))
            mild = _apart(apart, own, measure, level)
            order = (-float(mild[0] or 0.0), name)
            rows.append((order, (name, len(points), *figures, *mild)))
    return Table(
        "strictness",
        "Who is mild and who is strict",
        "How many points more an evaluator gave than the others who rated the same messages did on "
        "average; below 0 is stricter. Evaluators who rated what nobody else did have no figure.",
        STRICTNESS,
        tuple(row for _, row in sorted(rows)),
    )


def judges_table(found: Sequence[Measure], method: Method) -> Table:
    """Return how all LLM judges together go with people, on each dimension."""
    is_judge = found[0].scores.is_judge
    rows = (
        (measure.label, *cells)
        for measure in found
        if (cells := _correlated(measure, is_judge, method)) is not None
    )
    return Table(
        "judges",
        "LLM judges and people",
        "Of the messages that both rated: the mean points by LLM judges against the mean points by "
        "people. 1 is the same order; strictness does not matter. Judgments by a handful of "
        "people err too, so even a judge that says what all people would say stays below 1.",
        (Column("dimension", "Dimension", ColumnKind.TEXT), *CORRELATION),
        tuple(rows),
    )


def each_judge_table(measure: Measure, method: Method) -> Table:
    """Return the same for each judge, over all dimensions."""
    return Table(
        "each-judge",
        "Each LLM judge and people",
        "The mean over all dimensions, judge by judge, against the mean of people.",
        (EVALUATOR, *CORRELATION),
        tuple(_each(measure, method)),
    )


def _each(measure: Measure, method: Method) -> Iterator[tuple[Cell, ...]]:
    names, is_judge = measure.scores.evaluators, measure.scores.is_judge
    for place in np.flatnonzero(is_judge).tolist():
        alone = np.arange(len(names)) == place
        if (cells := _correlated(measure, alone, method)) is not None:
            yield (names[place], *cells)


def _apart(apart: Floats, own: Booleans, measure: Measure, level: float) -> tuple[Cell, Cell, Cell]:
    rows = own & np.isfinite(apart)
    if not rows.any():
        return None, None, None
    try:
        found = clustered_mean(apart[rows], measure.scores.unit[rows])
    except TooFewDialoguesError:
        return decimal(float(apart[rows].mean()), FINE), None, None
    low, high = found.interval(level) if found.varies else (None, None)
    return decimal(found.mean, FINE), decimal(low, FINE), decimal(high, FINE)


def _correlated(measure: Measure, judges: Booleans, method: Method) -> tuple[Cell, ...] | None:
    """Correlate the means of people and of these judges, message by message."""
    scores = measure.scores
    known = np.isfinite(measure.points)
    by_people = known & ~scores.is_judge[scores.evaluator]
    by_judges = known & judges[scores.evaluator]
    x, y = (_of_messages(measure, rows) for rows in (by_people, by_judges))
    unit = np.zeros(len(x), dtype=np.int64)
    unit[scores.message] = scores.unit

    def found(correlate: Callable[..., UnitCorrelation]) -> tuple[Cell, ...]:
        rng = np.random.default_rng(method.seed)
        one = correlate(x, y, unit, n_replicates=method.replicates, rng=rng, level=method.level)
        return one.n, decimal(one.coefficient), decimal(one.low), decimal(one.high)

    try:
        return (*found(unit_pearson), *found(unit_spearman)[1:])
    except TooFewError:
        return None


def _of_messages(measure: Measure, rows: Booleans) -> Floats:
    """Return the mean points of each message over these ratings, NaN where there are none."""
    message = measure.scores.message
    size = int(message.max(initial=-1)) + 1
    n = np.bincount(message[rows], minlength=size)
    sums = np.bincount(message[rows], weights=measure.points[rows], minlength=size)
    return np.where(n > 0, sums / np.maximum(n, 1), np.nan)
