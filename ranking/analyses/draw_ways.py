"""The ways to treat ties and grades: what each makes of the judgments."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from ranking.analyses.common import tabulated
from ranking.analyses.outcomes import Outcomes, graded
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.method import Method
from ranking.numerics.arrays import Floats
from ranking.numerics.bradley_terry import NotConvergedError, fit_bradley_terry
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.models.cumulative import CumulativeFit, fit_cumulative
from ranking.numerics.models.davidson import fit_davidson
from ranking.numerics.models.existence import NoMaximumError
from ranking.numerics.models.rao_kupper import fit_rao_kupper
from ranking.numerics.strength_mode import StrengthMode


@dataclass(frozen=True)
class Judged:
    """The judgments one by one, as the board weighs them, and counted so."""

    columns: JudgmentColumns
    method: Method
    weights: Floats
    counted: Outcomes


@dataclass(frozen=True)
class Treated:
    """One way to treat ties and grades: log strengths, and probabilities if it gives any.

    ``win`` and ``tie``, of shape (n, n), are those of the row's winning against the column and
    of a tie; ``tie`` is None where ties are no outcome, ``win`` where strengths are no log odds.
    """

    log_strengths: Floats
    win: Floats | None = None
    tie: Floats | None = None
    tie_between_equals: float | None = None
    fit: CumulativeFit | None = None


@dataclass(frozen=True)
class Way:
    """A way to treat ties and grades, by its key in downloads and its words on the page.

    ``head`` is short enough to stand over a column.
    """

    key: str
    label: str
    head: str
    fit: Callable[[Judged], Treated]


def treat(judged: Judged) -> tuple[dict[str, Treated], list[str]]:
    """Treat them in every way; return what came of each by its key, and why nothing of others."""
    found, warnings = {}, []
    for way in WAYS:
        try:
            found[way.key] = way.fit(judged)
        except NotConnectedError as refusal:
            n_groups = len(refusal.components)
            warnings.append(f"{way.label}: no ratings, {n_groups} groups cannot be compared.")
        except NoMaximumError:
            warnings.append(f"{way.label}: no ratings, the likelihood grows without end.")
        except NotConvergedError:
            warnings.append(f"{way.label}: no ratings, the search did not end.")
    return found, warnings


def _soft(judged: Judged) -> Treated:
    return _scored(judged, StrengthMode.SOFT)


def _multiply(judged: Judged) -> Treated:
    return _scored(judged, StrengthMode.MULTIPLY)


def _scored(judged: Judged, mode: StrengthMode) -> Treated:
    tables = tabulated(judged.columns, replace(judged.method, strength=mode))
    return Treated(fit_bradley_terry(tables.total()).log_strengths)


def _half(judged: Judged) -> Treated:
    theta = fit_bradley_terry(judged.counted.wins + judged.counted.ties / 2).log_strengths
    return Treated(theta, win=special.expit(differences(theta)))


def _drop(judged: Judged) -> Treated:
    theta = fit_bradley_terry(judged.counted.wins).log_strengths
    return Treated(theta, win=special.expit(differences(theta)))


def _davidson(judged: Judged) -> Treated:
    fit = fit_davidson(judged.counted.wins, judged.counted.ties)
    half, nu = differences(fit.log_strengths) / 2, fit.draw_parameter
    total = np.exp(half) + np.exp(-half) + nu
    win, tie = np.exp(half) / total, nu / total
    return Treated(fit.log_strengths, win, tie, tie_between_equals=nu / (2 + nu))


def _rao_kupper(judged: Judged) -> Treated:
    fit = fit_rao_kupper(judged.counted.wins, judged.counted.ties)
    return _with_threshold(fit.log_strengths, fit.threshold)


def _cumulative(judged: Judged) -> Treated:
    fit = fit_cumulative(
        graded(judged.columns, judged.weights), n_systems=len(judged.columns.systems)
    )
    return _with_threshold(fit.log_strengths, float(fit.thresholds[0]), fit)


def _with_threshold(theta: Floats, threshold: float, fit: CumulativeFit | None = None) -> Treated:
    win = special.expit(differences(theta) - threshold)
    return Treated(theta, win, 1 - win - win.T, float(np.tanh(threshold / 2)), fit)


def differences(theta: Floats) -> Floats:
    """Return by how much each strength is above each other, shape (n, n)."""
    apart: Floats = theta[:, None] - theta[None, :]
    return apart


WAYS = (
    Way("soft", "Soft scores, ties half", "Soft scores", _soft),
    Way("multiply", "Wins times strength, ties half", "Times strength", _multiply),
    Way("ignore", "Wins alone, ties half", "Wins alone", _half),
    Way("drop", "Wins alone, ties left out", "Ties left out", _drop),
    Way("davidson", "Davidson: ties in the model", "Davidson", _davidson),
    Way("rao_kupper", "Rao-Kupper: ties in the model", "Rao-Kupper", _rao_kupper),
    Way("cumulative", "Cumulative logit: grades in the model", "Cumulative logit", _cumulative),
)
