"""Conversation-level bootstrap of Bradley-Terry strengths."""

from dataclasses import dataclass

import numpy as np

from ranking.numerics.arrays import Booleans, Floats
from ranking.numerics.batches import available_threads
from ranking.numerics.refits import SAMPLES_PER_SEED, SampleRefits, draw_seeds
from ranking.numerics.tables import WinTables

MUCH = 2**27  # judgments times replicates, above which threads gain more than they cost
TIMES_BYTES = 64 * 2**20  # of how often each unit was drawn in the samples at hand


@dataclass(frozen=True)
class BootstrapReplicates:
    """Refitted log strengths (natural log, mean 0), one row per replicate.

    ``log_strengths`` has shape (n_replicates, n_systems); the rows of replicates without a
    maximum are NaN, and ``has_maximum`` of shape (n_replicates,) is False there.
    """

    log_strengths: Floats
    has_maximum: Booleans

    @property
    def n_replicates(self) -> int:
        """Return how many replicates were drawn."""
        return len(self.has_maximum)

    @property
    def n_without_maximum(self) -> int:
        """Return how many replicates have no finite maximum; report it wherever shown."""
        return int((~self.has_maximum).sum())

    def fitted(self) -> Floats:
        """Return the rows that have a maximum, shape (n_replicates - n_without_maximum, n)."""
        return self.log_strengths[self.has_maximum]


def bootstrap_strengths(
    tables: WinTables,
    start: Floats,
    *,
    n_replicates: int,
    rng: np.random.Generator,
    n_threads: int | None = None,
) -> BootstrapReplicates:
    """Refit the strengths to samples of whole units, drawn with replacement.

    Parameters
    ----------
    tables : WinTables
        Weighted wins per unit. A unit is what was sampled independently: a source dialogue
        with all its contexts, comparisons and judgments.
    start : array of shape (n_systems,)
        Log strengths fitted to ``tables.total()``; the replicates start from there.
    n_replicates : int
        How many samples of ``tables.n_units`` units to draw.
    rng : numpy.random.Generator
        The only source of chance: one generator state, one answer, and the draws are those of
        `draw_units`.
    n_threads : int, optional
        Threads to work in; as many as there are processors, but one where there is little to
        do. The answer does not depend on it.

    Returns
    -------
    BootstrapReplicates
        All replicates, those without a maximum marked as such and never replaced.

    Raises
    ------
    ValueError
        If there are fewer than two units, or no replicates are asked for.
    NotConvergedError
        If a replicate that has a maximum does not reach it.

    Notes
    -----
    Resampling units keeps the dependence of judgments inside a dialogue, which intervals made
    judgment by judgment (or from ``1 / sqrt(n_i)``) ignore. Quantiles of the fitted rows are
    conditional on a maximum: a large ``n_without_maximum`` means they cannot be trusted.

    Pair totals and each system's wins are sufficient; both are products of the tables with the
    times drawn. Replicates are then refitted together, see `ranking.numerics.refits`. That each
    has a maximum is seen from a few wins that connect all systems by themselves; a replicate
    that lacks one of these is searched in full, and fitted by Newton's method, as is one whose
    chords do not settle. Cost O(n_replicates * (n_judgments + n_systems**2 * steps)); memory is
    some 100 MiB besides the tables and the result.

    References
    ----------
    .. [1] Efron & Tibshirani (1993), An Introduction to the Bootstrap, section 8.
    .. [2] Cameron, Gelbach & Miller (2008), Rev. Econ. Stat. 90:414-427.
       doi:10.1162/rest.90.3.414
    .. [3] HEART (2026), arXiv:2601.19922, section 9.12.
    """
    if tables.n_units <= 1 or n_replicates < 1:
        msg = f"cannot draw {n_replicates} samples of {tables.n_units} units"
        raise ValueError(msg)
    n_rows = len(tables.pairs.unit)
    threads = n_threads or (available_threads() if n_rows * n_replicates > MUCH else 1)
    refit = SampleRefits.of(tables, np.asarray(start, dtype=np.float64), n_threads=threads)
    seeds = draw_seeds(n_replicates, rng)
    at_once = max(1, TIMES_BYTES // (tables.n_units * SAMPLES_PER_SEED))
    fitted = [
        refit.fit(seeds[first : first + at_once], n_threads=threads)
        for first in range(0, len(seeds), at_once)
    ]
    theta = np.concatenate(fitted)[:n_replicates]
    return BootstrapReplicates(theta, np.asarray(np.isfinite(theta).all(axis=1)))
