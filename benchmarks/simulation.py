"""Judgments made up from known strengths, in the shape of the benchmark, and their truth."""

import os
import platform
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy import special

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.strength import FIVE_POINTS, Shares, grade_to_strength, shares
from ranking.numerics.strength_mode import StrengthMode
from ranking.numerics.tables import WeightedPairs, WinTables, tabulate

STEPS = np.array([-1.5, -0.5, 0.5, 1.5])  # between the five answers, in natural-log units
QUALITY_SD = 0.7  # how far a completion strays from its system's strength, the same for all raters


@dataclass(frozen=True)
class Plan:
    """How a study is laid out: ``n_pairs`` pairs in each dialogue, judged ``n_each`` times."""

    n_dialogues: int
    n_pairs: int
    n_each: int


@dataclass(frozen=True)
class Judgments:
    """Columns of shape (n_judgments,): unit and systems as indices, grades from -2 to 2."""

    unit: Integers
    first: Integers
    second: Integers
    grade: Integers


def draw(strengths: Floats, plan: Plan, rng: np.random.Generator) -> Judgments:
    """Draw a study: five-point answers that hang together inside a dialogue."""
    pairs = np.array(np.triu_indices(len(strengths), 1))
    order = rng.random((plan.n_dialogues, pairs.shape[1])).argsort(axis=1)[:, : plan.n_pairs]
    unit = np.arange(plan.n_dialogues).repeat(plan.n_pairs * plan.n_each)
    first, second = pairs[:, order.ravel().repeat(plan.n_each)]
    size = (plan.n_dialogues, len(strengths))
    quality = strengths + rng.normal(0.0, QUALITY_SD, size=size)
    seen = quality[unit, first] - quality[unit, second] + rng.logistic(size=len(unit))
    grade = (seen[:, None] > STEPS).sum(axis=1) - len(STEPS) // 2
    return Judgments(unit, first, second, grade)


def tables(judgments: Judgments, plan: Plan, n_systems: int, mode: StrengthMode) -> WinTables:
    """Tabulate the judgments as the site does, under a strength mode."""
    split = split_grades(judgments.grade, mode)
    columns = (judgments.unit, judgments.first, judgments.second, split.first, split.second)
    return tabulate(WeightedPairs(*columns), n_units=plan.n_dialogues, n_systems=n_systems)


def split_grades(grades: Integers, mode: StrengthMode) -> Shares:
    """Split five-point answers, with the strengths that the protocol has them stand for."""
    return shares(grade_to_strength(grades, slightly=2, much=4), mode)


def limit(strengths: Floats, mode: StrengthMode) -> Floats:
    """Return what the fit of endless judgments comes to: each mode has a scale of its own."""
    nodes, weights = hermegauss(61)
    differences = strengths[:, None] - strengths[None, :]
    seen = differences[..., None] + np.sqrt(2.0) * QUALITY_SD * nodes
    beyond = special.expit(seen[..., None] - STEPS)  # chance of an answer past each step
    answers = split_grades(np.array(FIVE_POINTS), mode).first
    wins = answers[0] + (beyond @ np.diff(answers)) @ (weights / weights.sum())
    return fit_bradley_terry(wins).log_strengths


def machine() -> str:
    """Say on what the figures were measured."""
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
    return f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}, {versions}"
