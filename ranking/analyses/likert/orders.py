"""The order of mean points beside the order that ratings imply, and that of other studies."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ranking.analyses import AnalysisInputs
from ranking.analyses.boards import rated
from ranking.analyses.common import decimal, ranks_of
from ranking.analyses.likert.means import SYSTEM, Measure, best_first
from ranking.findings import AnalysisRefusedError, Cell, Column, ColumnKind, Table
from ranking.judgments.groups import NO_PAIRS
from ranking.judgments.orders import OtherOrder
from ranking.numerics.arrays import Floats
from ranking.numerics.correlation import TooFewError
from ranking.numerics.few_units import expanded_intervals
from ranking.numerics.orders import order_agreement, resampled_kendall

FEWEST = 2
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
    ranks = iter(ranks_of(values[known]))
    return [next(ranks) if one else None for one in known]


def _reach(
    one: Order, other: Order, tau: float, *, n_units: int, level: float
) -> tuple[Cell, Cell]:
    if one.resampled is None or other.resampled is None:
        return None, None
    drawn = resampled_kendall(one.resampled, other.resampled)
    drawn = drawn[np.isfinite(drawn)]
    if len(drawn) < FEWEST:
        return None, None
    reach = expanded_intervals(np.array([tau]), drawn[:, None], n_units=n_units, level=level)
    return decimal(float(reach.low[0])), decimal(float(reach.high[0]))
