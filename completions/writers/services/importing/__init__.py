"""Bring messages in that people wrote elsewhere, with the checks of those written here."""

from completions.writers.services.importing.report import BringReport
from completions.writers.services.importing.storing import bring_messages, try_messages

__all__ = ["BringReport", "bring_messages", "try_messages"]
