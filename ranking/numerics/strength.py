"""How much of a judgment goes to each completion, given how strong the preference was."""

from dataclasses import dataclass

import numpy as np

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.strength_mode import StrengthMode

STRONGEST = 5
FIVE_POINTS = (-2, -1, 0, 1, 2)


@dataclass(frozen=True)
class Shares:
    """Weight of each judgment for its first and for its second completion, shape (n,) each."""

    first: Floats
    second: Floats


def grade_to_strength(grades: Integers, *, slightly: int, much: int) -> Integers:
    """Translate five-point answers to signed strengths.

    Parameters
    ----------
    grades : integer array of any shape
        -2 second much better, -1 second slightly, 0 about the same, 1 first slightly,
        2 first much better.
    slightly, much : int
        Strength (1 to 5, dimensionless) that "slightly" and "much" stand for;
        ``slightly`` must not exceed ``much``. The HEART protocol takes 2 and 4.

    Returns
    -------
    integer array of the same shape
        Signed strength, -5 to 5: positive favours the first completion, 0 is a tie.

    Raises
    ------
    ValueError
        If a grade is outside -2 to 2, or the two strengths are out of range or order.

    References
    ----------
    .. [1] HEART (2026), arXiv:2601.19922, section 9.5 has five-point answers for people and
       strengths 1 to 5 for judges, and names no translation between the two.
    """
    grades = np.asarray(grades, dtype=np.int64)
    if not 1 <= slightly <= much <= STRONGEST:
        msg = f"strengths must satisfy 1 <= slightly <= much <= 5, not {slightly} and {much}"
        raise ValueError(msg)
    if not np.isin(grades, FIVE_POINTS).all():
        msg = "grades must lie between -2 and 2"
        raise ValueError(msg)
    size = np.array([0, slightly, much], dtype=np.int64)[np.abs(grades)]
    return np.sign(grades) * size


def shares(strengths: Integers, mode: StrengthMode) -> Shares:
    """Split each judgment between its two completions.

    Parameters
    ----------
    strengths : integer array of shape (n_judgments,)
        Signed strength, -5 to 5: positive favours the first completion, 0 is a tie.
    mode : StrengthMode
        ``SOFT`` gives a winner of strength s the share 0.45 + 0.1 s and the loser the rest.
        ``MULTIPLY`` gives the winner s and the loser 0. ``IGNORE`` gives 1 and 0.
        A tie gives 0.5 to each side in every mode.

    Returns
    -------
    Shares
        Two float arrays of shape (n_judgments,), dimensionless weights of at least 0.

    Raises
    ------
    ValueError
        If a strength is outside -5 to 5.

    Notes
    -----
    Under ``MULTIPLY`` the total weight of a judgment is its strength, and a tie, having none,
    weighs 1. Only ``SOFT`` keeps each system's maximum finite whenever the comparison graph is
    connected, because nobody loses a judgment whole. No mode makes the fitted difference the
    log odds of winning except ``IGNORE``. An empty array gives empty shares. Cost O(n).

    References
    ----------
    .. [1] HEART (2026), arXiv:2601.19922, section 9.8 ("weighted by win strength"); the soft
       scores are those of the code its authors released.
    """
    strengths = np.asarray(strengths, dtype=np.int64)
    if (np.abs(strengths) > STRONGEST).any():
        msg = "strengths must lie between -5 and 5"
        raise ValueError(msg)
    to_winner, to_loser = _winner_and_loser(np.abs(strengths), StrengthMode(mode))
    first = np.where(strengths >= 0, to_winner, to_loser)
    second = np.where(strengths >= 0, to_loser, to_winner)
    return Shares(first, second)


def _winner_and_loser(size: Integers, mode: StrengthMode) -> tuple[Floats, Floats]:
    """Return the winner's and the loser's weight for unsigned strengths; 0 is a tie."""
    tie = size == 0
    if mode is StrengthMode.SOFT:
        # In twentieths, so that equal strengths give bit-equal shares.
        to_winner = np.where(tie, 10, 9 + 2 * size) / 20
        return to_winner, np.where(tie, 10, 11 - 2 * size) / 20
    won = size if mode is StrengthMode.MULTIPLY else np.ones_like(size)
    return np.where(tie, 0.5, won), np.where(tie, 0.5, 0.0)
