"""How well a study found out about its simulated raters and systems, sides included."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass

import scipy
from scipy import special

from heart_site.demo.simulation.people import Kind

FEWEST_TO_RANK = 2


@dataclass(frozen=True)
class Detection:
    """Who was excluded, held against who was planted.

    ``found`` and ``planted`` count raters by kind; the found ones of kind ``HONEST`` are wronged.
    """

    found: Mapping[Kind, int]
    planted: Mapping[Kind, int]

    @property
    def precision(self) -> float | None:
        """Return the share of cheaters among the excluded; None if nobody was excluded."""
        excluded = sum(self.found.values())
        return self._cheaters(self.found) / excluded if excluded else None

    @property
    def recall(self) -> float | None:
        """Return the share of cheaters who were excluded; None if there were none."""
        planted = self._cheaters(self.planted)
        return self._cheaters(self.found) / planted if planted else None

    def recall_of(self, kind: Kind) -> float | None:
        """Return the share of one kind that was excluded; None if there were none."""
        return self.found[kind] / self.planted[kind] if self.planted[kind] else None

    @staticmethod
    def _cheaters(counts: Mapping[Kind, int]) -> int:
        return sum(n for kind, n in counts.items() if kind != Kind.HONEST)


def detect(kinds: Mapping[str, Kind], excluded: Collection[str]) -> Detection:
    """Hold the excluded against the planted kinds of everybody who judged.

    Raises
    ------
    ValueError
        If somebody excluded is not among them: such a figure would mean nothing.
    """
    if strangers := sorted(set(excluded) - set(kinds)):
        msg = f"excluded, but not simulated: {strangers}"
        raise ValueError(msg)
    found, planted = Counter(kinds[code] for code in set(excluded)), Counter(kinds.values())
    return Detection({kind: found[kind] for kind in Kind}, {kind: planted[kind] for kind in Kind})


def recovery(planted: Mapping[str, float], fitted: Mapping[str, float]) -> float | None:
    """Return Spearman's correlation of the fit with the planted strengths, by system.

    None if fewer than two systems are in both: nothing is ranked then.
    """
    both = sorted(set(planted) & set(fitted))
    if len(both) < FEWEST_TO_RANK:
        return None
    found = scipy.stats.spearmanr([planted[key] for key in both], [fitted[key] for key in both])
    return float(found.statistic)


# Whether sides came out even: chi-square statistics per pair, per rater and over the study.
#
# Sides are balanced, not tossed: statistics are far *below* their degrees of freedom and p is near
# 1. A p near 0 would mean that a side is favoured; a p near 1 that sides are more even than coins
# would ever be, which is what the design is for.


@dataclass(frozen=True)
class ShownPair:
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


def balances(shown: Iterable[ShownPair]) -> tuple[Balance, Balance, Balance]:
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


# What is planted: how good each text is, known to the simulation and to nobody it simulates for.
#
# A simulated rater sees texts and nothing else, as a person does; which system wrote a text is
# looked up here.
