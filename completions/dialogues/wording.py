"""Pure rules of a written completion: its counts, and the few things that stop it."""

import re

MIN_WORDS = 3
MAX_WORDS = 150
AIM_WORDS = 40
MAX_CHARACTERS = 4000

_WORD = re.compile(r"[^\W_]+(?:['\u2019\-][^\W_]+)*")
_SENTENCE_END = re.compile(
    r"(?<![.!?\u2026\u3002\uff01\uff1f])[.!?\u2026\u3002\uff01\uff1f]++(?:\s|$)"
)


class UnusableTextError(ValueError):
    """A text is empty, far too short or far too long; the message says which."""


def count_words(text: str) -> int:
    """Return the number of words, in any script that separates them."""
    return len(_WORD.findall(text))


def count_sentences(text: str) -> int:
    """Return the number of sentences; a last one without a full stop counts."""
    parts = [part for part in _SENTENCE_END.split(text) if count_words(part)]
    return len(parts)


def check_text(text: str) -> str:
    """Return the text without outer white space, or refuse it.

    Raises
    ------
    UnusableTextError
        If the text has fewer than 3 or more than 150 words, or over 4,000 characters.
    """
    text = text.strip()
    n_words = count_words(text)
    if n_words < MIN_WORDS:
        msg = f"Please write at least {MIN_WORDS} words."
        raise UnusableTextError(msg)
    for count, most, what in (
        (n_words, MAX_WORDS, "words"),
        (len(text), MAX_CHARACTERS, "characters"),
    ):
        if count > most:
            msg = f"Please shorten it: {count:,} {what}, and {most:,} is the most."
            raise UnusableTextError(msg)
    return text
