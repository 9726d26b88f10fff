"""Of strategy labels: the sample that people check, and scores against what they settle; pure."""

import hashlib
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

RULE = "strategies-1"  # raise the number when the rule of `sample` changes
N_RESAMPLES = 2000
LEVEL = 0.95
FEWEST = 2
"""Items below which there is nothing to resample."""

Found = frozenset[str]


@dataclass(frozen=True)
class Item:
    """A message that may be drawn: a stable name, its system, and what a model found in it."""

    name: str
    system: str
    strategies: frozenset[str]


class _Drawn:
    """What is drawn so far: each further item from the system that has the fewest."""

    def __init__(self, items: Iterable[Item], n: int, seed: str) -> None:
        self.n = n
        self.items: dict[Item, None] = {}
        self.had = Counter[str]()
        self.showing = Counter[str]()
        self._place: dict[Item, int] = {}
        # By strategy, or None for any, and by system: what is left, in the seeded order.
        self._left = defaultdict[str | None, defaultdict[str, deque[Item]]](
            lambda: defaultdict(deque)
        )
        for place, one in enumerate(sorted(items, key=lambda one: _draw(one, seed))):
            self._place[one] = place
            for strategy in (None, *one.strategies):
                self._left[strategy][one.system].append(one)

    def take(self, strategy: str | None = None) -> bool:
        """Draw one more item, with that strategy if one is named; say whether that was possible."""
        firsts = (self._first(left) for left in self._left[strategy].values())
        # Among systems that have equally few, the first in the seeded order.
        chosen = min(
            (one for one in firsts if one is not None),
            key=lambda one: (self.had[one.system], self._place[one]),
            default=None,
        )
        if chosen is None or len(self.items) >= self.n:
            return False
        self.items[chosen] = None
        self.had[chosen.system] += 1
        self.showing.update(chosen.strategies)
        return True

    def _first(self, left: deque[Item]) -> Item | None:
        while left and left[0] in self.items:
            left.popleft()
        return left[0] if left else None


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
        while drawn.showing[strategy] < share and drawn.take(strategy):
            pass
    while drawn.take():
        pass
    return sorted(drawn.items, key=lambda one: _draw(one, f"order {seed}"))


def _draw(item: Item, seed: str) -> tuple[bytes, str]:
    text = f"{RULE} {seed} {item.name}"
    return hashlib.sha256(text.encode()).digest(), item.name


@dataclass(frozen=True)
class Judged:
    """One item: what a model found present, what each person found, what was settled."""

    model: Found
    people: tuple[Found, Found]
    settled: Found


@dataclass(frozen=True)
class LabelScore:
    """How well a model's label does; ``None`` where there is nothing to divide by.

    ``f1`` is that only if neither the model nor people found the strategy anywhere: then nothing
    can be said, and the mean leaves the strategy out.
    """

    strategy: str
    n_settled: int
    n_model: int
    n_both: int
    kappa: float | None
    """Cohen's, between the two people before anything was settled."""

    @property
    def precision(self) -> float | None:
        """Of what the model found, the share that people settled on."""
        return _ratio(self.n_both, self.n_model)

    @property
    def recall(self) -> float | None:
        """Of what people settled on, the share that the model found."""
        return _ratio(self.n_both, self.n_settled)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of the two."""
        return _ratio(2 * self.n_both, self.n_model + self.n_settled)


@dataclass(frozen=True)
class Scores:
    """The labels of a model on a sample that people labelled."""

    n_items: int
    labels: tuple[LabelScore, ...]
    macro_f1: float | None
    interval: tuple[float, float] | None
    """Of the macro-F1, at 95 %, by resampling items."""
    kappa: float | None
    """The mean over the strategies for which there is one."""

    @property
    def n_scored(self) -> int:
        """How many strategies the macro-F1 is the mean of."""
        return sum(one.f1 is not None for one in self.labels)


def score(items: Sequence[Judged], *, strategies: Sequence[str], seed: int) -> Scores:
    """Return the scores of every strategy, and their mean with a bootstrap interval.

    A strategy that a model calls uncertain counts as not found. The interval is the percentile
    interval of 2,000 resamples of items with replacement; a resample leaves out the strategies
    that do not occur in it, as the mean itself does.
    """
    labels = tuple(_label(strategy, items) for strategy in strategies)
    found = [(one.settled, one.model) for one in items]
    return Scores(
        n_items=len(items),
        labels=labels,
        macro_f1=_mean([one.f1 for one in labels]),
        interval=_interval_of(found, strategies, seed=seed),
        kappa=_mean([one.kappa for one in labels]),
    )


def cohen_kappa(pairs: Sequence[tuple[bool, bool]]) -> float | None:
    """Return Cohen's kappa of two people's yes and no; ``None`` if both always said the same one.

    Source: Cohen (1960), "A coefficient of agreement for nominal scales".
    """
    if not pairs:
        return None
    n = len(pairs)
    n_first, n_second = sum(one for one, _ in pairs), sum(other for _, other in pairs)
    n_agreed = sum(one == other for one, other in pairs)
    # In counts, so that the case in which nothing can be said is exact.
    n2_expected = n_first * n_second + (n - n_first) * (n - n_second)
    if n2_expected == n * n:
        return None
    return (n * n_agreed - n2_expected) / (n * n - n2_expected)


def _label(strategy: str, items: Sequence[Judged]) -> LabelScore:
    said = [(strategy in one.people[0], strategy in one.people[1]) for one in items]
    return LabelScore(
        strategy,
        n_settled=sum(strategy in one.settled for one in items),
        n_model=sum(strategy in one.model for one in items),
        n_both=sum(strategy in one.settled & one.model for one in items),
        kappa=cohen_kappa(said),
    )


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _interval_of(
    items: Sequence[tuple[Found, Found]], strategies: Sequence[str], *, seed: int
) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of the macro-F1 by resampling items with replacement.

    An item is what was settled and what the model found. None if there are fewer than two, or no
    strategy occurs in any resample. All resamples at once, as counts times tables.
    """
    import numpy as np  # noqa: PLC0415 (whoever scores needs it, not who names what scores are)

    if len(items) < FEWEST:
        return None
    table, given = (
        np.array([[float(key in found) for key in strategies] for found in side])
        for side in zip(*items, strict=True)
    )
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
