"""Ratings from few pairs that people judged and many that LLM judges did."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from ranking.numerics.arrays import Booleans, Floats
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.clustered_means import TooFewDialoguesError
from ranking.numerics.models.maximum import Slopes, covariance, maximise
from ranking.numerics.sandwich import ClusteredCovariance
from ranking.numerics.tables import WeightedPairs, WinTables, tabulate

FEWEST = 2


@dataclass(frozen=True)
class PredictionPowered:
    """Ratings by people's standards, with what LLM judges add to them.

    Attributes
    ----------
    log_strengths : array of shape (n_systems,)
        Natural log, mean 0.
    covariance : ClusteredCovariance
        Theirs, clustered by unit.
    power : float
        The weight of the LLM judges, 0 to 1: 0 leaves them out, 1 takes them for as good as
        people once their bias is corrected.
    n_pairs, n_double : int
        Pairs that LLM judges judged, and those among them that people judged too.
    """

    log_strengths: Floats
    covariance: ClusteredCovariance
    power: float
    n_pairs: int
    n_double: int


@dataclass(frozen=True)
class _Part:
    """Judgments of one kind on some of the pairs, each pair counted once."""

    tables: WinTables
    n_pairs: int
    n_of_unit: Floats

    def pulls(self, log_strengths: Floats) -> Floats:
        """Return each unit's share in the mean gradient, less what its size alone explains."""
        scores = self.tables.unit_scores(log_strengths)
        mean = scores.sum(axis=0) / self.n_pairs
        pulls: Floats = (scores - self.n_of_unit[:, None] * mean) / self.n_pairs
        return pulls

    @cached_property
    def wins(self) -> Floats:
        """Mean win matrix of a pair, shape (n_systems, n_systems)."""
        return self.tables.total() / self.n_pairs

    @cached_property
    def met(self) -> Floats:
        """Share of the pairs that are between two systems, shape (n_systems, n_systems)."""
        return self.wins + self.wins.T


@dataclass(frozen=True)
class _Parts:
    """What people say, what judges say of the same pairs, and what judges say of all pairs."""

    people: _Part
    beside: _Part
    everywhere: _Part


def prediction_powered(
    pairs: WeightedPairs, judged: Floats, *, n_systems: int, power: float | None = None
) -> PredictionPowered:
    """Rate systems as people would, by the pairs that people judged and by all that judges did.

    Parameters
    ----------
    pairs : WeightedPairs
        One row per pair of completions: its unit, its two systems, and in ``to_first`` and
        ``to_second`` the shares (0 to 1, together 1) that people give; NaN in both where no
        person judged it.
    judged : array of shape (n_pairs,)
        Share (0 to 1) that LLM judges give to the first completion of each pair.
    n_systems : int
        How many systems there are, 2 or more.
    power : float, optional
        The weight of the LLM judges, 0 to 1; by default the one that makes the sum of the
        variances least.

    Returns
    -------
    PredictionPowered
        The maximum of ``mean_people(l) + power * (mean_all(l') - mean_both(l'))`` with l and l'
        the Bradley-Terry log likelihoods of what people and judges say of a pair. Degrees of
        freedom are the units with pairs judged by both, less 1.

    Raises
    ------
    ValueError
        If shapes do not fit, a share or the power is outside 0 to 1, or the shares of a pair
        do not add up to 1.
    TooFewDialoguesError
        If fewer than two units have pairs judged by both.
    NotConnectedError
        If what people said does not place all systems on one scale.
    NotConvergedError
        If the maximum is not reached.

    Notes
    -----
    It is right for many units, whatever the judges' errors, if the pairs that people judged are
    a random sample of all. ``power`` only decides how wide intervals are. A power of 0 is the fit
    of people alone. Where judges say what people say, the power is 1 and the fit is that of all
    pairs. If people judged all pairs, judges have nothing to add, and the power is 0. Cost
    O(n_pairs log n_pairs + n_units * n_systems**2).

    References
    ----------
    .. [1] Angelopoulos, Bates, Fannjiang, Jordan & Zrnic (2023), Science 382:669-674.
       doi:10.1126/science.adi6000
    .. [2] Angelopoulos, Duchi & Zrnic (2023), PPI++. arXiv:2311.01453
    .. [3] Boyeau, Angelopoulos, Yosef, Malik & Jordan (2024), AutoEval Done Right.
       arXiv:2403.07008
    """
    by_people = _checked(pairs, judged, power)
    parts = _parts(pairs, judged, by_people, n_systems)
    n_clusters = int((parts.people.n_of_unit > 0).sum())
    if n_clusters < FEWEST:
        msg = f"{n_clusters} units with pairs judged by both, and {FEWEST} are needed"
        raise TooFewDialoguesError(msg)
    start = fit_bradley_terry(parts.people.tables.total()).log_strengths
    used = _power(parts, start) if power is None else power
    fitted = _fit(parts, start, used)
    return PredictionPowered(
        fitted,
        _covariance(parts, fitted, used, n_clusters),
        used,
        len(judged),
        int(by_people.sum()),
    )


def variance_ratio(people: PredictionPowered, powered: PredictionPowered) -> float:
    """Return how many times as many judged pairs people alone would need for the same errors.

    The sum of the variances of people alone over that of the other; errors shrink with the root
    of the number of pairs. NaN where nothing varies.
    """
    alone, together = (float(np.trace(one.covariance.covariance)) for one in (people, powered))
    return alone / together if together > 0.0 else float("nan")


def _checked(pairs: WeightedPairs, judged: Floats, power: float | None) -> Booleans:
    """Say which pairs people judged, or raise ValueError."""
    shares = np.array([pairs.to_first, pairs.to_second], dtype=np.float64)
    by_people = np.asarray(np.isfinite(shares).all(axis=0), dtype=np.bool_)
    if judged.shape != by_people.shape:
        msg = f"one share of the judges for each of {len(by_people)} pairs, not {judged.shape}"
        raise ValueError(msg)
    given = shares[:, by_people]
    if not (_is_share(given) and _is_share(judged) and np.allclose(given.sum(axis=0), 1.0)):
        msg = "shares must lie between 0 and 1, and those of people add up to 1"
        raise ValueError(msg)
    if power is not None and not 0.0 <= power <= 1.0:
        msg = f"the power must lie between 0 and 1, not {power}"
        raise ValueError(msg)
    return by_people


def _is_share(values: Floats) -> bool:
    return bool(((values >= 0.0) & (values <= 1.0)).all())


def _parts(pairs: WeightedPairs, judged: Floats, by_people: Booleans, n_systems: int) -> _Parts:
    n_units = int(pairs.unit.max(initial=-1)) + 1
    everything = np.ones_like(by_people)

    def part(to_first: Floats, rows: Booleans) -> _Part:
        columns = (pairs.unit[rows], pairs.first[rows], pairs.second[rows])
        shares = WeightedPairs(*columns, to_first[rows], 1.0 - to_first[rows])
        tables = tabulate(shares, n_units=n_units, n_systems=n_systems)
        sizes = np.bincount(columns[0], minlength=n_units).astype(np.float64)
        return _Part(tables, len(columns[0]), sizes)

    return _Parts(
        part(pairs.to_first, by_people), part(judged, by_people), part(judged, everything)
    )


def _power(parts: _Parts, log_strengths: Floats) -> float:
    """Return the weight of the judges that makes the sum of the variances least, 0 to 1."""
    bread = covariance(_information(parts, log_strengths, 1.0), n_strengths=len(log_strengths))
    by_people = parts.people.pulls(log_strengths) @ bread
    by_judges = (parts.beside.pulls(log_strengths) - parts.everywhere.pulls(log_strengths)) @ bread
    spread = float((by_judges**2).sum())
    if spread <= np.finfo(np.float64).eps * float((by_people**2).sum()):
        return 0.0
    return float(np.clip((by_people * by_judges).sum() / spread, 0.0, 1.0))


def _fit(parts: _Parts, start: Floats, power: float) -> Floats:
    """Climb to the maximum; wins may be negative, but its curvature is that of counts."""
    scale = float(parts.people.n_pairs)
    wins = _mixed(parts, power)
    won, met = scale * wins.sum(axis=1), scale * _met(parts, power)

    def slopes(theta: Floats) -> Slopes:
        apart = theta[:, None] - theta[None, :]
        p = special.expit(apart)
        value = won @ theta - (met * np.logaddexp(theta[:, None], theta[None, :])).sum() / 2.0
        weight = met * p * (1.0 - p)
        gradient = won - (met * p).sum(axis=1)
        return Slopes(float(value), gradient, np.diag(weight.sum(axis=1)) - weight)

    return maximise(slopes, start, n_strengths=len(start)).at


def _mixed(parts: _Parts, power: float) -> Floats:
    mixed: Floats = parts.people.wins + power * (parts.everywhere.wins - parts.beside.wins)
    return mixed


def _met(parts: _Parts, power: float) -> Floats:
    met: Floats = (1.0 - power) * parts.people.met + power * parts.everywhere.met
    return met


def _information(parts: _Parts, theta: Floats, power: float) -> Floats:
    p = special.expit(theta[:, None] - theta[None, :])
    weight = _met(parts, power) * p * (1.0 - p)
    information: Floats = np.diag(weight.sum(axis=1)) - weight
    return information


def _covariance(parts: _Parts, theta: Floats, power: float, n_clusters: int) -> ClusteredCovariance:
    bread = covariance(_information(parts, theta, power), n_strengths=len(theta))
    judges = parts.everywhere.pulls(theta) - parts.beside.pulls(theta)
    pulls = (parts.people.pulls(theta) + power * judges) @ bread
    spread = n_clusters / (n_clusters - 1) * (pulls.T @ pulls)
    return ClusteredCovariance(spread, n_clusters, np.full(len(theta), n_clusters - 1.0))
