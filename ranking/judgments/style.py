"""What may sway a judge about a text besides what it says: its length and its form."""

import re
import unicodedata

FEATURES = ("length", "sentences", "question_marks", "list_items")
"""The names of the figures, in the order in which `features` gives them."""

_QUESTION_MARKS = frozenset(
    "?"
    "\u061f"  # Arabic
    "\u037e"  # Greek, not folded to a semicolon
    "\u055e"  # Armenian
    "\u1367"  # Ethiopic
    "\u203d\u2047\u2048\u2049"  # interrobang and doubled marks
    "\uff1f"  # full width
)
_STOPS = (
    r".!?\u2026\u0589\u055e\u061f\u06d4\u0964\u0965\u1362\u1367\u203d\u2047-\u2049"
    r"\u3002\uff01\uff0e\uff1f\uff61"
)
_CLOSING = r"\"'\u2019\u201d\u00bb)\]\u300d\u300f\uff09"
# A Latin full stop ends a sentence before space only ("3.5"), an ideographic one anywhere.
_SENTENCE_END = re.compile(
    rf"(?<![{_STOPS}])[{_STOPS}]++[{_CLOSING}]*+(?:\s+|$)|[\u3002\uff01\uff1f\uff61]+[{_CLOSING}]*|\n\s*\n"
)
_LIST_ITEM = re.compile(
    r"^[ \t]*(?:[-*+\u2022\u2023\u25e6\u2043\u2219\u30fb\u00b7]|\(?(?:\d{1,2}|[a-zA-Z])[.)])"
    r"[ \t]+\S",
    re.MULTILINE,
)
_UNSEEN = ("Mn", "Me", "Cf", "Cc")


def features(text: str) -> tuple[float, float, float, float]:
    """Measure the style of a text.

    Parameters
    ----------
    text : str
        A completion as raters see it, in any script.

    Returns
    -------
    tuple of four floats
        Characters, sentences, question marks, and items of lists, each a count of at least 0,
        in the order of `FEATURES`.

    Notes
    -----
    Characters are the ones that take up room: line breaks, white space at the ends, accents
    that are written apart, joiners and direction marks are not counted, so the same words weigh
    alike however they were encoded. A sentence ends at a full stop, question or exclamation
    mark of the scripts named in this module, or at an empty line, and holds a letter, a digit
    or a picture; a last one without a mark counts. A list item is a line that
    opens with a bullet, or with a number or single letter and a full stop or bracket. Cost O(n)
    in the length of the text.
    """
    shown = unicodedata.normalize("NFC", text).strip()
    return (
        float(sum(_is_seen(character) for character in shown)),
        float(sum(_says_something(part) for part in _SENTENCE_END.split(shown))),
        float(sum(character in _QUESTION_MARKS for character in shown)),
        float(len(_LIST_ITEM.findall(shown))),
    )


def _is_seen(character: str) -> bool:
    return unicodedata.category(character) not in _UNSEEN


def _says_something(part: str) -> bool:
    return any(c.isalnum() or unicodedata.category(c) == "So" for c in part)
