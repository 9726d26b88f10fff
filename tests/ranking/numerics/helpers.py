"""Ways to make judgments up, and the plain loops that the estimators are held against."""

import numpy as np

from ranking.numerics.tables import WeightedPairs, WinTables, tabulate


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


def simulate_tables(
    rng: np.random.Generator, theta, *, n_units: int, n_per_pair: int, shared_sd: float = 0.7
) -> WinTables:
    """Draw wins of every pair in every unit; a system's luck is shared inside a unit."""
    theta = np.asarray(theta, dtype=float)
    drawn = theta + rng.normal(0.0, shared_sd, size=(n_units, len(theta)))
    p = 1.0 / (1.0 + np.exp(drawn[:, None, :] - drawn[:, :, None]))
    upper = np.triu(np.ones((len(theta), len(theta)), dtype=bool), 1)
    wins = np.where(upper, rng.binomial(n_per_pair, p), 0)
    losses = np.where(upper, n_per_pair - wins, 0).swapaxes(1, 2)
    tables: WinTables = make_tables(wins + losses)
    return tables


def centred(values):
    """Move values to mean 0."""
    return np.asarray(values) - np.mean(values)
