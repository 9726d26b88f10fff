"""Misfit: how far a rater's answers lie from what the ratings predict."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.quality.rules.records import Finding
from annotation.quality.rules.rules import RULES_VERSION, Rules

RULE = f"misfit-{RULES_VERSION}"
BY_CHANCE = 2.0


@dataclass(frozen=True)
class Prediction:
    """What one answer was (1 first, 0 second, 0.5 neither) and how probable first was."""

    outcome: float
    expected: float


@dataclass(frozen=True)
class Infit:
    """The information-weighted mean square of a rater's residuals, and the same standardised.

    ``mean_square`` is 1 in the mean for answers drawn from the predictions, whoever gave them;
    ``z`` is its Wilson-Hilferty transform, standard normal nearly, for the same answers.
    """

    mean_square: float
    z: float
    n: int


def infit(predictions: Sequence[Prediction]) -> Infit | None:
    """Return the infit of one rater's answers.

    Parameters
    ----------
    predictions : sequence of Prediction
        Outcomes y in {0, 0.5, 1} and win probabilities p, dimensionless. The strengths behind p
        must not have seen this rater's answers, or the rater is compared with themself.

    Returns
    -------
    Infit or None
        sum (y - p)^2 / sum p (1 - p), with its variance sum p(1-p)(1-4p(1-p)) over the square
        of that denominator; ``z`` = (v^(1/3) - 1) (3/q) + q/3 with q the standard deviation, 0
        when q is 0 (every p one half: then the mean square is 1 for any answers but ties).
        None without answers or when every p is 0 or 1.

    Notes
    -----
    A tie counts as half a win. It lies nearer to any p than a win on the wrong side does, so
    many ties make the mean square smaller, never larger. Cost O(n).

    References
    ----------
    .. [1] Wright & Masters (1982), Rating Scale Analysis, chapter 5 (mean squares and t).
    .. [2] Pollitt (2012), Assess. Educ. 19:281-300. doi:10.1080/0969594X.2012.665354 (misfit of
       judges in comparative judgment).
    """
    variances = [one.expected * (1 - one.expected) for one in predictions]
    information = math.fsum(variances)
    if not information:
        return None
    squares = math.fsum((one.outcome - one.expected) ** 2 for one in predictions)
    mean_square = squares / information
    spread = math.sqrt(math.fsum(v * (1 - 4 * v) for v in variances)) / information
    z = (mean_square ** (1 / 3) - 1) * 3 / spread + spread / 3 if spread else 0.0
    return Infit(mean_square, z, len(predictions))


def misfit(measured: Infit | None, rules: Rules) -> Finding | None:
    """Return a warning when a rater's answers miss the predictions by too much.

    The rule: a mean square above ``misfit`` whose standardised value is above 2 as well (with few
    answers the mean square strays far by chance), from ``min_warned_answers`` on.
    """
    if measured is None or measured.n < rules.min_warned_answers:
        return None
    if measured.mean_square <= rules.misfit or measured.z <= BY_CHANCE:
        return None
    return Finding(
        rule=RULE,
        value=measured.mean_square,
        threshold=rules.misfit,
        evidence={"n_answers": measured.n, "z": round(measured.z, 4)},
        is_exclusion=False,
    )
