"""Names and texts that are not the same and look alike: told, and never made one."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable


def alike(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Return each group of names that differ only in case, width, punctuation or spaces."""
    groups = defaultdict[str, set[str]](set)
    for name in names:
        groups[_letters(name) or name].add(name)
    return [tuple(sorted(group)) for _, group in sorted(groups.items()) if len(group) > 1]


def one_spelling(text: str) -> str:
    """Return what a reader sees of a text: accents in one encoding, and single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def _letters(name: str) -> str:
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(sign for sign in folded if sign.isalnum() or unicodedata.combining(sign))
