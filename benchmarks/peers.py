"""The same fit by this project, by plain NumPy and by two other libraries."""

import choix
import evalica
import numpy as np
from scipy import special

from ranking.numerics.arrays import Floats
from ranking.numerics.batches import WeightedPairs
from ranking.numerics.bradley_terry import fit_bradley_terry

TOLERANCE = 1e-8


def count(pairs: WeightedPairs, n_systems: int, times: Floats | None = None) -> Floats:
    """Count the wins by hand, each unit as often as ``times`` says: what solvers begin with."""
    cell = pairs.first * n_systems + pairs.second
    weight = 1.0 if times is None else times[pairs.unit]
    shape = (n_systems, n_systems)
    to_first, to_second = (
        np.bincount(cell, share * weight, n_systems**2).reshape(shape)
        for share in (pairs.to_first, pairs.to_second)
    )
    return np.asarray(to_first + to_second.T, dtype=np.float64)


def by_choix(wins: Floats) -> Floats:
    """Fit with choix."""
    return choix.ilsr_pairwise_dense(wins, tol=TOLERANCE)


def by_evalica(wins: Floats) -> Floats:
    """Fit with evalica, to which the wins of each pair are one weighted row."""
    first, second = np.nonzero(wins)
    found = evalica.bradley_terry(
        first.tolist(),
        second.tolist(),
        [evalica.Winner.X] * len(first),
        weights=wins[first, second].tolist(),
        tolerance=TOLERANCE,
        limit=1_000,
    )
    strengths = np.log(found.scores.sort_index().to_numpy(dtype=np.float64))
    centred: Floats = strengths - strengths.mean()
    return centred


def by_numpy(wins: Floats) -> Floats:
    """Fit with Newton's method and nothing else: no checks, no covariance."""
    games, won = wins + wins.T, wins.sum(axis=1)
    theta = np.zeros(len(wins))
    for _ in range(20):
        p = special.expit(theta[:, None] - theta[None, :])
        weight = games * p * (1.0 - p)
        information = np.diag(weight.sum(axis=1)) - weight + weight.mean()
        step = np.linalg.solve(information, won - (games * p).sum(axis=1))
        theta += step
        if np.abs(step).max() < TOLERANCE:
            break
    return np.asarray(theta - theta.mean())


def resampled_by_numpy(
    pairs: WeightedPairs, shape: tuple[int, int], start: Floats, times: Floats
) -> Floats:
    """Refit resamples with dense tables and chords from the start: a dozen lines, no checks.

    ``shape`` is how many units and systems there are, ``times`` how often each resample has each
    unit, (n_resamples, n_units).
    """
    n_units, n = shape
    table = np.zeros((n_units, n, n))
    np.add.at(table, (pairs.unit, pairs.first, pairs.second), pairs.to_first)
    np.add.at(table, (pairs.unit, pairs.second, pairs.first), pairs.to_second)
    wins = (times @ table.reshape(n_units, n * n)).reshape(-1, n, n)
    games, won = wins + wins.transpose(0, 2, 1), wins.sum(axis=2)
    p = special.expit(start[:, None] - start[None, :])
    weight = games.mean(axis=0) * p * (1.0 - p)
    inverse = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight)
    theta = np.tile(start, (len(times), 1))
    for _ in range(40):
        odds = np.exp(theta)
        shares = odds[:, :, None] / (odds[:, :, None] + odds[:, None, :])
        step = (won - (games * shares).sum(axis=2)) @ inverse
        theta += step
        if np.abs(step).max() < TOLERANCE:
            break
    return np.asarray(theta - theta.mean(axis=1, keepdims=True))


def by_heart(wins: Floats) -> Floats:
    """Fit with this project's code, checks and covariance included."""
    return fit_bradley_terry(wins).log_strengths
