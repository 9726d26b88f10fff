"""Graded judgments made up from known strengths."""

import numpy as np
from scipy import special

from ranking.numerics.models.cumulative import Graded


def draw_grades(rng, theta, thresholds, *, n):
    """Draw pairs of distinct systems and signed grades from the cumulative logit."""
    theta = np.asarray(theta, dtype=float)
    first = rng.integers(0, len(theta), n)
    second = (first + rng.integers(1, len(theta), n)) % len(theta)
    felt = theta[first] - theta[second] + special.logit(rng.uniform(size=n))
    return first, second, np.sign(felt).astype(int) * np.searchsorted(thresholds, np.abs(felt))


def graded(first, second, grade):
    """Put the preferred system of each judgment first."""
    first, second = np.asarray(first, dtype=int), np.asarray(second, dtype=int)
    winner, loser = np.where(grade >= 0, first, second), np.where(grade >= 0, second, first)
    return Graded(winner, loser, np.abs(grade), np.ones(len(grade)))
