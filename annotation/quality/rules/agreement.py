"""How often raters prefer what the others prefer; shown, and no rule of its own."""

from collections import Counter
from collections.abc import Iterable, Mapping


def agreement_by_rater(pairs: Iterable[Mapping[str, int]]) -> dict[str, float]:
    """Return for each rater the share of others' answers to the same pairs that are the same.

    ``pairs`` maps raters to their winners (1 first, -1 second, 0 neither), a mapping per pair.
    Each answer of another rater counts once. A rater whose pairs nobody else answered is left out.
    """
    same, all_others = Counter[str](), Counter[str]()
    for winners in pairs:
        counts = Counter(winners.values())
        for rater, winner in winners.items():
            same[rater] += counts[winner] - 1
            all_others[rater] += len(winners) - 1
    return {rater: same[rater] / n for rater, n in all_others.items() if n}
