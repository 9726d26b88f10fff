"""Single judgments as columns: what every analysis reads, from the database or from a file."""

from dataclasses import dataclass, replace

import numpy as np

from ranking.numerics.arrays import Booleans, Floats, Integers


@dataclass(frozen=True)
class JudgmentColumns:
    """Judgments in the canonical frame, one entry each; names are sorted, indices refer to them.

    Attributes
    ----------
    systems, units, evaluators : tuples of str
        Slugs of systems, source dialogues by content, raters by pseudonym or judges by slug.
    is_judge : boolean array of shape (n_evaluators,)
        Whether an evaluator is an LLM judge.
    unit, item, first, second, evaluator : integer arrays of shape (n_judgments,)
        Source dialogue, pair of completions, the two systems, who judged.
    strength : integer array of shape (n_judgments,)
        -5 to 5; positive favours the first completion, 0 is a tie.
    shown : integer array of shape (n_judgments,)
        1 where the first completion was shown in the first position, -1 where it was shown in
        the second, 0 where that is not known.
    features : float array of shape (n_items, 2, n_features), or None
        Figures of the style of the first and of the second completion; NaN where not known.
    feature_names : tuple of str
        What they are.
    origin : integer array of shape (n_items,), or None
        Where some judgments were taken out of others: which item of those each item is.

    Notes
    -----
    Judgments are in the order in which they were given.
    """

    systems: tuple[str, ...]
    units: tuple[str, ...]
    evaluators: tuple[str, ...]
    is_judge: Booleans
    unit: Integers
    item: Integers
    first: Integers
    second: Integers
    evaluator: Integers
    strength: Integers
    shown: Integers
    features: Floats | None = None
    feature_names: tuple[str, ...] = ()
    origin: Integers | None = None

    @property
    def n_judgments(self) -> int:
        """Return how many judgments there are."""
        return len(self.unit)

    @property
    def n_items(self) -> int:
        """Return how many pairs of completions were judged."""
        return int(self.item.max()) + 1 if len(self.item) else 0

    def taken(self, rows: Integers, *, strength: Integers | None = None) -> "JudgmentColumns":
        """Return the judgments at these rows, of other strengths if they are given.

        Names that occur no more are left out, and the indices follow.
        """
        units, unit = kept_names(self.units, self.unit[rows])
        systems, pair = kept_names(self.systems, np.stack([self.first[rows], self.second[rows]]))
        evaluators, evaluator = kept_names(self.evaluators, self.evaluator[rows])
        items, item = np.unique(self.item[rows], return_inverse=True)
        return replace(
            self,
            systems=systems,
            units=units,
            evaluators=evaluators,
            is_judge=self.is_judge[np.unique(self.evaluator[rows])],
            unit=unit,
            item=item,
            first=pair[0],
            second=pair[1],
            evaluator=evaluator,
            strength=self.strength[rows] if strength is None else strength,
            shown=self.shown[rows],
            features=None if self.features is None else self.features[items],
            origin=items if self.origin is None else self.origin[items],
        )

    def over(self, units: tuple[str, ...]) -> "JudgmentColumns":
        """Return the same judgments over more dialogues, some of which have none of them."""
        places = np.searchsorted(units, self.units)
        return replace(self, units=units, unit=places[self.unit])


def kept_names(names: tuple[str, ...], indices: Integers) -> tuple[tuple[str, ...], Integers]:
    """Return the names that occur and the indices into those."""
    found, places = np.unique(indices, return_inverse=True)
    return tuple(names[index] for index in found), places.reshape(indices.shape)
