"""Writes of the ranking app; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from ranking.released_selectors import folder_of
    from ranking.services.adapting import adapt_plan, fit_and_adapt
    from ranking.services.analysing import (
        analyse_fit,
        claim_due_analyses,
        forget_analysis_claims,
        reclaim_lost_analyses,
        run_analysis,
    )
    from ranking.services.claiming import (
        claim_changed_fits,
        claim_fit,
        forget_fit_claims,
        reclaim_lost_fits,
    )
    from ranking.services.gating import NoFitError, ask_gate
    from ranking.services.grounds import forget_judgments
    from ranking.services.measuring import measure_raters, measure_study, studies_to_measure
    from ranking.services.moving import MOVES, moves_of
    from ranking.services.publishing import publish_fit, unpublish_fit
    from ranking.services.refitting import Refit, claim_refit
    from ranking.services.releasing import (
        ReleaseRefusedError,
        build_release,
        claim_release,
        keep_release,
        publish_release,
        reclaim_lost_releases,
        run_release,
        unpublish_release,
    )
    from ranking.services.reviewing import (
        Move,
        Movement,
        Review,
        ReviewChangedError,
        movements_without,
        review_raters,
        review_study,
        studies_to_review,
    )
    from ranking.services.running import refit_study, run_fit
    from ranking.services.stored import JudgmentsChangedError
    from ranking.services.ticking import claim_all_changed_fits
    from ranking.services.verifying import Difference, Verification, verify_fit
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "MOVES",
    "Difference",
    "JudgmentsChangedError",
    "Move",
    "Movement",
    "NoFitError",
    "Refit",
    "ReleaseRefusedError",
    "Review",
    "ReviewChangedError",
    "Verification",
    "adapt_plan",
    "analyse_fit",
    "ask_gate",
    "build_release",
    "claim_all_changed_fits",
    "claim_changed_fits",
    "claim_due_analyses",
    "claim_fit",
    "claim_refit",
    "claim_release",
    "fit_and_adapt",
    "folder_of",
    "forget_analysis_claims",
    "forget_fit_claims",
    "forget_judgments",
    "keep_release",
    "measure_raters",
    "measure_study",
    "movements_without",
    "moves_of",
    "publish_fit",
    "publish_release",
    "reclaim_lost_analyses",
    "reclaim_lost_fits",
    "reclaim_lost_releases",
    "refit_study",
    "review_raters",
    "review_study",
    "run_analysis",
    "run_fit",
    "run_release",
    "studies_to_measure",
    "studies_to_review",
    "unpublish_fit",
    "unpublish_release",
    "verify_fit",
]
