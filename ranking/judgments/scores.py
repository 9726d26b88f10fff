"""Ratings of messages read alone, as columns, and the order of messages that they imply."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from ranking.judgments.columns import JudgmentColumns, kept_names
from ranking.judgments.groups import GroupedJudgments, MarkGroup, PairCounts, RatedAlone
from ranking.numerics.arrays import Booleans, Floats, Integers


@dataclass(frozen=True)
class ScoreColumns:
    """Ratings, one entry each; names are sorted, indices refer to them.

    Attributes
    ----------
    systems, units, evaluators : tuples of str
        Slugs of systems, source dialogues by content, raters by pseudonym or judges by slug.
    dimensions, labels : tuples of str
        Keys and names of the rubric's dimensions, in its order.
    is_judge : boolean array of shape (n_evaluators,)
        Whether an evaluator is an LLM judge.
    unit, context, message, system, evaluator : integer arrays of shape (n,)
        Where the message is from, what it answers, which it is, whose, and who rated it.
    points : integer array of shape (n, n_dimensions)
        1 to 5; 0 where the dimension was not rated.
    """

    systems: tuple[str, ...]
    units: tuple[str, ...]
    evaluators: tuple[str, ...]
    dimensions: tuple[str, ...]
    labels: tuple[str, ...]
    is_judge: Booleans
    unit: Integers
    context: Integers
    message: Integers
    system: Integers
    evaluator: Integers
    points: Integers

    @property
    def n(self) -> int:
        """Return how many ratings there are."""
        return len(self.unit)

    @property
    def is_whole(self) -> Booleans:
        """Say of each rating whether it covers all dimensions, shape (n,)."""
        if not self.dimensions:
            return np.zeros(self.n, dtype=np.bool_)
        whole: Booleans = np.asarray((self.points > 0).all(axis=1))
        return whole

    @property
    def composite(self) -> Floats:
        """Return the mean over the dimensions, shape (n,), NaN where one was not rated."""
        n_dimensions = max(1, len(self.dimensions))
        return np.where(self.is_whole, self.points.sum(axis=1) / n_dimensions, np.nan)

    def on(self, dimension: int) -> Floats:
        """Return the points on one dimension, shape (n,), NaN where it was not rated."""
        points = self.points[:, dimension]
        return np.where(points > 0, points, np.nan)

    def digest(self) -> str:
        """Return the hash of all names and numbers."""
        names = [self.systems, self.units, self.evaluators, self.dimensions, self.labels]
        arrays = (getattr(self, field.name) for field in fields(self)[len(names) :])
        content = b"".join(array.astype("<i8").tobytes() for array in arrays)
        return hashlib.sha256(json.dumps(names).encode() + b"\n" + content).hexdigest()


def implied_columns(scores: ScoreColumns) -> JudgmentColumns:
    """Return a judgment for each two messages of a context that one evaluator rated.

    The message with more points over all dimensions is preferred, and equal points are a tie.
    How many more does not matter, nor does how strict an evaluator is: only the order inside an
    evaluator is used. Messages of one system are not compared, nor ratings that lack a dimension.
    The system whose name comes first is first. All systems with ratings are named, but only the
    dialogues with a pair: a unit is what tells of an order. Cost O(number of pairs).
    """
    return _columns(scores, scores.composite)


def implied_on(scores: ScoreColumns, dimension: int) -> JudgmentColumns:
    """Return the same by the points on one dimension alone."""
    return _columns(scores, scores.on(dimension))


def implied_groups(scores: ScoreColumns, *, newest: int, sum_of_keys: int) -> GroupedJudgments:
    """Add up the implied judgments as those of pairs are: what a fit rests on.

    Systems and dialogues are those of `implied_columns`; without any pair all dialogues are named.
    ``newest`` and ``sum_of_keys`` are of the ratings' keys, which stamps are made of.
    """
    columns = implied_columns(scores)
    ahead, behind = columns.strength > 0, columns.strength < 0
    ones, none = np.ones_like(columns.unit), np.zeros_like(columns.unit)
    is_judge = columns.is_judge[columns.evaluator]
    rows = (columns.unit, columns.first, columns.second, none, is_judge, ones)
    sums = (ahead, behind, ahead, behind)
    return GroupedJudgments(
        systems=scores.systems,
        dialogues=columns.units or scores.units,
        counts=PairCounts.added_up([*rows, *sums]),
        marks=tuple(_marks(scores)),
        newest=newest,
        sum_of_keys=sum_of_keys,
        alone=RatedAlone(scores.n, scores.digest()),
    )


def _marks(scores: ScoreColumns) -> Iterator[MarkGroup]:
    """Count how often each system was ahead on each dimension, of the pairs that differ."""
    wins, totals = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for place, dimension in enumerate(scores.dimensions):
        columns = implied_on(scores, place)
        ahead, behind = columns.strength > 0, columns.strength < 0
        winners = np.concatenate([columns.first[ahead], columns.second[behind]])
        losers = np.concatenate([columns.second[ahead], columns.first[behind]])
        for system, slug in enumerate(scores.systems):
            won = int((winners == system).sum())
            wins[slug, dimension] += won
            totals[slug, dimension] += won + int((losers == system).sum())
    return (MarkGroup(*key, wins[key], totals[key]) for key in sorted(totals) if totals[key])


def _columns(scores: ScoreColumns, values: Floats) -> JudgmentColumns:
    one, two = _pairs(scores, values)
    swapped = scores.system[one] > scores.system[two]
    first, second = np.where(swapped, two, one), np.where(swapped, one, two)
    lead = np.sign(values[first] - values[second]).astype(np.int64)
    units, unit = kept_names(scores.units, scores.unit[first])
    return JudgmentColumns(
        systems=scores.systems,
        units=units,
        evaluators=scores.evaluators,
        is_judge=scores.is_judge,
        unit=unit,
        item=_items(scores.message[first], scores.message[second]),
        first=scores.system[first],
        second=scores.system[second],
        evaluator=scores.evaluator[first],
        strength=lead,
        shown=np.zeros(len(first), dtype=np.int64),
    )


def _pairs(scores: ScoreColumns, values: Floats) -> tuple[Integers, Integers]:
    """Return the places of each two ratings by one evaluator in one context."""
    order = np.lexsort((scores.system, scores.context, scores.evaluator))
    order = order[np.isfinite(values[order])]
    who, where, whose = scores.evaluator[order], scores.context[order], scores.system[order]
    found = [np.zeros((2, 0), dtype=np.int64)]
    for step in range(1, len(order)):
        alike = (who[step:] == who[:-step]) & (where[step:] == where[:-step])
        if not alike.any():
            break
        start = np.flatnonzero(alike & (whose[step:] != whose[:-step]))
        found.append(np.stack([order[start], order[start + step]]))
    one, two = np.concatenate(found, axis=1)
    return one, two


def _items(first: Integers, second: Integers) -> Integers:
    """Return a number for each pair of messages."""
    pairs = np.stack([first, second])
    item: Integers = np.unique(pairs, axis=1, return_inverse=True)[1].ravel().astype(np.int64)
    return item
