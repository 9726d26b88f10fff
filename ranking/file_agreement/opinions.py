"""Each evaluator's one opinion of each pair of texts, in the canonical frame."""

from dataclasses import dataclass

import numpy as np

from ranking.judgment_files import FileJudgments
from ranking.numerics.agreement.counts import count_values
from ranking.numerics.arrays import Booleans, Integers

VALUES = np.array([-1.0, 0.0, 1.0])
"""What opinions are: the second was better, a tie, the first was better."""
TIE = 1


class AgreementRefusedError(Exception):
    """The judgments do not say who agreed with whom; the message says why."""


@dataclass(frozen=True)
class Opinions:
    """One entry for each evaluator of each item, shape (n_opinions,).

    ``value`` is an index of `VALUES`, ``strength`` signed and from -5 to 5, 0 where it is not
    given. ``unit`` says for each item what it is drawn with, shape (n_items,). ``evaluators`` are
    names, ``is_judge`` says which are LLM judges.
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

    def of(self, kept: Booleans) -> "Opinions":
        """Return the opinions that are kept; items and evaluators keep their numbers."""
        return Opinions(
            self.evaluators,
            self.is_judge,
            self.item[kept],
            self.evaluator[kept],
            self.value[kept],
            self.strength[kept],
            self.unit,
            self.n_repeated,
        )

    def counts(self) -> Integers:
        """Return how often each item was given each value, shape (n_items, 3)."""
        return count_values(self.item, self.value, n_items=self.n_items, n_values=len(VALUES))

    def by_judges(self) -> Booleans:
        """Say for each opinion whether an LLM judge holds it."""
        found: Booleans = self.is_judge[self.evaluator]
        return found


def opinions(judgments: FileJudgments) -> Opinions:
    """Find each evaluator's opinion of each item.

    An item is a pair of systems in a context, and a pair of texts where the file names them. Of
    an evaluator who judged it more than once the sum counts: more often for one side is for that
    side, evenly is a tie.

    Raises
    ------
    AgreementRefusedError
        If the file does not name evaluators, or one is both a person and an LLM judge.
    """
    if judgments.rater is None:
        msg = "The file has no column rater_id, so nobody can be told from another."
        raise AgreementRefusedError(msg)
    item, first_row = _items(judgments)
    evaluators, evaluator = judgments.rater.values, judgments.rater.codes
    key = item * len(evaluators) + evaluator
    _, row, place = np.unique(key, return_index=True, return_inverse=True)
    verdict = np.sign(np.bincount(place, judgments.verdict)).astype(np.int64)
    times = np.bincount(place)
    signed = np.bincount(place, judgments.verdict * judgments.size) / times
    return Opinions(
        evaluators=evaluators,
        is_judge=_judges(judgments, len(evaluators)),
        item=item[row],
        evaluator=evaluator[row],
        value=verdict + TIE,
        strength=np.rint(signed).astype(np.int64),
        unit=judgments.unit.codes[first_row],
        n_repeated=judgments.n_judgments - len(row),
    )


def _items(judgments: FileJudgments) -> tuple[Integers, Integers]:
    """Return the number of each judgment's item, and the row of a judgment of each item."""
    n = len(judgments.systems)
    key = (judgments.context.codes * n + judgments.first) * n + judgments.second
    if judgments.pair is not None:
        _, key = np.unique(key, return_inverse=True)
        key = key * len(judgments.pair.values) + judgments.pair.codes
    _, row, item = np.unique(key, return_index=True, return_inverse=True)
    return item, row


def _judges(judgments: FileJudgments, n_evaluators: int) -> Booleans:
    codes = judgments.rater.codes if judgments.rater else np.zeros(0, dtype=np.int64)
    if judgments.is_judge is None:
        return np.zeros(n_evaluators, dtype=np.bool_)
    n = np.bincount(codes, minlength=n_evaluators)
    n_as_judge = np.bincount(codes[judgments.is_judge], minlength=n_evaluators)
    both = np.flatnonzero((n_as_judge > 0) & (n_as_judge < n))
    if len(both) and judgments.rater:
        msg = f"{judgments.rater.values[both[0]]} is named as a person and as an LLM judge."
        raise AgreementRefusedError(msg)
    is_judge: Booleans = n_as_judge > 0
    return is_judge


def share_first(judgments: FileJudgments, n_evaluators: int) -> tuple[Integers, Integers]:
    """Return how often each evaluator preferred what was shown first, and either of the two.

    Every judgment counts by itself here, because an opinion has no side.
    """
    codes = judgments.rater.codes if judgments.rater else np.zeros(0, dtype=np.int64)
    is_decided = judgments.verdict != 0
    is_first = judgments.verdict * judgments.shown > 0
    n_first, n = (
        np.bincount(codes[kept], minlength=n_evaluators) for kept in (is_first, is_decided)
    )
    return n_first, n
