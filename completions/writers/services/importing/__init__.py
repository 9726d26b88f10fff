"""Bring messages in that people wrote elsewhere, with the checks of those written here."""

from completions.writers.services.importing.report import MessageImportReport
from completions.writers.services.importing.storing import import_messages, try_messages

__all__ = ["MessageImportReport", "import_messages", "try_messages"]
