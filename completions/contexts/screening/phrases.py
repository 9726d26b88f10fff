"""Phrases of words and gaps, and where they occur in a text; the time is linear in its length."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from completions.contexts.screening.reading import SENTENCE, UNPARTED, Word

GAP_WORDS = 3
"""The most words that a gap spans; they stand in one sentence."""
Range = tuple[int, int]
"""The first and the last word of an occurrence."""


@dataclass(frozen=True)
class Element:
    """One place of a phrase: the words that fit and the beginnings that fit, or a gap."""

    words: frozenset[str] = frozenset()
    beginnings: tuple[str, ...] = ()
    is_gap: bool = False

    def fits(self, word: Word) -> bool:
        """Tell whether the word can stand here."""
        if not self.words.isdisjoint(word.forms):
            return True
        return bool(self.beginnings) and any(
            form.startswith(self.beginnings) for form in word.forms
        )


@dataclass(frozen=True)
class Phrase:
    """What is found (``core``), and what has to stand before and after it to be found.

    An exception for any entry of its lexicon has an empty core.
    """

    core: tuple[Element, ...]
    before: tuple[Element, ...] = ()
    after: tuple[Element, ...] = ()

    def is_around(self, words: Sequence[Word], found: Range) -> bool:
        """Tell whether that which stands before and after the core stands around these words."""
        first, last = found
        return _leads_to(self.before, words, first) and (
            not self.after or bool(_ends((Element(), *self.after), words, last))
        )


class Starts(dict[tuple[str, ...], tuple[Phrase, ...]]):
    """The phrases whose core a word can begin; worked out once per spelling."""

    def __init__(self, phrases: Iterable[Phrase]) -> None:
        super().__init__()
        self._by_word: dict[str, list[Phrase]] = defaultdict(list)
        self._by_beginning: dict[str, list[Phrase]] = defaultdict(list)
        for phrase in phrases:
            for word in phrase.core[0].words:
                self._by_word[word].append(phrase)
            for beginning in phrase.core[0].beginnings:
                self._by_beginning[beginning].append(phrase)
        self._longest = max(map(len, self._by_beginning), default=0)

    def __missing__(self, forms: tuple[str, ...]) -> tuple[Phrase, ...]:
        found = [phrase for form in forms for phrase in self._by_word.get(form, ())]
        found += [
            phrase
            for form in forms
            for length in range(1, min(len(form), self._longest) + 1)
            for phrase in self._by_beginning.get(form[:length], ())
        ]
        self[forms] = tuple(dict.fromkeys(found))
        return self[forms]

    def occurrences(self, words: Sequence[Word]) -> Iterator[Range]:
        """Yield where cores occur in their surroundings, the longest at each word."""
        for place, word in enumerate(words):
            phrases = self[word.forms]
            if not phrases:
                continue
            ends = [
                end
                for phrase in phrases
                for end in _ends(phrase.core, words, place)
                if phrase.is_around(words, (place, end))
            ]
            if ends:
                yield place, max(ends)


def _ends(elements: Sequence[Element], words: Sequence[Word], place: int) -> Collection[int]:
    """Return where the elements can end if the first of them is met at a place."""
    ends, gap = {place}, False
    for element in elements[1:]:
        if element.is_gap:
            gap = True
            continue
        ends = {
            follower
            for end in ends
            for follower in _followers(words, end, gap=gap)
            if element.fits(words[follower])
        }
        if not ends:
            break
        gap = False
    return ends


def _followers(words: Sequence[Word], place: int, *, gap: bool) -> Sequence[int]:
    """Return the places that can come next: the next word, or with a gap a few more."""
    if not gap:
        following = place + 1
        is_next = following < len(words) and words[following].parted == UNPARTED
        return (following,) if is_next else ()
    last = place
    while last < min(place + 1 + GAP_WORDS, len(words) - 1) and words[last + 1].parted != SENTENCE:
        last += 1
    return range(place + 1, last + 1)


def _leads_to(before: Sequence[Element], words: Sequence[Word], first: int) -> bool:
    """Tell whether the elements are met just before a word, or a gap away if they end in one."""
    if not before:
        return True
    gap = before[-1].is_gap
    lead = before[:-1] if gap else before
    earliest = max(0, first - (GAP_WORDS + 1) * len(before))
    return any(
        first in _followers(words, end, gap=gap)
        for start in range(earliest, first)
        if lead[0].fits(words[start])
        for end in _ends(lead, words, start)
    )
