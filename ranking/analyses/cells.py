"""Cells of tables: rounded, and None where a figure is not known."""

import math
from collections.abc import Sequence

import numpy as np

from ranking.findings import Cell, Column, ColumnKind
from ranking.numerics.clustered_means import ClusteredMean
from ranking.numerics.multiplicity import benjamini_hochberg

RATED = (
    Column("system", "System", ColumnKind.SYSTEM),
    Column("value", "Elo", ColumnKind.ELO),
    Column("low", "from", ColumnKind.ELO),
    Column("high", "to", ColumnKind.ELO),
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


def ends(level: float, kind: ColumnKind = ColumnKind.NUMBER) -> tuple[Column, Column]:
    """Return the columns of the ends of an interval; the head says how sure it is."""
    return Column("low", f"{100 * level:g} % from", kind), Column("high", "to", kind)


def interval_cells(
    found: ClusteredMean | None, level: float, *, times: float = 1.0, most: float = math.inf
) -> tuple[Cell, Cell, Cell]:
    """Return a figure and the ends of its interval, so many times as large and ``most`` at most.

    Where dialogues do not differ at all there are no ends: nothing says how far they might.
    """
    if found is None:
        return None, None, None
    whole = (times * one for one in (found.mean, *found.interval(level)))
    value, *reach = (min(most, max(-most, one)) for one in whole)
    low, high = (decimal(end) if found.varies else None for end in reach)
    return decimal(value), low, high


def share_cells(found: ClusteredMean | None, level: float) -> tuple[Cell, Cell, Cell]:
    """Return a share, or a difference of shares, with the ends of its interval, -1 to 1."""
    return interval_cells(found, level, most=1.0)


def adjusted(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust the p-values that there are (Benjamini-Hochberg); the others keep their places."""
    known = [place for place, p in enumerate(p_values) if p is not None]
    raw = np.array([p for p in p_values if p is not None], dtype=np.float64)
    by_place = dict(zip(known, benjamini_hochberg(raw).tolist(), strict=True))
    return [by_place.get(place) for place in range(len(p_values))]
