"""Draw the messages that people label: seeded, by system, with rare strategies among them; pure."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

RULE = "strategies-1"  # raise the number when the rule below changes


@dataclass(frozen=True)
class Item:
    """A message that may be drawn: a stable name, its system, and what a model found in it."""

    name: str
    system: str
    strategies: frozenset[str]


class _Drawn:
    """What is drawn so far: each further item from the system that has the fewest."""

    def __init__(self, items: Iterable[Item], n: int, seed: str) -> None:
        self.left = sorted(items, key=lambda one: _draw(one, seed))
        self.n = n
        self.items: list[Item] = []
        self.had = Counter[str]()

    def take(self, strategy: str | None = None) -> bool:
        """Draw one more item, with that strategy if one is named; say whether that was possible."""
        candidates = (one for one in self.left if strategy is None or strategy in one.strategies)
        # Among systems that have equally few, the first in the seeded order.
        chosen = min(candidates, key=lambda one: self.had[one.system], default=None)
        if chosen is None or len(self.items) >= self.n:
            return False
        self.left.remove(chosen)
        self.items.append(chosen)
        self.had[chosen.system] += 1
        return True

    def n_showing(self, strategy: str) -> int:
        """Count those drawn in which the model found the strategy."""
        return sum(strategy in one.strategies for one in self.items)


def sample(items: Collection[Item], *, n: int, seed: str, strategies: Sequence[str]) -> list[Item]:
    """Draw ``n`` items, or all if there are no more, in an order that says nothing.

    First every strategy, from the rarest on, gets its share of half the sample as far as the
    model found it so often; then the sample is filled up so that systems come out as evenly as
    they can. What chance decides follows from a hash of the seed and the item's name: not from
    the order of the input, the platform or a library's generator.
    """
    drawn = _Drawn(items, n, seed)
    share = max(1, n // (2 * len(strategies)))
    found = Counter(strategy for one in items for strategy in one.strategies)
    for strategy in sorted(strategies, key=lambda key: (found[key], key)):
        while drawn.n_showing(strategy) < share and drawn.take(strategy):
            pass
    while drawn.take():
        pass
    return sorted(drawn.items, key=lambda one: _draw(one, f"order {seed}"))


def _draw(item: Item, seed: str) -> tuple[bytes, str]:
    text = f"{RULE} {seed} {item.name}"
    return hashlib.sha256(text.encode()).digest(), item.name
