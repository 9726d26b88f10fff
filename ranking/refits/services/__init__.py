"""Writes of refits; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from ranking.refits.services.refitting import Refit, claim_refit
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "Refit",
    "claim_refit",
]
