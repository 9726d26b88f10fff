"""Bring in completions of models that were made elsewhere: all of a batch, or none (ADR-0012)."""

from completions.systems.services.importing.sifting import IntakeReport, Kept
from completions.systems.services.importing.storing import (
    RowsRefusedError,
    import_completions,
    try_completions,
)

__all__ = ["IntakeReport", "Kept", "RowsRefusedError", "import_completions", "try_completions"]
