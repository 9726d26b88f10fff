"""Bring messages in that people wrote elsewhere, with the checks of those written here."""

from completions.writers.services.importing.bringing import bring_messages, try_messages
from completions.writers.services.importing.report import BringReport

__all__ = ["BringReport", "bring_messages", "try_messages"]
