"""Circles of three systems: A beats B, B beats C, C beats A."""

from dataclasses import dataclass

import numpy as np

from ranking.numerics.arrays import Floats


@dataclass(frozen=True)
class Triads:
    """How many threes were decided, and how many of these are circles.

    ``consistence`` is the coefficient of Kendall and Babington Smith: 1 without circles, 0 with as
    many as there can be; None unless every pair is decided and there are three systems.
    """

    n_decided: int
    n_circular: int
    consistence: float | None


def circular_triads(wins: Floats) -> Triads:
    """Count the circles among the majorities of the pairs.

    Parameters
    ----------
    wins : array of shape (n_systems, n_systems)
        ``wins[i, j]`` is the weight with which ``i`` was preferred to ``j``. A pair is decided
        when one side has more.

    Returns
    -------
    Triads

    Raises
    ------
    ValueError
        If ``wins`` is not square, or has a negative or non-finite entry.

    Notes
    -----
    If each of n decided threes were decided by coins, n / 4 would be circles. Majorities of
    few judgments turn by chance: compare with `expected_circles`. Cost O(n_systems**3).

    References
    ----------
    .. [1] Kendall & Babington Smith (1940), Biometrika 31:324-345. doi:10.2307/2332613
    """
    wins = np.asarray(wins, dtype=np.float64)
    if wins.ndim != 2 or wins.shape[0] != wins.shape[1]:  # noqa: PLR2004 - a matrix
        msg = f"wins must be square, not of shape {wins.shape}"
        raise ValueError(msg)
    if not np.isfinite(wins).all() or (wins < 0).any():
        msg = "wins must be finite and not negative"
        raise ValueError(msg)
    beats = (wins > wins.T).astype(np.float64)
    decided = beats + beats.T
    n_decided = round(_closed_walks(decided) / 6)
    n_circular = round(_closed_walks(beats) / 3)
    return Triads(n_decided, n_circular, _consistence(len(wins), decided, n_circular))


def expected_circles(chance: Floats) -> float:
    """Return how many circles to expect if pairs are decided independently.

    Parameters
    ----------
    chance : array of shape (n_systems, n_systems)
        ``chance[i, j]`` is the probability that ``i`` has the majority over ``j``; 0 both ways
        where a pair was not judged.

    Notes
    -----
    Cost O(n_systems**3).
    """
    return _closed_walks(np.asarray(chance, dtype=np.float64)) / 3


def _closed_walks(matrix: Floats) -> float:
    """Return the sum of the products along all walks of three steps back to the start."""
    without = matrix * (1.0 - np.eye(len(matrix)))
    return float(((without @ without) * without.T).sum())


def _consistence(n: int, decided: Floats, n_circular: int) -> float | None:
    if n <= 2 or decided.sum() < n * (n - 1):  # noqa: PLR2004 - no three systems
        return None
    most = (n**3 - n) / 24 if n % 2 else (n**3 - 4 * n) / 24
    return 1.0 - n_circular / most
