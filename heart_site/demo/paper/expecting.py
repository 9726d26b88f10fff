"""What an ideal study shows of what is planted; what the study finds is held against this.

The statistics are a few lines of NumPy each, and share nothing with those of the platform.
"""

from itertools import combinations

import numpy as np

from annotation.rationales.themes import load_codebook
from completions.offline import assistants, planted
from completions.offline.lexicon import plain
from heart_site.demo.paper import planting
from heart_site.demo.paper.ideal import Ideal, answers
from heart_site.demo.paper.planting import TEXTS_PER_CONTEXT
from heart_site.demo.rehearsal.people import generator
from ranking.numerics.arrays import Floats, Integers

MANY = 200
"""Raters of each pair where chance among them is to play no part."""
SOFT = np.array([0.15, 0.35, 0.5, 0.65, 0.85])
"""What answers from "B much better" to "A much better" are worth to A."""
STEPS = 500
TWICE = 1 / 3
"""The difference of two lengths over their sum where one is twice the other."""
READ = 2000
"""Pairs whose reasons are read for themes."""


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
    return _points(slugs, system, answers(merit, length, side, rng))


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
    merit = study.merit.reshape(-1, n_others + TEXTS_PER_CONTEXT)
    by_people = np.array([human, *range(n_others + 1, n_others + TEXTS_PER_CONTEXT)])
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
            reasons = {
                who: planted.reason(better, other, draw=f"{row}\n{who}")
                for who in (
                    *(f"rater {one}" for one in raters),
                    *(f"judge {one}" for one in judges),
                )
            }
            named = {
                who: {theme.key for theme in codebook.themes if theme.is_in(reason)}
                for who, reason in reasons.items()
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
        [
            [any(cue in one for cue in cues) for cues in assistants.STRATEGY_CUES.values()]
            for one in heard
        ]
    )
    system = np.zeros(len(heard), dtype=np.int64)
    system[study.text] = study.system
    return {
        slug: dict(
            zip(assistants.STRATEGY_CUES, shows[system == place].mean(axis=0).tolist(), strict=True)
        )
        for place, slug in enumerate(study.slugs)
    }


def _per_system(study: Ideal, of_first: Floats, of_second: Floats) -> Floats:
    """Add up what belongs to the first and to the second text, by system."""
    both = np.concatenate([of_first, of_second])
    return np.bincount(study.system.T.ravel(), both, len(study.slugs)).astype(np.float64)
