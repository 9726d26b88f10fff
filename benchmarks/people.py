"""What choosing the best text does to its rating, by simulation: python -m benchmarks.people."""

import argparse
import sys
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy import special

from benchmarks import simulation
from ranking.numerics.arrays import Floats
from ranking.numerics.best_of import TextJudgments, choose_and_score, cross_fit, draw_halves
from ranking.numerics.bradley_terry import place_among
from ranking.numerics.elo import ELO_PER_LOG_UNIT
from ranking.numerics.intervals import percentile_intervals
from ranking.numerics.refits import draw_units
from ranking.numerics.strength import FIVE_POINTS
from ranking.numerics.strength_mode import StrengthMode

SEED = 20260105
SPLITS = 20
REPLICATES = 500
SPREAD = np.linspace(0.8, -0.8, 17)  # true strengths of the systems that texts are held against
HEAD = """
Elo above the average of people's texts, mean over studies (standard deviation of one study):
plain, cross-fitted   as the site estimates them
chosen                the truth of the texts that the plain choice takes
best                  the truth of the best texts
left out              contexts without a say in the cross-fitted estimate
missed                studies of equal texts whose cross-fitted 95 % interval leaves the truth out,
                      in per cent; 5 would be right

texts  pairs each  raters each  spread         plain  cross-fitted  chosen   best  left out  missed
"""


@dataclass(frozen=True)
class Setting:
    """A kind of study: texts in a context, pairs of each, raters of each pair.

    ``text_sd`` is how far texts stray from one another (natural log).
    """

    n_texts: int
    n_pairs: int
    n_raters: int
    text_sd: float
    n_contexts: int = 300
    n_people: int = 15


SETTINGS = [
    Setting(n_texts=3, n_pairs=n_pairs, n_raters=5, text_sd=text_sd)
    for n_pairs in (1, 3, 9, 17)
    for text_sd in (0.0, 0.7)
]


@dataclass(frozen=True)
class Study:
    """Simulated judgments of texts, and how good each text truly is (natural log)."""

    judgments: TextJudgments
    quality: Floats


@dataclass(frozen=True)
class Found:
    """Elo points above the average text, how many contexts had no say, whether it missed."""

    plain: float
    cross_fitted: float
    chosen: float
    best: float
    left_out: float
    missed: float


def draw(setting: Setting, rng: np.random.Generator) -> Study:
    """Draw five-point answers to pairs of a text and a system's completion of its context."""
    n_texts = setting.n_contexts * setting.n_texts
    context = np.arange(n_texts) // setting.n_texts
    quality = setting.text_sd * rng.normal(size=n_texts)
    rivals = rng.random((n_texts, len(SPREAD))).argsort(axis=1)[:, : setting.n_pairs]
    people = rng.random((rivals.size, setting.n_people)).argsort(axis=1)[:, : setting.n_raters]
    rival = SPREAD + rng.normal(0.0, simulation.QUALITY_SD, (setting.n_contexts, len(SPREAD)))
    text = np.arange(n_texts).repeat(setting.n_pairs * setting.n_raters)
    opponent = rivals.ravel().repeat(setting.n_raters)
    seen = quality[text] - rival[context[text], opponent] + rng.logistic(size=len(text))
    grade = (seen[:, None] > simulation.STEPS).sum(axis=1) - len(simulation.STEPS) // 2
    split = simulation.split_grades(grade, StrengthMode.SOFT)
    columns = (text, opponent, people.ravel(), split.first, split.second, context)
    return Study(TextJudgments(*columns), quality)


def estimate(setting: Setting, number: int) -> Found:
    """Simulate one study and rate its best texts both ways."""
    rng = np.random.default_rng((SEED, number))
    study, strengths = draw(setting, rng), _soft_strengths()
    texts = study.judgments
    average = _rated(texts, np.ones(len(texts.text)), strengths)
    halves = draw_halves(np.zeros(setting.n_people, np.int64), n_splits=SPLITS, rng=rng)
    plain = choose_and_score(texts, strengths, average)
    fitted = cross_fit(texts, strengths, average, halves)
    chosen, best = np.zeros(len(study.quality)), study.quality.reshape(-1, setting.n_texts)
    chosen[texts.text] = plain.share
    is_best = (best == best.max(axis=1, keepdims=True)).ravel()
    truth = _truth(study.quality, np.ones(len(chosen)), strengths)
    return Found(
        plain=ELO_PER_LOG_UNIT * (_rated(texts, plain.share, strengths) - average),
        cross_fitted=ELO_PER_LOG_UNIT * (_rated(texts, fitted.share, strengths) - average),
        chosen=ELO_PER_LOG_UNIT * (_truth(study.quality, chosen, strengths) - truth),
        best=ELO_PER_LOG_UNIT * (_truth(study.quality, 1.0 * is_best, strengths) - truth),
        left_out=fitted.n_left_out,
        missed=_missed(texts, fitted.share, strengths, rng) if not setting.text_sd else np.nan,
    )


def measure(setting: Setting, *, n_studies: int) -> Found:
    """Return the means over simulated studies."""
    return Found(*np.mean(_each(setting, n_studies), axis=0).tolist())


def _each(setting: Setting, n_studies: int) -> Floats:
    studies = [estimate(setting, number) for number in range(n_studies)]
    names = ("plain", "cross_fitted", "chosen", "best", "left_out", "missed")
    return np.array([[getattr(one, name) for name in names] for one in studies])


def _soft_strengths() -> Floats:
    """Return what endless judgments make of the systems, people's average standing at 0."""
    soft: Floats = simulation.limit(np.append(SPREAD, 0.0), StrengthMode.SOFT)[:-1]
    return soft


def _rated(texts: TextJudgments, share: Floats, strengths: Floats) -> float:
    wins, losses = (
        np.bincount(texts.opponent, share * taken, len(strengths)).astype(np.float64)[None]
        for taken in (texts.to_text, texts.to_opponent)
    )
    return float(place_among(wins, losses, strengths[None])[0])


def _missed(
    texts: TextJudgments, share: Floats, strengths: Floats, rng: np.random.Generator
) -> float:
    """Return 1 if the interval leaves out 0, where equal texts stand; contexts are resampled."""
    shape = (texts.n_contexts, len(strengths))
    cell = texts.context[texts.text] * shape[1] + texts.opponent
    drawn = draw_units(shape[0], REPLICATES, rng)
    wins, losses = (
        drawn @ np.bincount(cell, share * taken, shape[0] * shape[1]).reshape(shape)
        for taken in (texts.to_text, texts.to_opponent)
    )
    placed = place_among(wins, losses, np.tile(strengths, (REPLICATES, 1)))
    interval = percentile_intervals(placed[:, None])
    return float(interval.low[0] > 0.0 or interval.high[0] < 0.0)


def _truth(quality: Floats, share: Floats, strengths: Floats) -> float:
    """Return the strength that endless judgments of these texts by all systems would show."""
    nodes, weights = hermegauss(31)
    rival = SPREAD[:, None] + simulation.QUALITY_SD * nodes
    seen = quality[:, None, None, None] - rival[..., None] - simulation.STEPS
    answers = simulation.split_grades(np.array(FIVE_POINTS), StrengthMode.SOFT).first
    took = answers[0] + (special.expit(seen) @ np.diff(answers)) @ (weights / weights.sum())
    wins = (share @ took / share.sum())[None]
    return float(place_among(wins, 1.0 - wins, strengths[None])[0])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200, help="per line of the table")
    n: int = parser.parse_args().studies
    sys.stdout.write(f"{simulation.machine()}\n{n} studies a line, seed {SEED}\n{HEAD}")
    for one in SETTINGS:
        found = _each(one, n)
        (plain, fitted, chosen, best, out, missed), sd = found.mean(axis=0), found.std(axis=0)
        sys.stdout.write(
            f"{one.n_texts:>5}  {one.n_pairs:>10}  {one.n_raters:>11}  {one.text_sd:>6}  "
            f"{plain:>6.1f} ({sd[0]:.1f})  {fitted:>6.1f} ({sd[1]:.1f})  {chosen:>6.1f} "
            f"{best:>6.1f}  {out:>8.1f}  {100 * missed:>6.1f}\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
