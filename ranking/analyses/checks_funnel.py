"""Every pair of systems against what the ratings predict, by how much the pair can tell."""

from collections.abc import Sequence

import numpy as np

from ranking.analyses.cells import decimal
from ranking.findings import Cell, Column, ColumnKind, Picture, Table
from ranking.numerics.arrays import Booleans
from ranking.numerics.checks.residuals import PairResiduals
from ranking.numerics.funnel import control_limits

FEWEST_DOTS = 2
MOST_SYSTEMS = 40
LEVELS = (0.95, 0.998)
COLUMNS = (
    Column("first", "System", ColumnKind.SYSTEM),
    Column("second", "Against", ColumnKind.SYSTEM),
    Column("n", "Judgments", ColumnKind.COUNT),
    Column("x", "Judgments, if all pairs varied alike"),
    Column("y", "Won beyond prediction", ColumnKind.SHARE),
    Column("centre", "Expected", ColumnKind.SHARE),
    Column("low", "95 % from", ColumnKind.SHARE),
    Column("high", "to", ColumnKind.SHARE),
    Column("outer_low", "99.8 % from", ColumnKind.SHARE),
    Column("outer_high", "to", ColumnKind.SHARE),
)
CAPTION = (
    "Each dot is a pair: by how much the better rated system won more (or less) often than the "
    "ratings predict, against how many judgments that rests on; pairs whose judgments vary more "
    "than those of the others, or go together by source dialogue, stand farther left. If the "
    "ratings are right, chance keeps 95 % of pairs inside the broken lines and 99.8 % inside the "
    "dotted ones: of twenty expect one outside. Hollow dots are outside, and have names."
)


def pairs_funnel(
    residuals: PairResiduals, systems: Sequence[str], best_first: Sequence[int]
) -> tuple[Table, ...]:
    """Return each pair's share beyond the prediction with control limits, if there are two.

    A pair's judgments are counted as if each varied as the mean of all does: n times the mean
    variance of one judgment, over that of the pair, both clustered by dialogue. One funnel then
    has the limits of all. Of many systems the best are shown.
    """
    shown = np.flatnonzero(_is_shown(residuals, best_first[:MOST_SYSTEMS]))
    if len(shown) < FEWEST_DOTS:
        return ()
    n, variance = residuals.n[shown], residuals.variance[shown]
    mean = float(variance.sum() / n.sum())
    alike = n**2 * mean / variance
    limits = [
        control_limits(
            alike, centre=0.0, variance=mean, level=level, degrees=residuals.n_clusters - 1
        )
        for level in LEVELS
    ]
    place_of = {system: place for place, system in enumerate(best_first)}
    rows: list[tuple[Cell, ...]] = []
    for place, k in enumerate(shown):
        first, second = int(residuals.first[k]), int(residuals.second[k])
        share = float(residuals.residual[k] / residuals.n[k])
        if place_of[second] < place_of[first]:
            first, second, share = second, first, -share
        ends = (decimal(end[place]) for one in limits for end in (one.low, one.high))
        counted = (round(float(n[place])), decimal(alike[place], 2))
        rows.append((systems[first], systems[second], *counted, decimal(share), 0.0, *ends))
    table = Table(
        "funnel", "Is any pair out of line?", CAPTION, COLUMNS, tuple(rows), Picture.FUNNEL
    )
    return (table,)


def _is_shown(residuals: PairResiduals, systems: Sequence[int]) -> Booleans:
    """Say which pairs are of these systems and can be off at all."""
    are_shown = np.isin(residuals.first, systems) & np.isin(residuals.second, systems)
    found: Booleans = are_shown & np.isfinite(residuals.standardised)
    return found
