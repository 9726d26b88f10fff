"""Bring messages in that people wrote elsewhere, with the checks of those written here."""

from completions.writers.services.importing.storing import (
    MessageImportReport,
    import_messages,
    try_messages,
)

__all__ = ["MessageImportReport", "import_messages", "try_messages"]
