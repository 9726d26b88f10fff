"""What a writer is asked to look at again before a message is sent: pure.

The rules are those by which contexts are screened, personal data and what may hurt or mislead
somebody, and those by which completions give their source away. They ask, and never refuse: the
writer may know better.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from completions.contexts.screening.rules import disqualifying, rules_version
from completions.leaks import rules as leak_rules

SOURCE = "source"
OF_SOFTWARE = (leak_rules.SELF_IDENTIFICATION, leak_rules.MODEL_NAME, leak_rules.REFUSAL)
REASONS: Mapping[str, str] = {
    "personal-data": "this could identify a real person.",
    "self-harm": "this speaks of self-harm. Don’t name a method; you can name a help line.",
    "clinical": "this sounds like a diagnosis or a treatment. A supporter leaves both to others.",
    "violence": "this speaks of violence.",
    "sexual": "this speaks of sex.",
    "hate": "this could be read as contempt for a group of people.",
    SOURCE: "this reads as if software had written it. Please use your own words.",
}
"""Why each rule asks, as the writer reads it, in the order in which they are shown."""


def version() -> str:
    """Return the version of the rules for the one language with word lists."""
    return rules_version("en")


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

    A language without word lists is searched for personal data alone; what gives software away is
    known in English.
    """
    found = {
        (finding.rule, text[finding.start : finding.end].strip()): finding.start
        for finding in reversed(disqualifying(text, language=language))
        if finding.rule in REASONS
    }
    found |= {
        (SOURCE, leak.matched): leak.start
        for leak in reversed(leak_rules.find_leaks(text))
        if leak.reason in OF_SOFTWARE
    }
    order = tuple(REASONS)
    concerns = (Concern(rule, matched, start) for (rule, matched), start in found.items())
    return tuple(sorted(concerns, key=lambda one: (order.index(one.rule), one.start)))
