"""Reads of the coverage map: which contexts have a completion of which system, counted in SQL."""

from completions.coverage_selectors.cells import STATES
from completions.coverage_selectors.map import (
    CoverageWanted,
    UnknownCoverageError,
    all_rows,
    coverage,
)
from completions.coverage_selectors.shown import cell_shown

__all__ = ["STATES", "CoverageWanted", "UnknownCoverageError", "all_rows", "cell_shown", "coverage"]
