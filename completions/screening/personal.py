"""Personal data: what could identify or reach a real person, found without a network."""

import re

import phonenumbers

from completions.screening.reading import Reading, Span

REGIONS = ("US", "GB", "IN", "PH")
PATTERNS = (
    re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"),
    re.compile(r"\bhttps?://\S{4,}", re.IGNORECASE),
    re.compile(r"\b(?:[Mm]y name(?: is|'s)|[Ii] am called) [A-Z][a-z]+"),
)
_DIGITS = re.compile(r"(?:\d[^\d]{0,3}){7}")


def find(reading: Reading) -> list[Span]:
    """Return where personal data stands."""
    found = [Span(*match.span()) for one in PATTERNS for match in one.finditer(reading.text)]
    if _DIGITS.search(reading.text):
        found += [
            Span(match.start, match.end)
            for region in REGIONS
            for match in phonenumbers.PhoneNumberMatcher(reading.text, region)
        ]
    return sorted(set(found))
