"""Weighted means of ratings on several scales, what the weights leave open, and their storage."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ranking.numerics.arrays import Floats, Integers


@dataclass(frozen=True)
class JointRatings:
    """Ratings of the same systems on several scales, resampled together.

    Attributes
    ----------
    estimate : array of shape (n_scales, n_systems)
        In one unit, such as Elo points.
    replicates : array of shape (n_replicates, n_scales, n_systems)
        In the same unit. Replicate r is one draw of the units for all scales; where a scale has
        no maximum in it, its row is NaN.
    n_units : integer array of shape (n_scales,) or (n_scales, n_systems)
        Units with judgments on each scale, or those of each system there.

    Raises
    ------
    ValueError
        If the shapes do not fit.
    """

    estimate: Floats
    replicates: Floats
    n_units: Integers

    def __post_init__(self) -> None:
        """Check the shapes."""
        fits = self.replicates.ndim == 3 and self.replicates.shape[1:] == self.estimate.shape  # noqa: PLR2004 (replicates, scales, systems)
        if not fits or self.n_units.shape not in (self.estimate.shape[:1], self.estimate.shape):
            msg = f"replicates of shape {self.replicates.shape} for {self.estimate.shape}"
            raise ValueError(msg)

    @property
    def n_scales(self) -> int:
        """Return how many scales there are."""
        return len(self.estimate)


@dataclass(frozen=True)
class Composite:
    """A weighted mean of ratings, shape (n_systems,), with its replicates.

    ``replicates`` are those in which every scale that counts has a maximum; the others are
    counted by ``n_without_maximum``. ``n_units`` is the least of the scales that count, for
    all systems or for each.
    """

    estimate: Floats
    replicates: Floats
    n_units: Integers
    n_without_maximum: int


def normalised(weights: Floats) -> Floats:
    """Return weights that add up to 1.

    Raises
    ------
    ValueError
        If one is negative or not finite, or all are 0.
    """
    if not np.isfinite(weights).all() or (weights < 0.0).any() or not weights.any():
        msg = "weights must be finite, none below 0 and one above it"
        raise ValueError(msg)
    largest = weights / weights.max()  # so that no sum of large ones overflows
    shares: Floats = largest / largest.sum()
    return shares


def composite(ratings: JointRatings, weights: Floats) -> Composite:
    """Return the weighted mean of the ratings over the scales.

    Parameters
    ----------
    ratings : JointRatings
        Any unit; the composite has the same.
    weights : array of shape (n_scales,)
        At least 0; only their ratios matter.

    Returns
    -------
    Composite
        ``sum_d w_d estimate_d`` and the same of each replicate, w adding up to 1.

    Raises
    ------
    ValueError
        As `normalised`, or if there is not one weight per scale.

    Notes
    -----
    Each replicate draws the units once for all scales, so that what the scales have in common
    is in the spread of the composite: its variance is ``w' S w`` with S the joint covariance,
    never the sum of separate variances. Cost O(n_replicates * n_scales * n_systems).

    References
    ----------
    .. [1] Efron & Tibshirani (1993), An Introduction to the Bootstrap, section 8: the unit of
       resampling is the whole observation, here all marks of a source dialogue.
    """
    if weights.shape != (ratings.n_scales,):
        msg = f"{ratings.n_scales} weights are needed, not {weights.shape}"
        raise ValueError(msg)
    shares = normalised(weights)
    counts = shares > 0.0
    rows = ratings.replicates[:, counts]
    has_maximum = np.isfinite(rows).all(axis=(1, 2))
    return Composite(
        estimate=shares[counts] @ ratings.estimate[counts],
        replicates=np.einsum("d,rdk->rk", shares[counts], rows[has_maximum]),
        n_units=ratings.n_units[counts].min(axis=0),
        n_without_maximum=int((~has_maximum).sum()),
    )


@dataclass(frozen=True)
class Sensitivity:
    """What weights drawn at random make of the ranks, shape (n_systems,) each.

    ``first`` is the share of the weights that put a system first (a shared first place counts in
    parts), ``first_resampled`` the same where each draw of weights meets a draw of the units.
    ``best`` and ``worst`` are the ends of the ranks met, 1 the best.
    """

    first: Floats
    first_resampled: Floats
    best: Integers
    worst: Integers


def sensitivity(ratings: JointRatings, *, n_draws: int, rng: np.random.Generator) -> Sensitivity:
    """Draw weights uniformly from the simplex and see who comes first.

    Parameters
    ----------
    ratings : JointRatings
        At least one replicate with a maximum on every scale.
    n_draws : int
        How many weights are drawn, at least 1.
    rng : numpy.random.Generator
        The only source of chance.

    Returns
    -------
    Sensitivity
        Shares from 0 to 1, each of which adds up to 1 over the systems.

    Raises
    ------
    ValueError
        If there is no such replicate, or no draw is asked for.

    Notes
    -----
    Uniform on the simplex is Dirichlet(1, ..., 1): no weights are likelier than others. The
    Monte Carlo standard error of a share p is sqrt(p (1 - p) / n_draws), at most half a point
    of per cent for 10,000. Cost O(n_draws * n_systems * (n_scales + log n_systems)).
    """
    whole = ratings.replicates[np.isfinite(ratings.replicates).all(axis=(1, 2))]
    if not len(whole) or n_draws < 1:
        msg = f"cannot set {n_draws} draws of weights beside {len(whole)} replicates"
        raise ValueError(msg)
    weights = rng.dirichlet(np.ones(ratings.n_scales), size=n_draws)
    scores = weights @ ratings.estimate
    drawn_anew = np.einsum("nd,ndk->nk", weights, whole[np.arange(n_draws) % len(whole)])
    ranks = _ranks(scores)
    return Sensitivity(
        first=_first_shares(scores),
        first_resampled=_first_shares(drawn_anew),
        best=ranks.min(axis=0),
        worst=ranks.max(axis=0),
    )


def _first_shares(scores: Floats) -> Floats:
    """Return how often each system has the highest score; ties are shared."""
    is_first = scores == scores.max(axis=1, keepdims=True)
    shares: Floats = (is_first / is_first.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares


def _ranks(scores: Floats) -> Integers:
    """Return the rank of each score in its row; equal scores keep the order of the systems."""
    order = np.argsort(-scores, axis=1, kind="stable")
    ranks = np.empty_like(order)
    places = np.broadcast_to(np.arange(1, scores.shape[1] + 1), order.shape)
    np.put_along_axis(ranks, order, places, axis=1)
    return ranks


LARGEST = 2**15 - 1
NOTHING = -(2**15)  # stands for NaN
DTYPE = np.dtype("<i2")  # the same bytes on every machine


def packed(numbers: Floats) -> tuple[str, float]:
    """Return numbers as text, and the step in which they are written.

    Parameters
    ----------
    numbers : array of any shape
        Finite, or NaN, which is kept.

    Returns
    -------
    tuple of str and float
        Base64 of two bytes for each number, in C order, and the step. What `unpacked` reads is
        off by half a step at most: a 65,534th of the number farthest from 0.

    Raises
    ------
    ValueError
        If a number is infinite.
    """
    if np.isinf(numbers).any():
        msg = "infinite numbers cannot be packed"
        raise ValueError(msg)
    known = ~np.isnan(numbers)
    reach = float(np.abs(numbers[known]).max(initial=0.0))
    step = reach / LARGEST or 1.0
    whole = np.where(known, np.rint(np.where(known, numbers, 0.0) / step), NOTHING)
    return base64.b64encode(whole.astype(DTYPE).tobytes()).decode("ascii"), step


def unpacked(text: str, step: float, shape: Sequence[int]) -> Floats:
    """Return the numbers that `packed` wrote, in the shape they had.

    Raises
    ------
    ValueError
        If the text does not hold an array of that shape.
    """
    whole = np.frombuffer(base64.b64decode(text), dtype=DTYPE).reshape(tuple(shape))
    numbers: Floats = np.where(whole == NOTHING, np.nan, whole * step)
    return numbers
