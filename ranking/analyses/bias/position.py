"""Whether what is shown first is preferred, and whether the other order gets the same answer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ranking.analyses.bias.cells import P_VALUE, Tendency, adjusted_p, tendency, with_all
from ranking.analyses.common import ends, family_of
from ranking.findings import Cell, Column, ColumnKind, Picture, Table
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.arrays import Booleans, Integers

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
    "larger of the sign test's and of that clustered by source dialogue. "
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
    return len(decided), tendency(toward[toward != 0] > 0, columns.unit[decided], level)


def _rows(
    heads: Sequence[tuple[str, ...]],
    found: list[tuple[int, Tendency | None]],
    rest: list[tuple[Cell, ...]],
) -> tuple[tuple[Cell, ...], ...]:
    p_values = adjusted_p([None if one is None else one.p_value for _, one in found])
    rows = []
    for head, (n, one), p, orders in zip(heads, found, p_values, rest, strict=True):
        figures = (None, None, None) if one is None else one.cells()
        rows.append((*head, n, *figures, p, *orders))
    return tuple(rows)
