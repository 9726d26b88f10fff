"""Random halves of the evaluators, for choosing by one and scoring by the other."""

import numpy as np

from ranking.numerics.arrays import Booleans, Integers

FEWEST_EVALUATORS = 2


def draw_halves(strata: Integers, *, n_splits: int, rng: np.random.Generator) -> Booleans:
    """Split evaluators into halves at random, each stratum as evenly as it goes.

    Parameters
    ----------
    strata : integer array of shape (n_evaluators,)
        What is to be spread over both halves: say 0 for people, 1 for judges.
    n_splits : int
        How many ways to split them, above 0.
    rng : numpy.random.Generator
        The only source of chance.

    Returns
    -------
    boolean array of shape (n_splits, n_evaluators)
        The halves differ by one evaluator at most, in all and in each stratum.

    Raises
    ------
    ValueError
        If there are fewer than two evaluators, or no splits are asked for.
    """
    if len(strata) < FEWEST_EVALUATORS or n_splits < 1:
        msg = f"cannot split {len(strata)} evaluators {n_splits} times"
        raise ValueError(msg)
    halves = np.empty((n_splits, len(strata)), dtype=np.bool_)
    turns = np.arange(len(strata)) % 2 == 0
    for half in halves:
        half[np.lexsort((rng.random(len(strata)), strata))] = turns ^ bool(rng.integers(2))
    return halves
