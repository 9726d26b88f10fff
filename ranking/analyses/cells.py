"""Cells of tables: rounded, and None where a figure is not known."""

import math
from collections.abc import Sequence

import numpy as np

from ranking.findings import Cell
from ranking.numerics.clustered_means import ClusteredMean
from ranking.numerics.multiplicity import benjamini_hochberg


def family_of(tests: str) -> str:
    """Say over which tests p-values are adjusted, as the caption of each table with some does."""
    return f"P-values are adjusted over one family of tests: {tests}."


def decimal(value: float | None, digits: int = 4) -> float | None:
    """Return a number as it is stored: rounded, and None where it is not known."""
    return None if value is None or not math.isfinite(value) else round(float(value), digits)


def share_cells(found: ClusteredMean | None, level: float) -> tuple[Cell, Cell, Cell]:
    """Return a share, or a difference of shares, with the ends of its interval, -1 to 1.

    Where dialogues do not differ at all there are no ends: nothing says how far they might.
    """
    if found is None:
        return None, None, None
    value, *ends = (min(1.0, max(-1.0, one)) for one in (found.mean, *found.interval(level)))
    low, high = (decimal(end) if found.varies else None for end in ends)
    return decimal(value), low, high


def adjusted(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust the p-values that there are (Benjamini-Hochberg); the others keep their places."""
    known = [place for place, p in enumerate(p_values) if p is not None]
    raw = np.array([p for p in p_values if p is not None], dtype=np.float64)
    by_place = dict(zip(known, benjamini_hochberg(raw).tolist(), strict=True))
    return [by_place.get(place) for place in range(len(p_values))]
