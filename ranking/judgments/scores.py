"""Ratings of messages read alone, as columns: what the results of a likert study rest on."""

import hashlib
import json
from dataclasses import dataclass, fields

import numpy as np

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
