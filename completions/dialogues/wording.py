"""Pure rules of a written completion: its counts, what stops it, and fields that hold one."""

import datetime as dt
import re
import unicodedata
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from completions.dialogues.ingest.dialogue import Text, Utterance
from completions.dialogues.normaliser import typed

MIN_WORDS = 3
MAX_WORDS = 150
MAX_CHARACTERS = 4000

_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
"""Thai, Lao, Burmese, Khmer, kana and Han: no spaces between words, so two letters are one."""
_WORD = re.compile(
    rf"(?:(?=[^\W_])[{_UNSPACED}]){{1,2}}"
    rf"|[^\W_{_UNSPACED}]+(?:['\u2019\-][^\W_{_UNSPACED}]+)*"
)
_JOINERS = "\u200c\u200d"
_STOPS = (
    r".!?\u2026\u0589\u055e\u061f\u06d4\u0964\u0965\u104b\u1362\u1367\u17d4\u203c\u203d"
    r"\u2047-\u2049\u3002\uff01\uff0e\uff1f\uff61"
)
"""Full stops, question and exclamation marks: Armenian, Arabic, Indic, Burmese and so on, too."""
# A Latin full stop ends a sentence before space only ("3.5"), an ideographic one anywhere.
_SENTENCE_END = re.compile(rf"(?<![{_STOPS}])[{_STOPS}]++(?:\s|$)|[\u3002\uff01\uff1f\uff61]+")


class UnusableTextError(ValueError):
    """A text is empty, far too short or far too long; the message says which."""


def count_words(text: str) -> int:
    """Return the number of words; where a script does not separate them, about their number.

    Vowel signs, accents and joiners are no letters, but they part no word; nor does what nobody
    can see.
    """
    return len(_WORD.findall(text if text.isascii() else _without_marks(typed(text))))


def _without_marks(text: str) -> str:
    is_mark = {sign: unicodedata.category(sign)[0] == "M" or sign in _JOINERS for sign in set(text)}
    return "".join(sign for sign in text if not is_mark[sign])


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


LONGEST_KEY = 24
EARLIEST = 1990
ALLOWED_CONTROLS = "\n\t"


def plain(text: str) -> str:
    """Refuse signs that steer a machine, and name the first by its number."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for sign in text:
        if unicodedata.category(sign) == "Cc" and sign not in ALLOWED_CONTROLS:
            msg = f"contains the control character U+{ord(sign):04X}"
            raise ValueError(msg)
    return text


def _moment(value: object) -> object:
    """Read ISO 8601; null and nothing are no time. Numbers are refused, not taken for seconds."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        found = dt.datetime.fromisoformat(value.strip()) if isinstance(value, str) else None
    except ValueError:
        found = None
    if found is None or found.tzinfo is None or found.year < EARLIEST:
        msg = "is not a time of ISO 8601 with its zone from 1990 on, such as 2026-01-31T18:05:00Z"
        raise ValueError(msg)
    return found


Key = Annotated[Utterance, Field(max_length=LONGEST_KEY)]
Message = Annotated[Text, AfterValidator(plain)]
Moment = Annotated[dt.datetime | None, BeforeValidator(_moment)]
