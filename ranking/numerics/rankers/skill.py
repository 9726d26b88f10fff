"""Skill with an uncertainty that shrinks, by the library OpenSkill."""

from dataclasses import dataclass

import numpy as np

from ranking.numerics.arrays import Floats, Integers


@dataclass(frozen=True)
class Skills:
    """Mean and standard deviation of each system's skill, in the library's units."""

    mean: Floats
    deviation: Floats


def skills(pairs: Integers, share: Floats, *, n_systems: int) -> Skills:
    """Rate systems by one pass over the judgments with the Plackett-Luce model of Weng and Lin.

    Parameters
    ----------
    pairs : integer array of shape (2, n_judgments)
        First and second system of each judgment, in the order of the pass.
    share : array of shape (n_judgments,)
        What the first took: above one half it won, below it lost, else they tied.
    n_systems : int
        How many systems there are, judged or not.

    Returns
    -------
    Skills
        Arrays of shape (n_systems,); all start from 25 with a deviation of 25 / 3.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    Notes
    -----
    The order matters, and the deviation takes judgments as independent. By how much a win was
    won is not used. Cost O(n_judgments), one judgment at a time.

    References
    ----------
    .. [1] Weng & Lin (2011), J. Mach. Learn. Res. 12:267-300.
    .. [2] Joshy (2024), J. Open Source Softw. 9(93):5901. doi:10.21105/joss.05901
    """
    if pairs.shape != (2, len(share)):
        msg = f"shapes do not fit: {pairs.shape}, {share.shape}"
        raise ValueError(msg)
    from openskill.models import PlackettLuce  # noqa: PLC0415 - slow to import, seldom wanted

    model = PlackettLuce()
    ratings = [model.rating() for _ in range(n_systems)]
    for one, other, taken in zip(*pairs.tolist(), share.tolist(), strict=True):
        ranks = [float(taken < 0.5), float(taken > 0.5)]  # noqa: PLR2004 - one half
        teams = model.rate([[ratings[one]], [ratings[other]]], ranks=ranks)
        ratings[one], ratings[other] = teams[0][0], teams[1][0]
    return Skills(
        np.array([rating.mu for rating in ratings]), np.array([rating.sigma for rating in ratings])
    )
