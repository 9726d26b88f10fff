"""From judgments to strengths, their spread, and what that says of ranks."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from ranking.files.judgments import FileJudgments
from ranking.files.ratings.choosing import Chosen
from ranking.files.ratings.options import LEVEL, Interval, Options, Ties
from ranking.files.ratings.point import PointFit
from ranking.numerics.arrays import Booleans, Floats
from ranking.numerics.bootstrap import bootstrap_strengths
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.elo import paper_standard_errors
from ranking.numerics.few_units import expanded_intervals, robust_covariance
from ranking.numerics.intervals import Intervals
from ranking.numerics.strength import shares
from ranking.numerics.strength_mode import StrengthMode
from ranking.numerics.tables import WeightedPairs, WinTables, tabulate

FEWEST = 2


@dataclass(frozen=True)
class Spread:
    """How far strengths may be off: natural log, shape (n_systems,) each.

    ``replicates`` of shape (n_replicates, n_systems) stand for what other samples would give:
    refits, or draws from the covariance. ``n_units`` is None if units do not matter.
    """

    errors: Floats
    interval: Intervals
    replicates: Floats
    n_units: int | None = None
    n_without_maximum: int = 0


@dataclass(frozen=True)
class Fitted:
    """Log strengths (natural log, mean 0); no spread where there is too little for one."""

    log_strengths: Floats
    spread: Spread | None
    draw_parameter: float | None = None


@dataclass(frozen=True)
class _Tables:
    """Weighted wins per unit, and ties apart if the model has them."""

    wins: WinTables
    ties: WinTables | None


def fit_judgments(chosen: Chosen, options: Options) -> Fitted:
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
    return Fitted(point.log_strengths, _spread(chosen, options, tables, point), point.parameter)


def counted(judgments: FileJudgments, ties: Ties) -> Booleans:
    """Say for each judgment whether it has a part in the fit."""
    is_counted: Booleans = (judgments.verdict != 0) | (ties is not Ties.DROP)
    return is_counted


def _fit(tables: _Tables, ties: Ties) -> PointFit:
    if tables.ties is not None:
        # Imported where it is used: what it brings along costs most rankings a second.
        from ranking.files.ratings.draws import fit_draws  # noqa: PLC0415

        return fit_draws(ties, tables.wins.total(), tables.ties.total())
    fit = fit_bradley_terry(tables.wins.total())
    return PointFit(fit.log_strengths, fit.covariance)


def _tabulate(chosen: Chosen, ties: Ties) -> _Tables:
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
    chosen: Chosen,
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


def _spread(chosen: Chosen, options: Options, tables: _Tables, fit: PointFit) -> Spread | None:
    rng = np.random.default_rng(options.seed)
    n_units = tables.wins.n_units
    if options.interval.needs_units and n_units < FEWEST:
        return None
    if options.interval is Interval.BOOTSTRAP:
        return _resampled(options, tables, fit, rng)
    if options.interval is Interval.SANDWICH:
        return _sandwich(options, tables, fit, rng)
    covariance = fit.covariance if options.interval is Interval.FISHER else _paper(chosen, options)
    return _normal(fit.log_strengths, covariance, options.replicates, rng)


def _resampled(
    options: Options, tables: _Tables, fit: PointFit, rng: np.random.Generator
) -> Spread | None:
    n, strengths = options.replicates, fit.log_strengths
    if tables.ties is None:
        found = bootstrap_strengths(tables.wins, strengths, n_replicates=n, rng=rng)
    else:
        from ranking.files.ratings.draws import bootstrap_draws  # noqa: PLC0415

        found = bootstrap_draws(options.ties, tables.wins, tables.ties, n_replicates=n, rng=rng)
    refits = found.fitted()
    if len(refits) < FEWEST:
        return None
    n_units = tables.wins.n_units
    interval = expanded_intervals(strengths, refits, n_units=n_units, level=LEVEL)
    errors = refits.std(axis=0, ddof=1)
    return Spread(errors, interval, refits, n_units, found.n_without_maximum)


def _sandwich(options: Options, tables: _Tables, fit: PointFit, rng: np.random.Generator) -> Spread:
    if tables.ties is not None:
        from ranking.files.ratings.draws import sandwich_draws  # noqa: PLC0415

        draws = sandwich_draws(options.ties, tables.wins, tables.ties, fit)
        return _normal(fit.log_strengths, draws, options.replicates, rng, tables.wins.n_units)
    robust = robust_covariance(tables.wins, fit.log_strengths)
    interval = robust.intervals(fit.log_strengths, level=LEVEL)
    drawn = _draw(fit.log_strengths, robust.covariance, options.replicates, rng)
    return Spread(robust.standard_errors, interval, drawn, robust.n_clusters)


def _paper(chosen: Chosen, options: Options) -> Floats:
    judgments = chosen.judgments.where(counted(chosen.judgments, options.ties))
    both = np.concatenate([judgments.first, judgments.second])
    n = np.bincount(both, minlength=len(judgments.systems)).astype(np.float64)
    return np.diag(paper_standard_errors(n) ** 2)


def _normal(
    strengths: Floats,
    covariance: Floats,
    n_draws: int,
    rng: np.random.Generator,
    n_units: int | None = None,
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
