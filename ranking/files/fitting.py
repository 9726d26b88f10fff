"""From judgments to strengths, ties as an outcome included, their spread and ranks."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from ranking.files.choosing import ChosenJudgments
from ranking.files.judgments import FileJudgments
from ranking.files.options import LEVEL, IntervalMethod, Options, Ties
from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.bootstrap import BootstrapReplicates, bootstrap_strengths
from ranking.numerics.bradley_terry import NotConvergedError, fit_bradley_terry
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.elo import paper_standard_errors
from ranking.numerics.few_units import expanded_intervals, robust_covariance
from ranking.numerics.intervals import Intervals
from ranking.numerics.models.maximum import NoMaximumError
from ranking.numerics.models.ties import fit_davidson, fit_rao_kupper
from ranking.numerics.refits import draw_units
from ranking.numerics.simultaneous import Units, effective_units
from ranking.numerics.strength import shares
from ranking.numerics.strength_mode import StrengthMode
from ranking.numerics.tables import WeightedPairs, WinTables, tabulate

FEWEST = 2
Pair = tuple[Floats, Floats]
"""What holds of a win of i from j, and of a tie."""


@dataclass(frozen=True)
class Spread:
    """How far strengths may be off: natural log, shape (n_systems,) each.

    ``replicates`` of shape (n_replicates, n_systems) stand for what other samples would give:
    refits, or draws from the covariance. ``n_units`` are those of each system, None if
    units do not matter.
    """

    errors: Floats
    interval: Intervals
    replicates: Floats
    n_units: Units | None = None
    n_without_maximum: int = 0


@dataclass(frozen=True)
class PointFit:
    """Log strengths (natural log, mean 0), their model covariance, and the parameter of ties.

    The parameter is nu in Davidson's model, ln eta in that of Rao and Kupper, else None. There is
    no spread where there is too little for one.
    """

    log_strengths: Floats
    covariance: Floats
    parameter: float | None = None
    spread: Spread | None = None


@dataclass(frozen=True)
class _Tables:
    """Weighted wins per unit, and ties apart if the model has them."""

    wins: WinTables
    ties: WinTables | None

    def units_of_systems(self) -> Integers:
        """Return what each system's units are worth, judgments tied or not."""
        weights = self.wins.unit_weights()
        return effective_units(weights if self.ties is None else weights + self.ties.unit_weights())


def fit_judgments(chosen: ChosenJudgments, options: Options) -> PointFit:
    """Fit strengths, and find out how far they may be off.

    Raises
    ------
    NotConnectedError, NoMaximumError
        If no finite strengths exist.
    NotConvergedError
        If they are not found.
    """
    tables = _tabulate(chosen, options.ties)
    point = _fit(tables, options.ties)
    return replace(point, spread=_spread(chosen, options, tables, point))


def counted(judgments: FileJudgments, ties: Ties) -> Booleans:
    """Say for each judgment whether it has a part in the fit."""
    is_counted: Booleans = (judgments.verdict != 0) | (ties is not Ties.DROP)
    return is_counted


def _fit(tables: _Tables, ties: Ties) -> PointFit:
    if tables.ties is not None:
        return fit_draws(ties, tables.wins.total(), tables.ties.total())
    fit = fit_bradley_terry(tables.wins.total())
    return PointFit(fit.log_strengths, fit.covariance)


def _tabulate(chosen: ChosenJudgments, ties: Ties) -> _Tables:
    judgments = chosen.judgments
    if not ties.has_model:
        decided = counted(judgments, ties) if ties is Ties.DROP else None
        kept = judgments if decided is None else judgments.where(decided)
        return _Tables(_win_tables(kept, chosen), None)
    is_tie = judgments.verdict == 0
    wins = _win_tables(judgments, chosen, kept=~is_tie)
    return _Tables(wins, _win_tables(judgments, chosen, kept=is_tie, both_sides=True))


def _win_tables(
    judgments: FileJudgments,
    chosen: ChosenJudgments,
    *,
    kept: Booleans | None = None,
    both_sides: bool = False,
) -> WinTables:
    """Tabulate judgments; units stay numbered alike whichever are kept."""
    # What a strength is to a tie does not matter, nor what an unknown one is to be ignored.
    size = 1 if chosen.strength is StrengthMode.IGNORE else judgments.size
    split = shares(judgments.verdict * size, chosen.strength)
    times = 2.0 if both_sides else 1.0
    place = slice(None) if kept is None else kept
    pairs = WeightedPairs(
        unit=judgments.unit.codes[place],
        first=judgments.first[place],
        second=judgments.second[place],
        to_first=times * split.first[place],
        to_second=times * split.second[place],
    )
    return tabulate(pairs, n_units=len(judgments.unit.values), n_systems=len(judgments.systems))


def _spread(
    chosen: ChosenJudgments, options: Options, tables: _Tables, fit: PointFit
) -> Spread | None:
    rng = np.random.default_rng(options.seed)
    n_units = tables.wins.n_units
    if options.interval.needs_units and n_units < FEWEST:
        return None
    if options.interval is IntervalMethod.BOOTSTRAP:
        return _resampled(options, tables, fit, rng)
    if options.interval is IntervalMethod.SANDWICH:
        return _sandwich(options, tables, fit, rng)
    covariance = (
        fit.covariance if options.interval is IntervalMethod.FISHER else _paper(chosen, options)
    )
    return _normal(fit.log_strengths, covariance, options.replicates, rng)


def _resampled(
    options: Options, tables: _Tables, fit: PointFit, rng: np.random.Generator
) -> Spread | None:
    n, strengths = options.replicates, fit.log_strengths
    if tables.ties is None:
        found = bootstrap_strengths(tables.wins, strengths, n_replicates=n, rng=rng)
    else:
        found = bootstrap_draws(options.ties, tables.wins, tables.ties, n_replicates=n, rng=rng)
    refits = found.fitted()
    if len(refits) < FEWEST:
        return None
    n_units = tables.units_of_systems()
    interval = expanded_intervals(strengths, refits, n_units=n_units, level=LEVEL)
    errors = refits.std(axis=0, ddof=1)
    return Spread(errors, interval, refits, n_units, found.n_without_maximum)


def _sandwich(options: Options, tables: _Tables, fit: PointFit, rng: np.random.Generator) -> Spread:
    if tables.ties is not None:
        draws = sandwich_draws(options.ties, tables.wins, tables.ties, fit)
        n_units = tables.units_of_systems()
        return _normal(fit.log_strengths, draws, options.replicates, rng, n_units)
    robust = robust_covariance(tables.wins, fit.log_strengths)
    interval = robust.intervals(fit.log_strengths, level=LEVEL)
    drawn = _draw(fit.log_strengths, robust.covariance, options.replicates, rng)
    return Spread(robust.standard_errors, interval, drawn, tables.units_of_systems())


def _paper(chosen: ChosenJudgments, options: Options) -> Floats:
    judgments = chosen.judgments.where(counted(chosen.judgments, options.ties))
    both = np.concatenate([judgments.first, judgments.second])
    n = np.bincount(both, minlength=len(judgments.systems)).astype(np.float64)
    return np.diag(paper_standard_errors(n) ** 2)


def _normal(
    strengths: Floats,
    covariance: Floats,
    n_draws: int,
    rng: np.random.Generator,
    n_units: Units | None = None,
) -> Spread:
    errors = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    tail = (1.0 - LEVEL) / 2.0
    quantile = (
        special.ndtri(1.0 - tail) if n_units is None else special.stdtrit(n_units - 1, 1.0 - tail)
    )
    margin = quantile * errors
    interval = Intervals(strengths - margin, strengths + margin)
    return Spread(errors, interval, _draw(strengths, covariance, n_draws, rng), n_units)


def _draw(strengths: Floats, covariance: Floats, n: int, rng: np.random.Generator) -> Floats:
    """Draw strengths that other samples would give, shape (n, n_systems)."""
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn: Floats = strengths + rng.standard_normal((n, len(strengths))) @ root.T
    return drawn


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
        return PointFit(davidson.log_strengths, davidson.covariance, davidson.parameter)
    fit = fit_rao_kupper(wins, ties)
    return PointFit(fit.log_strengths, fit.covariance, fit.parameter)


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
    of_win, of_tie, (win, tie) = _gradients(model, fit)
    scores = np.stack([_scores(wins, ties, w, t) for w, t in zip(of_win, of_tie, strict=True)], 1)
    judged = (wins.total() + wins.total().T + ties.total()) / 2.0  # each pair from both sides
    information = _products(of_win, 2.0 * judged * win)
    information += _products(of_tie, judged * tie)
    inverse = np.linalg.pinv(information, rcond=1e-12, hermitian=True)
    n_units = int((np.diff(wins.rows.indptr) + np.diff(ties.rows.indptr) > 0).sum())
    spread = inverse @ (scores.T @ scores) @ inverse * (n_units / (n_units - 1.0))
    centre = np.eye(n) - 1.0 / n
    covariance: Floats = centre @ spread[:n, :n] @ centre
    return covariance


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


def _gradients(model: Ties, fit: PointFit) -> tuple[Floats, Floats, Pair]:
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


def _davidson(d: Floats, nu: float) -> tuple[Pair, Pair, Pair]:
    total = np.exp(d / 2) + np.exp(-d / 2) + nu
    win, tie = np.exp(d / 2) / total, nu / total
    ahead = win - win.T
    return ((1.0 - ahead) / 2, -ahead / 2), (-tie, 1.0 - tie), (win, tie)


def _rao_kupper(d: Floats, threshold: float) -> tuple[Pair, Pair, Pair]:
    win = special.expit(d - threshold)
    tie = 1.0 - win - win.T
    # P(tie) = (eta^2 - 1) P(i wins) P(j wins)
    growth = 2.0 / -np.expm1(-2.0 * threshold) if threshold > 0 else 0.0
    of_tie = growth - (1.0 - win) - (1.0 - win.T)
    has_ties = threshold > 0  # without any it stays at 0, and is no parameter
    by_threshold = (has_ties * (win - 1.0), has_ties * of_tie)
    return (1.0 - win, win.T - win), by_threshold, (win, tie)
