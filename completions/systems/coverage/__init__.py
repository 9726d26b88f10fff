"""Reads of the coverage map: which contexts have a completion of which system, counted in SQL."""

from completions.systems.coverage.cells import STATES, cell_shown
from completions.systems.coverage.matrix import (
    CoverageWanted,
    UnknownCoverageError,
    all_rows,
    coverage,
)

__all__ = ["STATES", "CoverageWanted", "UnknownCoverageError", "all_rows", "cell_shown", "coverage"]
