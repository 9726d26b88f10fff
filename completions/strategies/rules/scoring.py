"""Hold a model's strategy labels against those that people settled on; pure."""

from collections.abc import Sequence
from dataclasses import dataclass

Found = frozenset[str]


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
    # Whoever scores needs NumPy, and nobody else who only names what scores are.
    from completions.strategies.rules.resampling import interval_of  # noqa: PLC0415 (see above)

    labels = tuple(_label(strategy, items) for strategy in strategies)
    found = [(one.settled, one.model) for one in items]
    return Scores(
        n_items=len(items),
        labels=labels,
        macro_f1=_mean([one.f1 for one in labels]),
        interval=interval_of(found, strategies, seed=seed),
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
