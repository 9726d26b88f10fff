"""Values of an attribute of people, so coarse that nobody stands out by them (k-anonymity)."""

from collections import Counter
from collections.abc import Sequence

OTHER = "other"
K = 5
"""How many people at least share a value that is released."""


def coarsened(values: Sequence[str], k: int = K) -> tuple[str, ...] | None:
    """Return the values with rare ones as "other", so that each has ``k`` people at least.

    Where nobody's is rare they come back as they are. Otherwise the values that fewer than ``k``
    people have become "other", and with them the next rarest (the first by name among equals)
    until "other" has ``k`` people. None if only "other" would be left, which says nothing.
    """
    counts = Counter(values)
    if not any(n < k for n in counts.values()):
        return tuple(values)
    gone, n_gone = set[str](), 0
    for value, n in sorted(counts.items(), key=lambda it: (it[0] != OTHER, it[1], it[0])):
        if value != OTHER and n >= k and n_gone >= k:
            break
        gone.add(value)
        n_gone += n
    coarse = tuple(OTHER if value in gone else value for value in values)
    return None if set(coarse) == {OTHER} else coarse
