"""Writes of fits; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from ranking.fits.services.claiming import (
        claim_changed_fits,
        claim_fit,
        forget_fit_claims,
        reclaim_lost_fits,
    )
    from ranking.fits.services.inputs import JudgmentsChangedError
    from ranking.fits.services.publishing import publish_fit, unpublish_fit
    from ranking.fits.services.running import adapt_plan, fit_and_adapt, refit_study, run_fit
    from ranking.fits.services.ticking import claim_all_changed_fits
    from ranking.fits.services.verifying import verify_fit
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "JudgmentsChangedError",
    "adapt_plan",
    "claim_all_changed_fits",
    "claim_changed_fits",
    "claim_fit",
    "fit_and_adapt",
    "forget_fit_claims",
    "publish_fit",
    "reclaim_lost_fits",
    "refit_study",
    "run_fit",
    "unpublish_fit",
    "verify_fit",
]
