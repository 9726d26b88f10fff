"""Writes of the gate; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from ranking.gate.services.gating import NoFitError, ask_gate
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "NoFitError",
    "ask_gate",
]
