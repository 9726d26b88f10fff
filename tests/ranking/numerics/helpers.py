"""Judgments made up, data whose ratings or agreement were published, and plain loops."""

import csv

import numpy as np

from ranking.numerics.bradley_terry import NotConvergedError, fit_bradley_terry
from ranking.numerics.tables import WeightedPairs, WinTables, tabulate
from tests.helpers.datasets import shared_file


def make_pairs(rows):
    """Turn (unit, first, second, to_first, to_second) rows into columns."""
    unit, first, second, to_first, to_second = zip(*rows, strict=True)
    return WeightedPairs(
        np.array(unit), np.array(first), np.array(second), np.array(to_first), np.array(to_second)
    )


def make_tables(matrices):
    """Turn a stack of win matrices, one per unit, into tables."""
    matrices = np.asarray(matrices, dtype=float)
    unit, winner, loser = np.nonzero(matrices)
    weight = matrices[unit, winner, loser]
    pairs = WeightedPairs(unit, winner, loser, weight, np.zeros_like(weight))
    return tabulate(pairs, n_units=len(matrices), n_systems=matrices.shape[1])


def simulate_tables(rng: np.random.Generator, theta, *, n_units: int, n_per_pair: int) -> WinTables:
    """Draw wins of every pair in every unit; a system's luck is shared inside a unit."""
    theta = np.asarray(theta, dtype=float)
    drawn = theta + rng.normal(0.0, 0.7, size=(n_units, len(theta)))
    p = 1.0 / (1.0 + np.exp(drawn[:, None, :] - drawn[:, :, None]))
    upper = np.triu(np.ones((len(theta), len(theta)), dtype=bool), 1)
    wins = np.where(upper, rng.binomial(n_per_pair, p), 0)
    losses = np.where(upper, n_per_pair - wins, 0).swapaxes(1, 2)
    tables: WinTables = make_tables(wins + losses)
    return tables


def strengths_of(tables):
    return fit_bradley_terry(tables.total()).log_strengths


def draw_pairs(rng, n_systems, n):
    """Draw pairs of distinct systems."""
    first = rng.integers(0, n_systems, n)
    return first, (first + rng.integers(1, n_systems, n)) % n_systems


def add_up(first, second, share, n_systems):
    """Add up what the firsts and the seconds took, one judgment at a time."""
    wins = np.zeros((n_systems, n_systems))
    np.add.at(wins, (first, second), share)
    np.add.at(wins, (second, first), 1 - share)
    return wins


def give_up(*args, **kwargs):
    """Stand in for a search that does not end."""
    raise NotConvergedError


def published(*names):
    """Return columns of the published leaderboard, for the systems that have all of them."""
    text = shared_file("heart-published-leaderboard.csv").read_text(encoding="utf-8")
    rows = [row for row in csv.DictReader(text.splitlines()) if all(row[name] for name in names)]
    return tuple(np.array([float(row[name]) for row in rows]) for name in names)


def centred(values):
    """Move values to mean 0."""
    return np.asarray(values) - np.mean(values)


# Four observers, twelve units, five values, 0 where a judgment is missing. Krippendorff (2011),
# Computing Krippendorff's Alpha-Reliability, section C: nominal .743, ordinal .815, interval
# .849. Gwet (2014), Handbook of Inter-Rater Reliability, gives AC1 .775 for the same data.
OBSERVED = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
)

# Thirty patients, six psychiatrists each, five diagnoses. Fleiss (1971), Psychol. Bull. 76,
# table 1: kappa .430.
DIAGNOSED = """
    00060 03003 01401 00006 03030 20400 00402 20310 20040 00006
    10050 11040 03300 10050 02031 00501 30012 51000 02040 10203
    00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""
DIAGNOSES = np.array([[int(n) for n in patient] for patient in DIAGNOSED.split()])

# Two psychiatrists, three diagnoses, 200 patients. Cohen (1960), Educ. Psychol. Meas. 20,
# table 1: kappa .492.
TWO_RATERS = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]])

# American League East, 1987: (won at home, lost at home) of the row team against the column team.
# Agresti (1990), Categorical Data Analysis, table 10.10; (2002), 2nd ed., section 10.6.
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
WON_AT_HOME = np.array(
    [
        [0, 4, 4, 4, 6, 4, 6],
        [3, 0, 4, 4, 6, 6, 4],
        [2, 4, 0, 2, 4, 4, 6],
        [3, 5, 2, 0, 4, 4, 6],
        [5, 2, 3, 4, 0, 5, 6],
        [2, 3, 3, 4, 4, 0, 2],
        [2, 1, 1, 2, 1, 3, 0],
    ]
)
LOST_AT_HOME = np.array(
    [
        [0, 3, 2, 3, 1, 2, 0],
        [3, 0, 2, 3, 0, 1, 3],
        [5, 3, 0, 4, 3, 2, 0],
        [3, 1, 5, 0, 3, 2, 1],
        [1, 5, 3, 2, 0, 2, 0],
        [5, 3, 4, 3, 2, 0, 4],
        [5, 5, 6, 4, 6, 4, 0],
    ]
)
BASEBALL = (WON_AT_HOME + LOST_AT_HOME.T).astype(float)  # wins at home and away together
