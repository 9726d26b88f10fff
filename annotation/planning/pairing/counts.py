"""How often systems, and pairs of systems, appear in a plan, and what one pair more would cost."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

# Sums of squares, one far above the next: first every system equally often in the study, then
# in its stratum; then every pair of systems equally often in the study, then in its stratum.
SYSTEM, SYSTEM_IN_STRATUM, PAIR, PAIR_IN_STRATUM = 10**9, 10**6, 10**2, 1


class Counts:
    """Appearances of the systems and of their pairs, over the study and by stratum."""

    def __init__(self, systems: Iterable[str], strata: Iterable[str]) -> None:
        self.systems = tuple(sorted(set(systems)))
        self.strata = tuple(sorted(set(strata)))
        n, s = len(self.systems), len(self.strata)
        self.in_stratum: Integers = np.zeros((s, n), dtype=np.int64)
        self.pairs_in: Integers = np.zeros((s, n, n), dtype=np.int64)
        self.total: Integers = np.zeros(n, dtype=np.int64)
        self.pairs: Integers = np.zeros((n, n), dtype=np.int64)

    @property
    def spread(self) -> int:
        """By how much the most and the least frequent system differ."""
        return int(np.ptp(self.total)) if self.systems else 0

    def add(self, stratum: int, a: int, b: int, *, by: int = 1) -> None:
        """Count a pair of the systems ``a`` and ``b`` in, or with ``by=-1`` out."""
        for system, other in ((a, b), (b, a)):
            self.total[system] += by
            self.in_stratum[stratum, system] += by
            self.pairs[system, other] += by
            self.pairs_in[stratum, system, other] += by

    def level(self, stratum: int) -> Integers:
        """Return what the appearances of each system cost at the margin, shape (n,)."""
        level: Integers = SYSTEM * self.total + SYSTEM_IN_STRATUM * self.in_stratum[stratum]
        return level + level

    def pair_level(self, stratum: int, a: Integers, b: Integers) -> Integers:
        """Return what pairs of systems cost at the margin, in the shape of ``a`` and ``b``."""
        level: Integers = PAIR * self.pairs[a, b] + PAIR_IN_STRATUM * self.pairs_in[stratum, a, b]
        return level + level
