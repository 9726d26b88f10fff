"""Places that lead to a person: a street address, a named school or small employer."""

import re
from collections.abc import Iterator

from completions.contexts.screening.reading import Span

_WAYS = (
    "Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Court|Ct|Boulevard|Blvd|Place|Pl|Terrace|"
    "Crescent|Close|Highway|Hwy|Parkway|Pkwy|Way"
)
_WRITTEN = re.compile(
    rf"\b\d{{1,5}}[A-Za-z]? (?:[NSEW]\.? |North |South |East |West )?"
    rf"(?:[A-Z][\w'\u2019]*|\d{{1,3}}(?:st|nd|rd|th)) (?:[A-Z][\w'\u2019]* )?(?:{_WAYS})\b"
)
_LOWER = re.compile(
    r"\b\d{2,5} (?P<words>(?:[a-z0-9']{2,20} ){1,2})"
    r"(?:street|avenue|ave|road|lane|boulevard|blvd)\b"
)
_NO_STREET = re.compile(
    r"\b(?:a|at|away|block|blocks|by|car|day|days|down|feet|foot|from|hour|hours|in|into|km|lane|"
    r"long|meter|meters|mile|miles|min|minute|minutes|mins|more|of|off|on|other|out|people|per|"
    r"the|their|this|to|up|way|week|weeks|year|years|yr)\b"
)
_CODES = re.compile(
    r"\b[Pp]\.? ?[Oo]\.? [Bb]ox \d+|\b[A-Z]{2} \d{5}(?:-\d{4})?\b|"
    r"\b[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b"
)
_INSTITUTION = re.compile(
    r"\b(?:[A-Z][\w'\u2019.]{2,20} ){1,3}"
    r"(?:(?:High|Middle|Elementary|Primary|Secondary|Grammar|Charter|Public) School|Academy|"
    r"Preschool|Kindergarten|Clinic|Bakery|Diner|Dental|LLC|Ltd|Inc)\b"
)
_NO_NAMES = frozenset({"my", "the", "a", "his", "her", "our", "their", "this", "in", "khan"})


def street_addresses(text: str) -> Iterator[Span]:
    """Yield street addresses, boxes, and post codes with what makes them one."""
    if not any(map(str.isdigit, text)):
        return
    for pattern in (_WRITTEN, _CODES):
        yield from (Span(*match.span()) for match in pattern.finditer(text))
    for match in _LOWER.finditer(text):
        if not _NO_STREET.search(match["words"]):
            yield Span(*match.span())


def institutions(text: str) -> Iterator[Span]:
    """Yield schools and small employers by name; universities and large companies are no clue."""
    for match in _INSTITUTION.finditer(text):
        if match.group().split()[0].lower() not in _NO_NAMES:
            yield Span(*match.span())
