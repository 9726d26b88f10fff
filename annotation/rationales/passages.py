"""Pure: passages of a rationale that could identify or reach a person, and what is put for them.

The detectors are those of ``completions.contexts.screening``, and one more: a crowd platform's id
of a person, or a pseudonym of this platform.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from completions.contexts.screening.personal import DETECTORS
from completions.contexts.screening.rules import rules_version as screening_version

NUMBER = 1  # raise it when what is found here changes
OTHER = "other"
"""The kind of a passage that a person marked and no rule found."""
RATER_ID = "rater id"
TOKENS = {
    "introduction": "name",
    "full name": "name",
    "mail": "mail address",
    "account": "account",
    "handle": "account",
    "employer or school": "institution",
    OTHER: "words",
}
"""What a removed passage is called, where the kind is not the word for it."""
_PROLIFIC = re.compile(r"(?<![0-9A-Za-z])(?=[0-9a-f]*\d)[0-9a-f]{24}(?![0-9A-Za-z])")
_MTURK = re.compile(r"(?<![0-9A-Za-z])A(?=[A-Z]*\d)[0-9A-Z]{11,20}(?![0-9A-Za-z])")
_PSEUDONYM = re.compile(r"(?<![0-9A-Za-z])[RW](?=[A-Z]*\d)[2-9A-HJKMNP-Z]{10}(?![0-9A-Za-z])")


class Passage(NamedTuple):
    """Characters of a text, and which kind of personal data they may be."""

    kind: str
    start: int
    end: int


def version() -> str:
    """Return a name for the rules as they are now, with a hash of all that decides."""
    return f"passages-{NUMBER} {screening_version('en')}"


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def find(text: str) -> tuple[Passage, ...]:
    """Return what may be personal data in a text, by place; a passage inside another is left out.

    Examples
    --------
    >>> find("Write to ann@example.com, please.")
    (Passage(kind='mail', start=9, end=24),)
    """
    found = [
        Passage(detector.name, *span) for detector in DETECTORS for span in detector.find(text)
    ]
    return joined([*found, *_ids(text)])


def find_words(text: str, words: Iterable[str]) -> tuple[Passage, ...]:
    """Return where the words that a person marked stand in a text, whatever their case.

    A part of a longer word is none, but in scripts that put no space between words.
    """
    patterns = [r"\s+".join(map(re.escape, one.split())) for one in words if one.strip()]
    return joined(
        Passage(OTHER, *match.span(1))
        for pattern in patterns
        for match in re.finditer(f"(?=({pattern}))", text, re.IGNORECASE)
        if _stands_alone(text, *match.span(1))
    )


def _stands_alone(text: str, start: int, end: int) -> bool:
    edges = (text[start - 1 : start], text[start]), (text[end - 1], text[end : end + 1])
    return not any(all(map(_is_of_a_word, edge)) for edge in edges)


def _is_of_a_word(letter: str) -> bool:
    """Say whether a character makes one word with its like: letters with a case, and digits."""
    return letter == "_" or letter.isdigit() or letter.lower() != letter.upper()


def joined(found: Iterable[Passage]) -> tuple[Passage, ...]:
    """Return passages by place; those that overlap become one, of the kind that begins first."""
    whole = list[Passage]()
    for one in sorted(found, key=lambda one: (one.start, -one.end, one.kind)):
        if whole and one.start < whole[-1].end:
            last = whole[-1]
            whole[-1] = last._replace(end=max(last.end, one.end))
        else:
            whole.append(one)
    return tuple(whole)


def masked(text: str, passages: Sequence[Passage]) -> str:
    """Return the text with each passage replaced by what was there, in brackets.

    Examples
    --------
    >>> masked("Write to ann@example.com, please.", [Passage("mail", 9, 24)])
    'Write to [mail address removed], please.'
    """
    return "".join(
        piece if kind is None else f"[{TOKENS.get(kind, kind)} removed]"
        for kind, piece in pieces(text, passages)
    )


def pieces(text: str, passages: Sequence[Passage]) -> Iterator[tuple[str | None, str]]:
    """Yield the text in pieces that make it up, each with its passage's kind, or None between."""
    place = 0
    for one in joined(passages):
        if text[place : one.start]:
            yield None, text[place : one.start]
        yield one.kind, text[one.start : one.end]
        place = one.end
    if text[place:]:
        yield None, text[place:]


def covers(old: Iterable[Passage], new: Iterable[Passage]) -> bool:
    """Say whether everything that is found now lies within what was found before."""
    known = list(old)
    return all(any(one.start <= it.start and it.end <= one.end for one in known) for it in new)


def _ids(text: str) -> Iterator[Passage]:
    for pattern in (_PROLIFIC, _MTURK, _PSEUDONYM):
        yield from (Passage(RATER_ID, *match.span()) for match in pattern.finditer(text))
