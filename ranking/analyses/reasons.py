"""Rationales coded by the themes that they speak of."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.rationales.themes import Codebook
from ranking.numerics.arrays import Booleans, Floats, Integers


@dataclass(frozen=True)
class Reasons:
    """The rationales given, coded; ``rows`` are the judgments that they belong to.

    ``speaks`` has shape (n_rationales, n_themes), ``words`` counts the words of each.
    """

    rows: Integers
    speaks: Booleans
    words: Floats

    def taken(self, chosen: Booleans) -> "Reasons":
        """Return some of them."""
        return Reasons(self.rows[chosen], self.speaks[chosen], self.words[chosen])


def coded(
    rationales: Sequence[str], book: Codebook, *, most: int, rng: np.random.Generator
) -> Reasons:
    """Code the rationales that are not empty, or so many of them drawn at random.

    Texts that occur often are read once. Cost O(rationales * themes), some microseconds each.
    """
    given = np.array([place for place, text in enumerate(rationales) if text.strip()], dtype=int)
    if len(given) > most:
        given = np.sort(rng.choice(given, most, replace=False))
    texts = [rationales[place] for place in given]
    known = {text: [theme.is_in(text) for theme in book.themes] for text in set(texts)}
    speaks = np.array([known[text] for text in texts], dtype=np.bool_)
    words = np.array([len(text.split()) for text in texts], dtype=np.float64)
    return Reasons(given, speaks.reshape(len(texts), len(book.themes)), words)
