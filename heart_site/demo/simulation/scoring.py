"""How well a study found out about its simulated raters and systems."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import scipy

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
