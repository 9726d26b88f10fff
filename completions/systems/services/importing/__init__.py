"""Bring in completions of models that were made elsewhere: all of a batch, or none (ADR-0012)."""

from completions.systems.services.importing.bringing import (
    RowsRefusedError,
    bring_completions,
    try_completions,
)
from completions.systems.services.importing.sifting import IntakeReport, Kept

__all__ = ["IntakeReport", "Kept", "RowsRefusedError", "bring_completions", "try_completions"]
