"""An interval for the mean of a model's F1 scores, by resampling items; pure."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

N_RESAMPLES = 2000
LEVEL = 0.95
FEWEST = 2
"""Items below which there is nothing to resample."""

Found = frozenset[str]
Table = npt.NDArray[np.float64]


def interval_of(
    items: Sequence[tuple[Found, Found]], strategies: Sequence[str], *, seed: int
) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of the macro-F1 by resampling items with replacement.

    An item is what was settled and what the model found. None if there are fewer than two, or no
    strategy occurs in any resample. All resamples at once, as counts times tables.
    """
    if len(items) < FEWEST:
        return None
    table = _table([settled for settled, _ in items], strategies)
    given = _table([model for _, model in items], strategies)
    draws = np.random.default_rng(seed).multinomial(
        len(items), np.full(len(items), 1 / len(items)), size=N_RESAMPLES
    )
    twice_both, either = draws @ (2 * table * given), draws @ (table + given)
    occurs = either > 0
    f1 = np.divide(twice_both, either, out=np.zeros_like(either), where=occurs)
    some = occurs.any(axis=1)
    if not some.any():
        return None
    means = f1[some].sum(axis=1) / occurs[some].sum(axis=1)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _table(found: Sequence[Found], strategies: Sequence[str]) -> Table:
    return np.array([[float(key in one) for key in strategies] for one in found])
