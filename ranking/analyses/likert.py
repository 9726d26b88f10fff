"""Messages rated one by one: mean points, what they are without strictness, and their orders."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ranking.analyses import AnalysisInputs
from ranking.analyses.boards import rated
from ranking.analyses.common import decimal, few_dialogues, mean_of, means_by
from ranking.analyses.likert_means import (
    FINE,
    SYSTEM,
    Measure,
    best_first,
    dimensions_table,
    every_mean_table,
    measures,
    normalised_table,
    scores_table,
)
from ranking.findings import AnalysisRefusedError, Cell, Column, ColumnKind, Findings, Table
from ranking.judgments.groups import NO_PAIRS
from ranking.judgments.method import Method
from ranking.judgments.scores import ScoreColumns
from ranking.judgments.sources import OtherOrder
from ranking.numerics.agreement.resampled import of_samples
from ranking.numerics.arrays import Booleans, Floats
from ranking.numerics.correlation import (
    TooFewError,
    UnitCorrelation,
    order_agreement,
    resampled_kendall,
    unit_pearson,
    unit_spearman,
)
from ranking.numerics.elo import ranks_of
from ranking.numerics.rater_scales import FEWEST, from_the_others

AGREEMENT = (
    Column("one", "Order by", ColumnKind.TEXT),
    Column("other", "and by", ColumnKind.TEXT),
    Column("systems", "Systems", ColumnKind.COUNT),
    Column("kendall", "Kendall's tau-b"),
    Column("low", "95 % from"),
    Column("high", "to"),
    Column("spearman", "Spearman"),
)


@dataclass(frozen=True)
class Order:
    """What systems are put in order by: ``values`` of shape (n_systems,), NaN where unknown.

    ``resampled`` has shape (n_replicates, n_systems), or is None where the samples are not
    those of the others.
    """

    key: str
    label: str
    values: Floats
    digits: int
    resampled: Floats | None = None

    @property
    def kind(self) -> ColumnKind:
        """How the figures are written."""
        return ColumnKind.ELO if self.digits == 1 else ColumnKind.NUMBER


def orders_of(inputs: AnalysisInputs, measure: Measure) -> tuple[tuple[Order, ...], str]:
    """Return all orders of the systems, and why ratings imply none, if so."""
    method = inputs.method
    found = [
        Order(
            key,
            label,
            measure.means(values),
            2,
            measure.resampled(values, n_replicates=method.replicates, seed=method.seed),
        )
        for key, label, values in (
            ("mean", "Mean points", measure.points),
            ("normalised", "Normalised", measure.normalised),
        )
    ]
    refusal = ""
    try:
        found.append(_implied(inputs, measure.scores.units))
    except AnalysisRefusedError as error:
        refusal = str(error)
    systems = measure.scores.systems
    return (*found, *(_other(one, systems) for one in inputs.others)), refusal


def orders_table(orders: Sequence[Order], measure: Measure) -> Table:
    """Return each order's figure and rank for each system, the highest mean first."""
    ranks = [_ranks(order.values) for order in orders]
    columns = [SYSTEM]
    for order in orders:
        columns.append(Column(order.key, order.label, order.kind))
        columns.append(Column(f"{order.key}_rank", "Rank", ColumnKind.COUNT))
    rows = []
    for one in best_first(measure):
        cells: list[Cell] = [measure.scores.systems[one]]
        for order, rank in zip(orders, ranks, strict=True):
            cells += [decimal(float(order.values[one]), order.digits), rank[one]]
        rows.append(tuple(cells))
    return Table(
        "orders",
        "Orders beside each other",
        "The implied ratings are Bradley-Terry on preferences that nobody stated: of two messages "
        "of a context that one evaluator rated, the one with more points counts as preferred, "
        "equal points as a tie. Ratings of other studies are of pairs that were judged as such, "
        "as they stood when this was computed. Points of different studies have scales of their "
        "own: compare ranks.",
        tuple(columns),
        tuple(rows),
    )


def agreement_table(orders: Sequence[Order], *, n_units: int, level: float) -> Table:
    """Return how far each two orders agree, where enough systems are in both."""
    rows = []
    for one, other in combinations(orders, 2):
        try:
            found = order_agreement(one.values, other.values)
        except TooFewError:
            continue
        ends = _reach(one, other, found.kendall, n_units=n_units, level=level)
        cells = (decimal(found.kendall), *ends, decimal(found.spearman))
        rows.append((one.label, other.label, found.n, *cells))
    return Table(
        "agreement",
        "How far the orders agree",
        "1 is the same order, -1 the opposite, 0 as good as none. Intervals are over resamples of "
        "source dialogues, where both orders come from these ratings.",
        AGREEMENT,
        tuple(rows),
    )


def _implied(inputs: AnalysisInputs, units: tuple[str, ...]) -> Order:
    """Order systems by implied ratings, in samples of the dialogues that means are drawn from."""
    if not inputs.columns.n_judgments:
        raise AnalysisRefusedError(NO_PAIRS)
    board = rated(inputs.columns.over(units), inputs.method)
    is_aligned = board.n_without_maximum == 0
    return Order("implied", "Implied Elo", board.elo, 1, board.resampled if is_aligned else None)


def _other(order: OtherOrder, systems: Sequence[str]) -> Order:
    values = [order.elo.get(slug, np.nan) for slug in systems]
    label = f"Elo in {order.study} ({order.pool})"
    return Order(order.fit, label, np.array(values, dtype=np.float64), 1)


def _ranks(values: Floats) -> list[int | None]:
    known = np.isfinite(values)
    ranks = iter(ranks_of(values[known]).tolist())
    return [next(ranks) if one else None for one in known]


def _reach(
    one: Order, other: Order, tau: float, *, n_units: int, level: float
) -> tuple[Cell, Cell]:
    if one.resampled is None or other.resampled is None:
        return None, None
    drawn = resampled_kendall(one.resampled, other.resampled)
    reach = of_samples(tau, drawn, n_units=n_units, level=level)
    return decimal(reach.low), decimal(reach.high)


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
    found = mean_of(apart[rows], measure.scores.unit[rows])
    if found is None:
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
    return means_by(message[rows], measure.points[rows], int(message.max(initial=-1)) + 1)


FEWEST_JUDGES = 2
METHOD = (
    "Means of points with Student's t intervals, clustered by source dialogue; ranks from "
    "resampled dialogues, for all systems at once. Normalised: less the evaluator's own mean, over "
    "the evaluator's own standard deviation, which leans on that of all evaluators as if by five "
    "further ratings; it assumes that evaluators saw messages alike on average. Implied ratings: "
    "Bradley-Terry, wins whole, with the resamples of the fit."
)


def analyse(inputs: AnalysisInputs) -> Findings:
    """Describe the ratings.

    Raises
    ------
    AnalysisRefusedError
        If there are no ratings that cover all dimensions.
    """
    scores = inputs.scores
    if scores is None:
        msg = "These are judgments of pairs: no message was rated alone."
        raise AnalysisRefusedError(msg)
    if not scores.is_whole.any():
        msg = "No rating covers all dimensions."
        raise AnalysisRefusedError(msg)
    found = measures(scores)
    orders, refusal = orders_of(inputs, found[0])
    level, n_units = inputs.method.level, len(scores.units)
    tables = [
        scores_table(found[0], inputs.method),
        dimensions_table(found),
        orders_table(orders, found[0]),
        agreement_table(orders, n_units=n_units, level=level),
        *_with_judges(found, inputs),
        strictness_table(found[0], level),
        normalised_table(found),
        every_mean_table(found, level),
    ]
    warnings = tuple(_warnings(found[0], refusal))
    shown = tuple(table for table in tables if table.rows)
    return Findings(METHOD, shown, warnings)


def _with_judges(found: tuple[Measure, ...], inputs: AnalysisInputs) -> Iterator[Table]:
    is_judge = found[0].scores.is_judge
    if is_judge.any() and not is_judge.all():
        yield judges_table(found, inputs.method)
        if is_judge.sum() >= FEWEST_JUDGES:
            yield each_judge_table(found[0], inputs.method)


def _warnings(measure: Measure, refusal: str) -> Iterator[str]:
    """Say what the figures do not rest on, and what could not be computed."""
    scores = measure.scores
    yield from few_dialogues(len(scores.units))
    n_lacking = scores.n - int(scores.is_whole.sum())
    if n_lacking:
        yield (
            f"{n_lacking} of {scores.n} ratings lack a dimension: they count on the others, not in "
            "the mean over all."
        )
    yield from _of_scales(measure, scores)
    if refusal:
        yield f"The ratings imply no order by pairs: {refusal}"


def _of_scales(measure: Measure, scores: ScoreColumns) -> Iterator[str]:
    if measure.scales is None:
        yield (
            f"There are no normalised scores: nobody gave different points, or {FEWEST} ratings."
        )
        return
    n_left_out = int((~measure.scales.is_kept).sum())
    if n_left_out:
        yield (
            f"{n_left_out} of {len(scores.evaluators)} evaluators gave fewer than {FEWEST} ratings "
            "and are left out of normalised scores."
        )
    alone = np.bincount(scores.message)
    if (alone[alone > 0] == 1).all() and len(scores.evaluators) > 1:
        yield "Every message was rated once: nothing tells who is strict from what was seen."
