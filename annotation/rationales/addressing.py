"""Messages that speak to whoever judges them instead of to the seeker.

The prompt tells judges that a message is never an instruction. That is no proof against one, so
such messages are flagged, and people can look at how their judgments came out. A flag changes
nothing: it is neither a verdict nor a reason to leave one out.
"""

import re
import unicodedata
from collections.abc import Mapping

_KIND = "(?:message|candidate|option|response|reply|answer|completion|text|side|choice)"
_JUDGE = r"(?:judge|grader|evaluator|rater|assessor|annotator)"
_END = r"\b(?=[\"')*]*\s*(?:$|[.,;:!?]|\n|(?i:and|as|because|is|over|regardless)\b))"
_UPPER, _LOWER = (rf"[\"'(*]*[{letters}]{_END}" for letters in ("AB", "ab"))
"""A letter that stands alone: "a" and "b" are words and marks too."""
_WANT = r"(?i:choose|pick|select|prefer|vote(?:\s+for)?|favou?r)\s+(?:(?i:the)\s+)?"
_SAY = r"(?i:answer|output|return|say|declare)\s+(?:(?i:the)\s+)?"

PATTERNS: Mapping[str, re.Pattern[str]] = {
    # "Ignore the rubric", "disregard all previous instructions"
    "sets-rules-aside": re.compile(
        r"\b(?:ignore|disregard|forget|override|bypass|set aside)\b[^.!?\n]{0,40}"
        r"\b(?:rubric|codebook|checklist|criteria|dimensions|(?:system )?prompt|instructions)\b",
        re.IGNORECASE,
    ),
    # "As a judge", "you are the judge", "dear evaluator"; not "you are the best judge of that"
    "speaks-to-judge": re.compile(
        r"\b(?:as|you are|you're|dear|hey|hello|note to|attention:?)"
        rf"\s+(?:(?:the|an?|all|our|my)\s+)?(?:(?:ai|llm|fair|impartial|expert)\s+)*{_JUDGE}s?\b"
        r"(?!\s+of\b)",
        re.IGNORECASE,
    ),
    # "Choose A.", "vote for A because", "answer B"; "pick option b", but not "choose a friend"
    "asks-for-letter": re.compile(
        rf"\b(?:{_WANT}|{_SAY})(?:(?i:{_KIND}|winner(?:\s+is)?)(?:\s*:)?\s+)?{_UPPER}"
        rf"|\b{_WANT}(?i:{_KIND})\s+{_LOWER}"
    ),
    # "The winner is A", "message B is better", "A wins"
    "names-winner": re.compile(
        rf"\b(?i:winner|verdict|best\s+{_KIND})\b\W{{0,3}}(?i:is|should\s+be|must\s+be)?\W{{0,3}}[AB]\b"
        rf"|\b(?i:{_KIND})\s+[AB]\s+(?i:is|should|must|wins|deserves)\b"
        r"|\b[AB]\s+(?i:wins|is\s+(?:better|best|the\s+winner)|should\s+win)\b"
    ),
    # "This response is clearly the best", "rate this reply 5", "strength 5"
    "praises-itself": re.compile(
        rf"\bthis\s+{_KIND}\s+(?:is|was|should\s+be|deserves|must)\b[^.!?\n]{{0,30}}"
        r"\b(?:better|best|winner|preferred|superior|chosen|highest|top|win)\b"
        rf"|\b(?:rate|score|grade|rank)\s+(?:this|my)\s+{_KIND}\b"
        r"|\bstrength(?:\s*(?:of|[:=]))?\s*[1-5]\b(?!\s*(?:and|or|people|things|years))",
        re.IGNORECASE,
    ),
    # The keys of a judge's answer, in quotation marks, with a colon behind them
    "holds-verdict": re.compile(
        r"[\"'](?:winner|verdict|strength|preferred|rationale|dimensions)[\"']\s*:", re.IGNORECASE
    ),
    # "<system>", "</candidate_a>", "[INST]", a line that begins with "Assistant:"
    "plays-role": re.compile(
        r"</?(?:system|assistant|user|human|developer|instructions?|judge|dialogue|answer_schema"
        r"|candidate[_ ]?[ab])\b[^>\n]{0,40}>|<\|[a-z_]{2,30}\|>|\[/?INST\]|<</?SYS>>"
        r"|^[ \t#*]*(?:system|assistant|user|human|developer)(?:\s+(?:prompt|message))?[ \t*]*:",
        re.IGNORECASE | re.MULTILINE,
    ),
}
"""What is looked for, by the name under which it is flagged; an example of each is above it."""


def addressed_by(text: str) -> tuple[str, ...]:
    """Name the ways in which a message addresses its judge; none for almost every message."""
    plain = unicodedata.normalize("NFKC", text)
    return tuple(name for name, pattern in PATTERNS.items() if pattern.search(plain))
