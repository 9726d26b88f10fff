"""Bring in completions of models that were made elsewhere: all of a batch, or none (ADR-0051)."""

from completions.services.bringing_models.bringing import (
    RowsRefusedError,
    bring_completions,
    try_completions,
)
from completions.services.bringing_models.report import IntakeReport, Kept

__all__ = ["IntakeReport", "Kept", "RowsRefusedError", "bring_completions", "try_completions"]
