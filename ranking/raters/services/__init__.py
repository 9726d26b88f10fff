"""Writes of raters; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from ranking.raters.services.outside import OUTSIDE, OutsideCompared, compare_outside
    from ranking.raters.services.reviewing import (
        MOVES,
        ReviewChangedError,
        measure_raters,
        measure_study,
        movements_without,
        review_raters,
        review_study,
        studies_to_measure,
        studies_to_review,
    )
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "MOVES",
    "OUTSIDE",
    "OutsideCompared",
    "ReviewChangedError",
    "compare_outside",
    "measure_raters",
    "measure_study",
    "movements_without",
    "review_raters",
    "review_study",
    "studies_to_measure",
    "studies_to_review",
]
