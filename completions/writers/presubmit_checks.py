"""What a writer is asked to look at again before a message is sent: pure.

The rules are those by which contexts are screened: personal data, and what may hurt or mislead
somebody. They ask, and never refuse: the writer may know better.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from completions.contexts import screening

REASONS: Mapping[str, str] = {
    "personal-data": "It could identify or reach a real person.",
    "self-harm": "It speaks of self-harm. Name no way of doing it; a help line can be named.",
    "clinical": "It sounds like a diagnosis or a treatment. A supporter leaves both to others.",
    "violence": "It speaks of violence.",
    "sexual": "It speaks of sex.",
    "hate": "It may be read as contempt for a group of people.",
}
"""Why each rule asks, as the writer reads it, in the order in which they are shown."""


def version() -> str:
    """Return the version of the rules for the one language with word lists."""
    return screening.rules_version("en")


@dataclass(frozen=True)
class Concern:
    """A piece of a message that a rule fired on: ``matched`` starts at ``start``."""

    rule: str
    matched: str
    start: int

    @property
    def reason(self) -> str:
        """Return why the rule asks."""
        return REASONS[self.rule]


def look(text: str, *, language: str) -> tuple[Concern, ...]:
    """Return what to look at again in ``text``, by reason and place; words are told once.

    A language without word lists is searched for personal data alone.
    """
    found = {
        (finding.rule, text[finding.start : finding.end].strip()): finding.start
        for finding in reversed(screening.disqualifying(text, language=language))
        if finding.rule in REASONS
    }
    order = tuple(REASONS)
    concerns = (Concern(rule, matched, start) for (rule, matched), start in found.items())
    return tuple(sorted(concerns, key=lambda one: (order.index(one.rule), one.start)))
