"""Reads of the coverage map: which contexts have a completion of which system, counted in SQL."""

from completions.systems.coverage.cells import STATES, cell_details
from completions.systems.coverage.matrix import (
    COVERAGE,
    UnknownCoverageError,
    all_rows,
    coverage,
)

__all__ = [
    "COVERAGE",
    "STATES",
    "UnknownCoverageError",
    "all_rows",
    "cell_details",
    "coverage",
]
