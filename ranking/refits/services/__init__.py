"""Writes of refits; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from ranking.refits.services.refitting import RefitClaim, claim_refit
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "RefitClaim",
    "claim_refit",
]
