"""Whether something but the text tells the source better than chance; free of the framework."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from ranking.numerics.multiplicity import holm

ALPHA = 0.01  # for all tests of an audit together
N_DRAWS = 1999
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True)
class Test:
    """One thing that might tell the source: how well it does, and what chance would do."""

    what: str
    n: int
    value: float
    chance: float
    p_value: float
    interval: tuple[float, float] | None = None
    """Of the value, at 95 %, where it is drawn anew by raters."""


def sides(what: str, *, as_a: int, as_b: int) -> Test:
    """Test whether one source is drawn as A as often as B, exactly, on two sides."""
    n = as_a + as_b
    found = scipy.stats.binomtest(as_a, n, 0.5)
    return Test(what, n, as_a / n, 0.5, float(found.pvalue))


def ordering(what: str, values: Floats, is_person: Booleans) -> Test:
    """Test whether a number orders pairs by which side a person wrote.

    Parameters
    ----------
    values : array of shape (n_pairs,)
        What is known of each pair.
    is_person : array of shape (n_pairs,)
        Whether the message on side A is a person's.

    Returns
    -------
    Test
        The area under the ROC curve, 0.5 by chance, with the p-value of Mann and Whitney's test.
    """
    here, there = values[is_person], values[~is_person]
    found = scipy.stats.mannwhitneyu(here, there, alternative="two-sided")
    area = float(found.statistic) / (len(here) * len(there))
    return Test(what, len(values), area, 0.5, float(found.pvalue))


def guessing(
    rater: NDArray[np.int64],
    is_person: Booleans,
    said_person: Booleans,
    *,
    rng: np.random.Generator,
) -> Test:
    """Test raters' own guesses against the same guesses dealt out anew within each rater.

    So a rater who says "a person" of everything tells nothing, and raters may differ in that.

    Parameters
    ----------
    rater, is_person, said_person : arrays of shape (n_guesses,)
        Who guessed, who wrote the message, and what was said.
    rng : numpy.random.Generator
        Deals the guesses out, 1,999 times.

    Returns
    -------
    Test
        The mean of the shares of persons and of programs that were recognised, with its interval
        by the percentiles of as many bootstrap draws of raters; chance is the mean over the
        deals. The p-value is one-sided.
    """
    value = _balanced(is_person, said_person)
    order = np.argsort(rater, kind="stable")
    truth, said, owner = is_person[order], said_person[order], rater[order]
    dealt = np.array([_balanced(truth, said[_within(owner, rng)]) for _ in range(N_DRAWS)])
    p_value = (1 + int((dealt >= value - 1e-12).sum())) / (1 + len(dealt))
    interval = _interval(truth, said, owner, rng)
    chance = float(dealt.mean())
    return Test("what raters guessed", len(rater), value, chance, p_value, interval)


def _interval(
    truth: Booleans, said: Booleans, owner: NDArray[np.int64], rng: np.random.Generator
) -> tuple[float, float]:
    """Draw raters with replacement, each with all their guesses; no draw lacks either source."""
    _, place = np.unique(owner, return_inverse=True)
    kinds = (truth, truth & said, ~truth, ~truth & ~said)
    sums = np.stack([np.bincount(place, weights=kind) for kind in kinds], axis=1)
    n_raters = len(sums)
    times = rng.multinomial(n_raters, np.full(n_raters, 1.0 / n_raters), size=N_DRAWS)
    persons, known_persons, programs, known_programs = (times @ sums).T
    has_both = (persons > 0) & (programs > 0)
    drawn = (known_persons[has_both] / persons[has_both]) / 2
    drawn += (known_programs[has_both] / programs[has_both]) / 2
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def _balanced(is_person: Booleans, said_person: Booleans) -> float:
    return float((said_person[is_person].mean() + (~said_person[~is_person]).mean()) / 2)


def _within(owner: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a random order of places that keeps everybody's places among themselves."""
    return np.lexsort((rng.random(len(owner)), owner))


def significant(tests: Sequence[Test]) -> list[Test]:
    """Return the tests that remain significant when all of them are taken together."""
    if not tests:
        return []
    adjusted = holm(np.array([one.p_value for one in tests]))
    return [one for one, p in zip(tests, adjusted, strict=True) if p < ALPHA]
