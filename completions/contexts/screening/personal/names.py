"""Names by which people introduce themselves, and full names of people they speak of."""

import re
from collections.abc import Iterator

from completions.contexts.screening import lexicon
from completions.contexts.screening.reading import ReadText, Span

_CAPITAL = "[A-ZÀ-ÖØ-ÞĆČĎĐĘĚĞĢĪĶĻŁŃŅŇŐŒŘŚŞŠŤŪŮŰŸŹŻŽȘȚ]"
_SMALL = r"[^\W\d_A-Z]"  # of any script that has them
_NAME = rf"{_CAPITAL}{_SMALL}{{1,20}}(?:['\u2019-]{_CAPITAL}?{_SMALL}+)?"
_LAST = rf"(?: (?:{_CAPITAL}\. ?)?{_NAME})?"
_END = r"(?=\s*(?:[.,!?;:)\n]|$| and\b| from\b| here\b| by the way\b| btw\b))"
_TOLD = re.compile(
    r"\b(?i:my (?:(?:first|last|full|real|actual) )?name(?: is|'s|\u2019s|:)) "
    rf"(?P<name>[^\W\d_][\w'\u2019-]{{1,20}}){_LAST}"
)
_CALL_ME = re.compile(rf"\b[Cc]all me (?P<name>{_NAME}){_LAST}{_END}")
_GREETED = re.compile(
    r"\b(?:[Hh]i|HI|[Hh]ello|[Hh]ey|[Gg]reetings|[Gg]ood (?:morning|afternoon|evening))\b"
    r"[ \w]{0,12}[,.! ]{1,3}"
    rf"(?:[Ii] ?['\u2019]?m|[Ii] am|[Tt]his is|[Ii]t'?s) (?P<name>{_NAME}){_LAST}"
)
_I_AM = re.compile(
    rf"(?:^|[.!?\n] ?)(?:[Ii] ?['\u2019]?m|[Ii] am|[Tt]his is) (?P<name>{_NAME}){_LAST}{_END}"
)
_HERE = re.compile(rf"(?:^|[.!?,] )(?P<name>{_NAME}) here\b(?=[.!,]|$)")
_RELATIONS = (
    "boss|manager|supervisor|teacher|professor|friend|neighbou?r|husband|wife|partner|boyfriend|"
    "girlfriend|fianc[eé]e?|ex|brother|sister|mother|father|mom|mum|dad|son|daughter|cousin|"
    "colleague|coworker|co-worker|landlord|therapist|doctor|roommate"
)
_FULL = rf"{_NAME} (?:{_CAPITAL}\. ?)?{_NAME}"
_RELATED = re.compile(
    rf"\b(?:[Mm]y|[Hh]er|[Hh]is|[Oo]ur|[Tt]heir) (?:\w+ )?(?:{_RELATIONS})"
    rf"(?:'s name)?(?: is| was| named|,)? (?P<name>{_FULL})"
)
_NAMED = re.compile(
    rf"\b(?:named|(?:[Mm]r|[Mm]rs|[Mm]s|[Dd]r|[Pp]rof)\.?|[Pp]rofessor) (?P<name>{_FULL})"
)


def introductions(text: str) -> Iterator[Span]:
    """Yield self-introductions by name: "my name is ...", "I'm ...", "... here".

    After "I'm" a name has a capital, ends its clause, and is not a word of ``not-names``
    ("I'm Sad", "I'm Canadian").
    """
    for match in _TOLD.finditer(text):
        if not _is_no_name(match["name"]):
            yield Span(*match.span())
    for pattern in (_CALL_ME, _GREETED, _I_AM, _HERE):
        for match in pattern.finditer(text):
            if not _is_no_name(match["name"]):
                yield Span(match.start() + _lead(match.group()), match.end())


def full_names(text: str) -> Iterator[Span]:
    """Yield first with last name, of a person whom the speaker knows or addresses by title."""
    for pattern in (_RELATED, _NAMED):
        for match in pattern.finditer(text):
            if not any(_is_no_name(part) for part in match["name"].split()):
                yield Span(*match.span())


def _is_no_name(word: str) -> bool:
    return bool(lexicon.load("en", "not-names").find(ReadText(word)))


def _lead(found: str) -> int:
    """Return how many characters come before the first letter."""
    return next(place for place, character in enumerate(found) if character.isalpha())
