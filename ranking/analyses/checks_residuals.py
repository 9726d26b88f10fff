"""Pairs that the ratings do not explain: a heat map of them all, and the worst."""

from collections.abc import Sequence

import numpy as np
from scipy import special

from ranking.analyses.cells import decimal, family_of
from ranking.findings import Column, ColumnKind, Picture, Table
from ranking.numerics.checks.residuals import PairResiduals
from ranking.numerics.multiplicity import holm

MOST_PAIRS = 50
MOST_SYSTEMS = 40


def heat_table(
    residuals: PairResiduals, systems: Sequence[str], best_first: Sequence[int]
) -> Table:
    """Return how far each pair is off the ratings; of many systems the best are shown."""
    matrix = np.full((len(systems), len(systems)), np.nan)
    matrix[residuals.first, residuals.second] = residuals.standardised
    matrix[residuals.second, residuals.first] = -residuals.standardised
    shown = best_first[:MOST_SYSTEMS]
    rows = tuple((systems[i], *(decimal(matrix[i, j], 2) for j in shown)) for i in shown)
    return Table(
        "residuals",
        "Where the ratings are off",
        "How many standard errors more (or fewer) the row's system won against the column's than "
        "the ratings predict. Chance alone makes one in twenty larger than 2.",
        (
            Column("system", "System", ColumnKind.SYSTEM),
            *(Column(systems[j], systems[j]) for j in shown),
        ),
        rows,
        Picture.HEAT,
    )


def worst_table(residuals: PairResiduals, systems: Sequence[str]) -> Table:
    """Return the pairs that are farthest off the ratings."""
    z = residuals.standardised
    known = np.flatnonzero(np.isfinite(z))
    p = holm(2.0 * special.stdtr(residuals.n_clusters - 1, -np.abs(z[known])))
    order = np.argsort(-np.abs(z[known]), kind="stable")[:MOST_PAIRS]
    rows = tuple(
        (
            systems[residuals.first[known[k]]],
            systems[residuals.second[known[k]]],
            decimal(residuals.predicted[known[k]]),
            decimal(residuals.won[known[k]]),
            decimal(z[known[k]], 2),
            decimal(p[k], 6),
        )
        for k in order
    )
    return Table(
        "pairs",
        "The pairs that fit worst",
        "Share of the judgments that the first system should have taken and did take, as the "
        f"ratings count them. At most {MOST_PAIRS} pairs. "
        f"{family_of('all pairs that were judged, also those not listed')}",
        (
            Column("first", "System", ColumnKind.SYSTEM),
            Column("second", "Against", ColumnKind.SYSTEM),
            Column("predicted", "Predicted", ColumnKind.SHARE),
            Column("taken", "Taken", ColumnKind.SHARE),
            Column("z", "Standard errors apart"),
            Column("p", "p, Holm", ColumnKind.P_VALUE),
        ),
        rows,
    )
