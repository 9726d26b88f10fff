"""Whether sides came out even: chi-square statistics per pair, per rater and over the study.

Sides are balanced, not tossed: statistics are far *below* their degrees of freedom and p is near
1. A p near 0 would mean that a side is favoured; a p near 1 that sides are more even than coins
would ever be, which is what the design is for.
"""

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from scipy import special


@dataclass(frozen=True)
class Shown:
    """One showing of a pair to a rater."""

    pair: Hashable
    rater: Hashable
    first_is_a: bool


@dataclass(frozen=True)
class Balance:
    """How even sides are within groups.

    ``statistic`` is the sum over groups of (a - b)^2 / (a + b), where a and b count how often the
    first completion was A and B; under fair coins it is chi-square with ``df`` = number of groups.
    ``p`` is its upper tail. ``largest`` is the largest abs(a - b) of a group.
    """

    name: str
    statistic: float
    df: int
    p: float
    largest: int


def balances(shown: Iterable[Shown]) -> tuple[Balance, Balance, Balance]:
    """Return the balance per pair, per rater and over the whole study."""
    rows = list(shown)
    return (
        _balance("per pair", ((row.pair, row.first_is_a) for row in rows)),
        _balance("per rater", ((row.rater, row.first_is_a) for row in rows)),
        _balance("over the study", ((None, row.first_is_a) for row in rows)),
    )


def _balance(name: str, sides: Iterable[tuple[Hashable, bool]]) -> Balance:
    counts = Counter(sides)
    groups = {group for group, _first_is_a in counts}
    gaps = {
        group: (abs(a - b), a + b)
        for group in groups
        for a, b in [(counts[group, True], counts[group, False])]
    }
    statistic = float(sum(gap**2 / total for gap, total in gaps.values()))
    p = float(special.chdtrc(len(groups), statistic)) if groups else 1.0
    largest = max((gap for gap, _total in gaps.values()), default=0)
    return Balance(name, statistic, len(groups), p, largest)
