"""Each evaluator's one opinion of each item, and how often each value was given."""

from dataclasses import dataclass, replace

import numpy as np

from ranking.numerics.arrays import Booleans, Floats, Integers

VALUES = np.array([-1.0, 0.0, 1.0])
"""What opinions are: the second was better, a tie, the first was better."""
TIE = 1
N_VALUES = len(VALUES)


@dataclass(frozen=True)
class Answers:
    """Answers of evaluators about items, of whom some answered more than once.

    ``item``, ``evaluator``, ``side`` and ``strength`` have shape (n_answers,): indices from 0, the
    sign of who was better (0 is a tie), and the signed strength, 0 where it is not given.
    ``unit`` says for each item what it is drawn with, shape (n_items,). ``evaluators`` are names,
    ``is_judge`` says which are LLM judges.
    """

    evaluators: tuple[str, ...]
    is_judge: Booleans
    item: Integers
    evaluator: Integers
    side: Integers
    strength: Integers
    unit: Integers


@dataclass(frozen=True)
class Opinions:
    """One entry for each evaluator of each item, shape (n_opinions,).

    ``value`` is an index of `VALUES`, ``strength`` the mean of the evaluator's answers, rounded.
    The others are as in `Answers`; ``n_repeated`` answers were one too many.
    """

    evaluators: tuple[str, ...]
    is_judge: Booleans
    item: Integers
    evaluator: Integers
    value: Integers
    strength: Integers
    unit: Integers
    n_repeated: int

    @property
    def n_items(self) -> int:
        """Return how many items there are, whoever judged them."""
        return len(self.unit)

    @property
    def judges(self) -> list[int]:
        """Return the indices of the LLM judges."""
        return [int(one) for one in np.flatnonzero(self.is_judge)]

    @property
    def is_by_judge(self) -> Booleans:
        """Say for each opinion whether an LLM judge holds it."""
        found: Booleans = self.is_judge[self.evaluator]
        return found

    def of(self, kept: Booleans) -> "Opinions":
        """Return the opinions that are kept; items and evaluators keep their numbers."""
        return replace(
            self,
            item=self.item[kept],
            evaluator=self.evaluator[kept],
            value=self.value[kept],
            strength=self.strength[kept],
        )

    def on(self, items: Booleans) -> "Opinions":
        """Return the opinions of some items."""
        return self.of(items[self.item])

    def people(self) -> "Opinions":
        """Return the opinions of people."""
        return self.of(~self.is_by_judge)

    def by_judges(self) -> "Opinions":
        """Return the opinions of LLM judges."""
        return self.of(self.is_by_judge)

    def counts(self) -> Integers:
        """Return how often each item was given each value, shape (n_items, 3)."""
        return count_values(self.item, self.value, n_items=self.n_items, n_values=N_VALUES)

    def by_evaluator(self, evaluator: int) -> Integers:
        """Return an evaluator's value of each item, -1 where there is none."""
        found = np.full(self.n_items, -1, dtype=np.int64)
        own = self.evaluator == evaluator
        found[self.item[own]] = self.value[own]
        return found


def opinions_of(answers: Answers) -> Opinions:
    """Find each evaluator's opinion of each item.

    Of several answers of one evaluator (both orders, samples) the side that came out ahead more
    often counts, and evenly is a tie; nobody is then ever compared with himself.
    """
    key = answers.item * len(answers.evaluators) + answers.evaluator
    _, row, place = np.unique(key, return_index=True, return_inverse=True)
    ahead = np.sign(np.bincount(place, answers.side)).astype(np.int64)
    strength = np.bincount(place, answers.strength) / np.bincount(place)
    return Opinions(
        evaluators=answers.evaluators,
        is_judge=answers.is_judge,
        item=answers.item[row],
        evaluator=answers.evaluator[row],
        value=ahead + TIE,
        strength=np.rint(strength).astype(np.int64),
        unit=answers.unit,
        n_repeated=len(key) - len(row),
    )


def count_values(item: Integers, value: Integers, *, n_items: int, n_values: int) -> Integers:
    """Count the values of each item.

    Parameters
    ----------
    item, value : integer arrays of shape (n_judgments,)
        Indices from 0; each evaluator gives an item one value at most.
    n_items, n_values : int
        How many of each there are.

    Returns
    -------
    integer array of shape (n_items, n_values)

    Raises
    ------
    ValueError
        If the columns differ in length or an index is out of range.
    """
    if item.shape != value.shape:
        msg = f"columns differ in length: {item.shape}, {value.shape}"
        raise ValueError(msg)
    for name, indices, bound in (("item", item, n_items), ("value", value, n_values)):
        if indices.size and not 0 <= indices.min() <= indices.max() < bound:
            msg = f"{name} must lie between 0 and {bound - 1}"
            raise ValueError(msg)
    flat = np.bincount(item * n_values + value, minlength=n_items * n_values)
    counts: Integers = flat.reshape(n_items, n_values)
    return counts


def observed_agreement(counts: Integers) -> float:
    """Return the share of pairs of judgments of one item that agree.

    Parameters
    ----------
    counts : integer array of shape (n_items, n_values)
        As `count_values` gives them; items may have different numbers of judgments.

    Returns
    -------
    float
        Between 0 and 1; NaN if no item has two judgments. Every pair of judgments weighs alike,
        so an item with many judgments weighs more.
    """
    judged = counts.sum(axis=1)
    n_pairs = float((judged * (judged - 1)).sum())
    alike = float((counts * (counts - 1)).sum())
    return alike / n_pairs if n_pairs else float("nan")


def shares(counts: Integers) -> Floats:
    """Return the share of each value among all judgments, shape (n_values,)."""
    found: Floats = counts.sum(axis=0) / counts.sum()
    return found
