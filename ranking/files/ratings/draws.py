"""Strengths where ties are an outcome of the model, with what their errors rest on."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from ranking.files.ratings.options import Ties
from ranking.files.ratings.point import PointFit
from ranking.numerics.arrays import Floats
from ranking.numerics.bootstrap import BootstrapReplicates, draw_units
from ranking.numerics.bradley_terry import NotConvergedError
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.models.davidson import fit_davidson
from ranking.numerics.models.existence import NoMaximumError
from ranking.numerics.models.rao_kupper import fit_rao_kupper
from ranking.numerics.tables import WinTables

BLOCK_BYTES = 32 * 2**20


def fit_draws(model: Ties, wins: Floats, ties: Floats) -> PointFit:
    """Fit one of the two models to wins and ties, each of shape (n_systems, n_systems).

    Raises
    ------
    NotConnectedError, NoMaximumError, NotConvergedError
        If there is no maximum, or it is not found.
    """
    if model is Ties.DAVIDSON:
        davidson = fit_davidson(wins, ties)
        return PointFit(davidson.log_strengths, davidson.covariance, davidson.draw_parameter)
    fit = fit_rao_kupper(wins, ties)
    return PointFit(fit.log_strengths, fit.covariance, fit.threshold)


def bootstrap_draws(
    model: Ties,
    wins: WinTables,
    ties: WinTables,
    *,
    n_replicates: int,
    rng: np.random.Generator,
) -> BootstrapReplicates:
    """Refit the model to samples of whole units, as `bootstrap_strengths` does.

    Cost is one fit for each replicate.
    """
    per_block = max(1, BLOCK_BYTES // (8 * max(wins.n_units, wins.n_systems**2)))
    found: list[Floats] = []
    while len(found) < n_replicates:
        drawn = draw_units(wins.n_units, min(per_block, n_replicates - len(found)), rng)
        samples = zip(wins.weighted(drawn), ties.weighted(drawn), strict=True)
        found += [_strengths(model, *sample) for sample in samples]
    strengths = np.array(found)
    has_maximum = np.isfinite(strengths[:, 0])
    return BootstrapReplicates(strengths, has_maximum)


def sandwich_draws(model: Ties, wins: WinTables, ties: WinTables, fit: PointFit) -> Floats:
    """Return the covariance of the strengths, clustered by unit, (n_systems, n_systems).

    ``n / (n - 1) * H^- (sum_c U_c U_c') H^-``, over strengths and parameter of ties together, H
    the expected information.
    """
    n = wins.n_systems
    of_win, of_tie, pairs = _gradients(model, fit)
    scores = np.stack([_scores(wins, ties, w, t) for w, t in zip(of_win, of_tie, strict=True)], 1)
    judged = (wins.total() + wins.total().T + ties.total()) / 2.0  # each pair from both sides
    information = _products(of_win, 2.0 * judged * pairs.win)
    information += _products(of_tie, judged * pairs.tie)
    inverse = np.linalg.pinv(information, rcond=1e-12, hermitian=True)
    n_units = int((np.diff(wins.rows.indptr) + np.diff(ties.rows.indptr) > 0).sum())
    spread = inverse @ (scores.T @ scores) @ inverse * (n_units / (n_units - 1.0))
    centre = np.eye(n) - 1.0 / n
    covariance: Floats = centre @ spread[:n, :n] @ centre
    return covariance


@dataclass(frozen=True)
class _Chances:
    """Chance that i wins from j, and that they tie, (n_systems, n_systems) each."""

    win: Floats
    tie: Floats


def _strengths(model: Ties, wins: Floats, ties: Floats) -> Floats:
    try:
        return fit_draws(model, wins, ties).log_strengths
    except (NotConnectedError, NoMaximumError, NotConvergedError):
        return np.full(len(wins), np.nan)


def _products(gradients: Floats, weights: Floats) -> Floats:
    """Add up the outer products of gradients (n_parameters, n, n) under weights (n, n)."""
    flat = gradients.reshape(len(gradients), -1)
    products: Floats = (flat * weights.ravel()) @ flat.T
    return products


def _scores(wins: WinTables, ties: WinTables, of_win: Floats, of_tie: Floats) -> Floats:
    """Return one entry of each unit's gradient; a tie stands in its table from both sides."""
    scores: Floats = wins.rows @ of_win.ravel() + ties.rows @ of_tie.ravel() / 2.0
    return scores


def _gradients(model: Ties, fit: PointFit) -> tuple[Floats, Floats, _Chances]:
    """Return the gradients of one win of i from j and of one tie, (n_systems + 1, n, n) each."""
    d = fit.log_strengths[:, None] - fit.log_strengths[None, :]
    outcomes = _davidson if model is Ties.DAVIDSON else _rao_kupper
    by_d, by_parameter, chances = outcomes(d, fit.parameter or 0.0)
    system = np.eye(len(d))
    side = system[:, :, None] - system[:, None, :]  # +1 where it is i, -1 where it is j
    of_win, of_tie = (
        np.concatenate([side * one, other[None]])
        for one, other in zip(by_d, by_parameter, strict=True)
    )
    return of_win, of_tie, chances


def _davidson(
    d: Floats, nu: float
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats], _Chances]:
    total = np.exp(d / 2) + np.exp(-d / 2) + nu
    win, tie = np.exp(d / 2) / total, nu / total
    ahead = win - win.T
    return ((1.0 - ahead) / 2, -ahead / 2), (-tie, 1.0 - tie), _Chances(win, tie)


def _rao_kupper(
    d: Floats, threshold: float
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats], _Chances]:
    win = special.expit(d - threshold)
    tie = 1.0 - win - win.T
    # P(tie) = (eta^2 - 1) P(i wins) P(j wins)
    growth = 2.0 / -np.expm1(-2.0 * threshold) if threshold > 0 else 0.0
    of_tie = growth - (1.0 - win) - (1.0 - win.T)
    return (1.0 - win, win.T - win), (win - 1.0, of_tie), _Chances(win, tie)
