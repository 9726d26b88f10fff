"""Each evaluator's agreement with the others, by how many answers it rests on."""

import numpy as np

from ranking.analyses.common import decimal
from ranking.findings import Column, ColumnKind, Picture, Table
from ranking.numerics.agreement.majority import NO_MAJORITY, majority_of_others
from ranking.numerics.agreement.opinions import N_VALUES, TIE, Opinions
from ranking.numerics.arrays import Integers
from ranking.numerics.funnel import control_limits, dispersion

FEWEST_ANSWERS = 10
"""With fewer a share takes too few values to have limits."""
FEWEST_EVALUATORS = 5
"""Fewer do not show how far evaluators differ."""
LEVELS = (0.95, 0.998)
SHARE = ColumnKind.SHARE
COLUMNS = (
    Column("evaluator", "Evaluator", ColumnKind.EVALUATOR),
    Column("x", "Answers", ColumnKind.COUNT),
    Column("y", "With most of the others", SHARE),
    Column("centre", "All together", SHARE),
    Column("low", "95 % from", SHARE),
    Column("high", "to", SHARE),
    Column("outer_low", "99.8 % from", SHARE),
    Column("outer_high", "to", SHARE),
)


def alike_funnel(key: str, among: str, panel: Opinions) -> tuple[Table, ...]:
    """Return how often each of a panel sides with most of the others, between control limits.

    Nothing if there are fewer than `FEWEST_EVALUATORS` with `FEWEST_ANSWERS`, or all agree always
    or never.
    """
    n, alike = _counted(panel)
    shown = np.flatnonzero(n >= FEWEST_ANSWERS)
    if len(shown) < FEWEST_EVALUATORS:
        return ()
    n, alike = n[shown], alike[shown]
    centre = float(alike.sum() / n.sum())
    if not 0.0 < centre < 1.0:
        return ()
    share, variance = alike / n, centre * (1.0 - centre)
    spread = dispersion((share - centre) / np.sqrt(variance / n))
    answers = n.astype(np.float64)
    ends = [
        np.clip(end, 0.0, 1.0)
        for level in LEVELS
        for limits in (
            control_limits(answers, centre=centre, variance=variance * spread, level=level),
        )
        for end in (limits.low, limits.high)
    ]
    rows = tuple(
        (
            panel.evaluators[who],
            int(n[place]),
            decimal(share[place]),
            decimal(centre),
            *(decimal(end[place]) for end in ends),
        )
        for place, who in enumerate(shown)
    )
    title = f"Who is unlike the other {among}?"
    return (Table(key, title, _caption(among, spread), COLUMNS, rows, Picture.FUNNEL),)


def _counted(panel: Opinions) -> tuple[Integers, Integers]:
    """Return on how many pairs each, and most of the others, name a side, and it is the same."""
    aim = majority_of_others(panel.item, panel.value, n_items=panel.n_items, n_values=N_VALUES)
    kept = (aim != NO_MAJORITY) & (aim != TIE) & (panel.value != TIE)
    who, alike = panel.evaluator[kept], (panel.value == aim)[kept]
    n_evaluators = len(panel.evaluators)
    n = np.bincount(who, minlength=n_evaluators)
    return n, np.bincount(who[alike], minlength=n_evaluators)


def _caption(among: str, spread: float) -> str:
    return (
        f"How often each names the side that most of the other {among} name, against the number "
        f"of such answers ({FEWEST_ANSWERS} or more). Few answers swing more: if all were alike, "
        "95 % would stay inside the broken lines, 99.8 % inside the dotted ones. Evaluators differ "
        f"{spread:.1f} times as much as independent answers would, so limits are widened by the "
        "root of that. Being unlike the others is no fault, and nobody is left out for it."
    )
