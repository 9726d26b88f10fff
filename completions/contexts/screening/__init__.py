"""What a reader of a dialogue would see, screened by small named rules: pure."""

from completions.contexts.screening.points import Finding, Screened, disqualifying, screen
from completions.contexts.screening.rules import DISQUALIFIERS, RULES, SIGNALS, Rule
from completions.contexts.screening.version import rules_version

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
