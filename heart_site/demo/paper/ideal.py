"""An ideal study of what is planted: the same people and judges, no platform.

Texts are written and judged as in the study, in a few lines of NumPy that share nothing with the
platform's assignment and exclusions. What it shows is in `expecting`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import chain, combinations
from typing import Any

import numpy as np

from completions.offline import planted
from heart_site.demo.paper import planting
from heart_site.demo.paper.planting import TEXTS_PER_CONTEXT
from heart_site.demo.rehearsal.answering import TEXT_SPREAD, TIRED_AFTER
from heart_site.demo.rehearsal.people import SKILL_SPREAD, generator
from ranking.numerics.arrays import Booleans, Floats, Integers

N_RATERS = 5
PAIRS_PER_CONTEXT = 28
MEAN_TURN = 95
"""Pairs that a rater has behind them, on average, when a pair is judged."""
SEEKER = "I feel low about work, and it is number {number} of many."


@dataclass(frozen=True)
class Ideal:
    """Pairs of an ideal study, and what everybody said of them.

    Attributes
    ----------
    slugs : tuple of str
        The systems.
    system, text : integers (n_pairs, 2)
        The systems of both texts, as places in ``slugs``, and the texts by number.
    said, side : integers and floats (n_pairs, n_raters)
        Answers of honest raters from -2 to 2, positive for the first text, and 1 where that was
        shown as A, else -1.
    leads : floats (n_pairs, n_judges, 2)
        By how much each judge finds A better when the first text is A and when the second is; NaN
        where the judge's family wrote one of them.
    merit : floats (n_texts,)
        How good each text is, natural logs.
    words : tuple of str
        All texts, as many from each context, those of people last.
    """

    slugs: tuple[str, ...]
    system: Integers
    text: Integers
    said: Integers
    side: Floats
    leads: Floats
    merit: Floats
    words: tuple[str, ...]

    @property
    def judged(self) -> Floats:
        """What each judge says: 1 the first text, -1 the second, 0 where its two orders differ."""
        found: Floats = np.sign(np.sign(self.leads[..., 0]) - np.sign(self.leads[..., 1]))
        return found

    @cached_property
    def well(self) -> Booleans:
        """Which dimensions each text serves well, shape (n_pairs, 2, n_dimensions)."""
        parts = [planted.parts_done_well(one) for one in self.words]
        every = np.array([[key in one for key in planted.DIMENSIONS] for one in parts])
        found: Booleans = every[self.text]
        return found

    @property
    def length(self) -> Floats:
        """The characters of both texts, shape (n_pairs, 2)."""
        found: Floats = np.array([len(one) for one in self.words], dtype=np.float64)[self.text]
        return found

    @property
    def counts(self) -> Integers:
        """How many raters say the second text, a tie, and the first, shape (n_pairs, 3)."""
        return np.stack([(np.sign(self.said) == one).sum(axis=1) for one in (-1, 0, 1)], axis=1)


def ideal_study(*, n_contexts: int, seed: int, originals: Sequence[str]) -> Ideal:
    """Hold an ideal study over so many contexts; the same numbers give the same study.

    ``originals`` are replies to draw the original ones from: nothing is planted in their words.
    """
    rng = generator("ideal study", seed, n_contexts)
    slugs = (*(one.slug for one in planting.models()), planting.HUMAN_SLUG, planting.ORIGINAL_SLUG)
    parts = [_context(one, slugs, originals, rng) for one in range(n_contexts)]
    *arrays, words = (list(one) for one in zip(*parts, strict=True))
    names = [one.name for one in fields(Ideal)][1:-1]
    joined: dict[str, Any] = dict(zip(names, map(np.concatenate, arrays), strict=True))
    return Ideal(slugs, words=tuple(chain.from_iterable(words)), **joined)


def _context(
    number: int, slugs: tuple[str, ...], originals: Sequence[str], rng: np.random.Generator
) -> tuple[Any, ...]:
    """Return the fields of `Ideal` after the slugs, for one context."""
    dialogue = SEEKER.format(number=number)
    human = slugs.index(planting.HUMAN_SLUG)
    system = np.array([*range(len(slugs)), *[human] * (TEXTS_PER_CONTEXT - 1)])
    own = [slugs[one] for one in system]
    original = originals[int(rng.integers(len(originals)))]
    texts = tuple(
        original if slug == planting.ORIGINAL_SLUG else _text(slug, dialogue, place)
        for place, slug in enumerate(own)
    )
    strengths = planting.strengths()
    merit = rng.normal(0.0, TEXT_SPREAD, len(texts)) + [
        strengths[slug] + planting.lift(one, slug) for one, slug in zip(texts, own, strict=True)
    ]
    pairs = _pairs(system, rng)
    side = rng.choice([-1.0, 1.0], size=(len(pairs), N_RATERS))
    length = np.array([len(one) for one in texts], dtype=np.float64)[pairs]
    return (
        system[pairs],
        number * len(system) + pairs,
        answers(merit[pairs], length, side, rng),
        side,
        _leads(dialogue, texts, pairs, own),
        merit,
        texts,
    )


def _pairs(system: Integers, rng: np.random.Generator) -> Integers:
    """Draw the pairs of one context, each of two systems, shape (n_pairs, 2).

    As in the study's plan all systems are drawn alike, however many texts they have.
    """
    n_systems = int(system.max()) + 1
    every = np.array(list(combinations(range(n_systems), 2)))
    drawn = rng.permuted(rng.permutation(every)[:PAIRS_PER_CONTEXT], axis=1)
    of_people = system == system[-1]
    places = np.flatnonzero(of_people)
    chosen = places[rng.integers(len(places), size=drawn.shape)]
    return np.where(drawn == system[-1], chosen, drawn)


def _text(slug: str, dialogue: str, place: int) -> str:
    draw = f"ideal\n{slug}\n{place}\n{dialogue}"
    return planted.write(planting.shares_of(slug), [dialogue], draw=draw)


def answers(merit: Floats, length: Floats, side: Floats, rng: np.random.Generator) -> Integers:
    """Return what honest raters say of pairs."""
    crowd = planting.CROWD
    tired = 1.0 + crowd.fatigue * MEAN_TURN / TIRED_AFTER
    longer = np.log2(length[:, 0] / length[:, 1])
    seen = rng.lognormal(0.0, SKILL_SPREAD, side.shape) * (merit[:, 0] - merit[:, 1])[:, None]
    seen += rng.logistic(0.0, crowd.taste, side.shape)
    seen += rng.normal(0.0, crowd.slip * tired, side.shape)
    seen += crowd.first * side + crowd.longer * longer[:, None]
    size = np.abs(seen) / rng.lognormal(0.0, crowd.severity, side.shape)
    steps = (size >= crowd.same).astype(np.int64) + (size > crowd.much)
    said: Integers = np.sign(seen).astype(np.int64) * steps
    return said


def _leads(dialogue: str, texts: Sequence[str], pairs: Integers, slugs: Sequence[str]) -> Floats:
    """Return by how much each judge finds A better in both orders of each pair."""
    found = np.full((len(pairs), len(planting.JUDGES), 2), np.nan)
    families = [planting.family_of(slug) for slug in slugs]
    for place, (family, judge) in enumerate(planting.JUDGES.items()):
        for row, (one, other) in enumerate(pairs):
            if family not in {families[one], families[other]}:
                found[row, place] = (
                    judge.lead(dialogue, texts[one], texts[other]),
                    judge.lead(dialogue, texts[other], texts[one]),
                )
    return found
