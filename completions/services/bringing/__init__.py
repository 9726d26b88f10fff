"""Bring messages in that people wrote elsewhere, with the checks of those written here."""

from completions.services.bringing.bringing import (
    OutcomeChangedError,
    bring_messages,
    try_messages,
)
from completions.services.bringing.report import BringReport

__all__ = ["BringReport", "OutcomeChangedError", "bring_messages", "try_messages"]
