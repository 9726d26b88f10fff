"""What an ideal study would find of what is planted: the same people and judges, no platform.

Texts are written and judged as in the study, in a few lines of NumPy that share nothing with the
platform's assignment, exclusions and statistics. What the study finds is held against this.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import chain, combinations
from typing import Any

import numpy as np

from annotation.rationales.themes import load_codebook
from completions.offline import planted, strategies
from completions.offline.lexicon import plain
from heart_site.demo.paper import planting
from heart_site.demo.simulation.answering import TIRED_AFTER
from heart_site.demo.simulation.people import SKILL_SPREAD, generator
from heart_site.demo.simulation.truth import TEXT_SPREAD
from ranking.numerics.arrays import Booleans, Floats, Integers

N_HUMAN = 3
N_RATERS = 5
MANY = 200
"""Raters of each pair where chance among them is to play no part."""
PAIRS_PER_CONTEXT = 28
MEAN_TURN = 95
"""Pairs that a rater has behind them, on average, when a pair is judged."""
SEEKER = "I feel low about work, and it is number {number} of many."
SOFT = np.array([0.15, 0.35, 0.5, 0.65, 0.85])
"""What answers from "B much better" to "A much better" are worth to A."""
STEPS = 500
TWICE = 1 / 3
"""The difference of two lengths over their sum where one is twice the other."""
READ = 2000
"""Pairs whose reasons are read for themes."""


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

    @property
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


def ideal(*, n_contexts: int, seed: int, originals: Sequence[str]) -> Ideal:
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
    system = np.array([*range(len(slugs)), *[human] * (N_HUMAN - 1)])
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
        _answers(merit[pairs], length, side, rng),
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


def _answers(merit: Floats, length: Floats, side: Floats, rng: np.random.Generator) -> Integers:
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
    answers: Integers = np.sign(seen).astype(np.int64) * steps
    return answers


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


def rater_agreement(study: Ideal) -> tuple[float, float]:
    """Return how often two raters say the same side or tie, and Fleiss' kappa of that."""
    counts, n = study.counts, study.said.shape[1]
    alike = float((counts * (counts - 1)).sum(axis=1).mean() / (n * (n - 1)))
    by_chance = float(((counts.sum(axis=0) / counts.sum()) ** 2).sum())
    return alike, (alike - by_chance) / (1 - by_chance)


def people_against_models(study: Ideal) -> tuple[float, float, float]:
    """Return how often models, people and neither are preferred where the two meet."""
    human = study.slugs.index(planting.HUMAN_SLUG)
    first, second = study.system.T
    sign = np.where((first < human) & (second == human), 1, 0)
    sign -= np.where((first == human) & (second < human), 1, 0)
    lead = (sign[:, None] * np.sign(study.said))[sign != 0]
    return float((lead > 0).mean()), float((lead < 0).mean()), float((lead == 0).mean())


def win_rates(study: Ideal) -> dict[str, float]:
    """Return the share of its judgments that each system won, ties half."""
    won = (np.sign(study.said) + 1) / 2
    taken = _per_system(study, won.sum(axis=1), (1 - won).sum(axis=1))
    met = np.full(len(study.said), float(study.said.shape[1]))
    return dict(zip(study.slugs, (taken / _per_system(study, met, met)).tolist(), strict=True))


def elo(study: Ideal) -> dict[str, float]:
    """Return the points of each system under soft scores."""
    return _points(study.slugs, study.system, study.said)


def elo_of_texts(
    slugs: tuple[str, ...], system: Integers, merit: Floats, length: Floats, *, seed: int
) -> dict[str, float]:
    """Return the points that many honest raters would bring about with certain pairs of texts.

    ``system`` has the places of both systems in ``slugs``, ``merit`` how good both texts are and
    ``length`` their characters; each has shape (n_pairs, 2).
    """
    rng = generator("the texts at hand", seed)
    side = rng.choice([-1.0, 1.0], size=(len(system), MANY))
    return _points(slugs, system, _answers(merit, length, side, rng))


def _points(slugs: tuple[str, ...], system: Integers, said: Integers) -> dict[str, float]:
    """Fit soft scores by Hunter's iteration (2004)."""
    soft, n = SOFT[said + 2].sum(axis=1), len(slugs)
    won = np.zeros((n, n))
    np.add.at(won, (system[:, 0], system[:, 1]), soft)
    np.add.at(won, (system[:, 1], system[:, 0]), said.shape[1] - soft)
    met, merit = won + won.T, np.ones(n)
    for _step in range(STEPS):
        merit = won.sum(axis=1) / (met / (merit[:, None] + merit)).sum(axis=1)
        merit /= np.exp(np.log(merit).mean())
    return dict(zip(slugs, (1500 + 400 * np.log10(merit)).tolist(), strict=True))


def best_human(study: Ideal) -> float:
    """Return the points of the truly best message by people of each context, among all systems."""
    human, n_others = study.slugs.index(planting.HUMAN_SLUG), len(study.slugs) - 1
    merit = study.merit.reshape(-1, n_others + N_HUMAN)
    by_people = np.array([human, *range(n_others + 1, n_others + N_HUMAN)])
    best = by_people[merit[:, by_people].argmax(axis=1)]
    is_best = np.isin(study.text, np.arange(len(merit)) * merit.shape[1] + best)
    points, soft = np.array(list(elo(study).values())), SOFT[study.said + 2].mean(axis=1)
    won = np.concatenate([soft[is_best[:, 0]], 1 - soft[is_best[:, 1]]])
    against = np.concatenate([study.system[is_best[:, 0], 1], study.system[is_best[:, 1], 0]])
    place = 1500.0
    for _step in range(STEPS):
        expected = 1 / (1 + 10 ** ((points[against] - place) / 400))
        place += 100 * float((won - expected).mean())
    return place


def judges_with_each_other(study: Ideal) -> dict[tuple[str, str], float]:
    """Return how often each two judges say the same, over the pairs that both judged."""
    families, judged, found = list(planting.JUDGES), study.judged, {}
    for one, other in combinations(range(len(families)), 2):
        both = judged[np.isfinite(judged[:, [one, other]]).all(axis=1)]
        found[families[one], families[other]] = float((both[:, one] == both[:, other]).mean())
    return found


def three_judges(study: Ideal) -> float:
    """Return how often all judges say the same, over the pairs that all judged."""
    every = study.judged[np.isfinite(study.judged).all(axis=1)]
    return float((every == every[:, :1]).all(axis=1).mean())


def judges_with_people(study: Ideal, *, clear: bool = True) -> float:
    """Return how often most judges say what most raters say.

    With ``clear`` over the pairs on which more raters named a side than the other or a tie; else
    over the rest, held against the side that is ahead there, if one is.
    """
    below, tied, above = study.counts.T
    lead = np.sign(above - below)
    is_clear = np.maximum(above, below) > np.maximum(tied, np.minimum(above, below))
    vote = np.sign(np.nansum(study.judged, axis=1))
    kept = (is_clear == clear) & (vote != 0) & (lead != 0)
    return float((vote == lead)[kept].mean())


def first_position(study: Ideal) -> tuple[float, float]:
    """Return how often A wins where there is a winner: with raters, and with judges."""
    toward = (study.side * np.sign(study.said))[study.said != 0]
    leads = study.leads[np.isfinite(study.leads)]
    return float((toward > 0).mean()), float((leads > 0).mean())


def twice_the_length(study: Ideal) -> tuple[float, float]:
    """Return by how much a message wins more often if it is twice as long, systems held equal.

    With raters, and with judges; by least squares.
    """
    by_raters = (1 + np.sign(study.said).mean(axis=1)) / 2
    by_judges = (1 + np.nanmean(np.where(np.isnan(study.judged), np.nan, study.judged), axis=1)) / 2
    total = study.length.sum(axis=1)
    longer = (study.length[:, 0] - study.length[:, 1]) / total
    met = np.zeros((len(total), len(study.slugs)))
    place = np.arange(len(total))
    met[place, study.system[:, 0]] += 1
    met[place, study.system[:, 1]] -= 1
    found = []
    for won in (by_raters, by_judges):
        known = np.isfinite(won)
        terms = np.column_stack([longer, np.ones(len(total)), met])[known]
        found.append(TWICE * float(np.linalg.lstsq(terms, won[known], rcond=None)[0][0]))
    return found[0], found[1]


def dimension_rates(study: Ideal) -> dict[str, dict[str, float]]:
    """Return how often each system is ahead on each dimension where one is, as judges mark it."""
    n_judges = np.isfinite(study.leads[..., 0]).sum(axis=1)
    lead = study.well[:, 0].astype(np.int64) - study.well[:, 1]
    rates: dict[str, dict[str, float]] = {slug: {} for slug in study.slugs}
    for place, key in enumerate(planted.DIMENSIONS):
        ahead = [n_judges * (lead[:, place] == sign) for sign in (1, -1)]
        won = _per_system(study, *ahead)
        told = won + _per_system(study, *reversed(ahead))
        for slug, rate in zip(study.slugs, (won / told).tolist(), strict=True):
            rates[slug][key] = rate
    return rates


def factors(study: Ideal) -> tuple[float, float]:
    """Return the first factor's share of the variance of messages' marks, and Cronbach's alpha."""
    n_judges = np.isfinite(study.leads[..., 0]).sum(axis=1)
    lead = study.well[:, 0].astype(np.float64) - study.well[:, 1]
    n_texts = len(study.words)
    first, second = study.text.T
    met = np.bincount(first, n_judges, n_texts) + np.bincount(second, n_judges, n_texts)
    sums = [
        np.bincount(first, n_judges * one, n_texts) - np.bincount(second, n_judges * one, n_texts)
        for one in lead.T
    ]
    marks = np.stack(sums, axis=1)[met > 0] / met[met > 0, None]
    correlation = np.corrcoef(marks, rowvar=False)
    n = len(correlation)
    mean_correlation = (correlation.sum() - n) / (n * (n - 1))
    alpha = n * mean_correlation / (1 + (n - 1) * mean_correlation)
    return float(np.linalg.eigvalsh(correlation)[-1] / n), float(alpha)


def shared_themes(study: Ideal) -> float:
    """Return how often a rater and a judge who prefer the same message give a theme in common."""
    codebook, well, said, judged = load_codebook(), study.well, np.sign(study.said), study.judged
    alike = list[bool]()
    for row in range(min(READ, len(said))):
        parts = [
            frozenset(key for key, is_so in zip(planted.DIMENSIONS, one, strict=True) if is_so)
            for one in well[row]
        ]
        for lead in (1, -1):
            better, other = parts if lead > 0 else reversed(parts)
            raters = np.flatnonzero(said[row] == lead)
            judges = np.flatnonzero(judged[row] == lead)
            named = {
                who: {
                    theme.key
                    for theme in codebook.themes
                    if theme.is_in(planted.reason(better, other, draw=f"{row}\n{who}"))
                }
                for who in (
                    *(f"rater {one}" for one in raters),
                    *(f"judge {one}" for one in judges),
                )
            }
            alike += [
                bool(named[f"rater {one}"] & named[f"judge {two}"])
                for one in raters
                for two in judges
            ]
    return float(np.mean(alike)) if alike else float("nan")


def strategy_rates(study: Ideal) -> dict[str, dict[str, float]]:
    """Return the share of each system's messages with each strategy's cue in it."""
    heard = [plain(one) for one in study.words]
    shows = np.array(
        [[any(cue in one for cue in cues) for cues in strategies.CUES.values()] for one in heard]
    )
    system = np.zeros(len(heard), dtype=np.int64)
    system[study.text] = study.system
    return {
        slug: dict(zip(strategies.CUES, shows[system == place].mean(axis=0).tolist(), strict=True))
        for place, slug in enumerate(study.slugs)
    }


def _per_system(study: Ideal, of_first: Floats, of_second: Floats) -> Floats:
    """Add up what belongs to the first and to the second text, by system."""
    both = np.concatenate([of_first, of_second])
    return np.bincount(study.system.T.ravel(), both, len(study.slugs)).astype(np.float64)
