"""What a reader of a dialogue would see, screened by small named rules: pure."""

from completions.contexts.screening.rules import (
    DISQUALIFIERS,
    RULES,
    SIGNALS,
    Finding,
    Rule,
    Screened,
    disqualifying,
    rules_version,
    screen,
)

__all__ = [
    "DISQUALIFIERS",
    "RULES",
    "SIGNALS",
    "Finding",
    "Rule",
    "Screened",
    "disqualifying",
    "rules_version",
    "screen",
]
