"""Conversation-level bootstrap of Bradley-Terry strengths."""

from dataclasses import dataclass

import numpy as np

from ranking.numerics.arrays import Booleans, Floats
from ranking.numerics.bradley_terry import fit_replicates
from ranking.numerics.tables import WinTables

BLOCK_BYTES = 32 * 2**20


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
    tables: WinTables, start: Floats, *, n_replicates: int, rng: np.random.Generator
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
        The only source of chance: one generator state, one answer, whatever the block size.

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
    Cost is one sparse product and O(n_replicates * n_systems**3) per Newton step; memory
    stays within some blocks of 32 MiB besides the result.

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
    per_block = max(1, BLOCK_BYTES // (8 * max(tables.n_units, tables.n_systems**2)))
    blocks = [
        fit_replicates(tables.weighted(draw_units(tables.n_units, size, rng)), start)
        for size in _block_sizes(n_replicates, per_block)
    ]
    return BootstrapReplicates(
        np.concatenate([block.log_strengths for block in blocks]),
        np.concatenate([block.has_maximum for block in blocks]),
    )


def draw_units(n_units: int, size: int, rng: np.random.Generator) -> Floats:
    """Draw how often each unit appears in each sample, shape (size, n_units)."""
    times = rng.multinomial(n_units, np.full(n_units, 1.0 / n_units), size=size)
    return times.astype(np.float64)


def _block_sizes(total: int, most: int) -> list[int]:
    """Cut ``total`` into blocks of ``most``, the last one smaller."""
    full, rest = divmod(total, most)
    return [most] * full + [rest] * bool(rest)
