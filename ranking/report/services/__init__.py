"""Writes of the analyses of fits; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from ranking.report.services.analysing import (
        analyse_fit,
        claim_due_analyses,
        forget_analysis_claims,
        reclaim_lost_analyses,
        run_analysis,
    )
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "analyse_fit",
    "claim_due_analyses",
    "forget_analysis_claims",
    "reclaim_lost_analyses",
    "run_analysis",
]
