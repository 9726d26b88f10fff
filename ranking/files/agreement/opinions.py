"""Each evaluator's one opinion of each pair of texts, in the canonical frame."""

import numpy as np

from ranking.files.judgments import FileJudgments
from ranking.numerics.agreement.opinions import Answers, Opinions, opinions_of
from ranking.numerics.arrays import Booleans, Integers


class AgreementRefusedError(Exception):
    """The judgments do not say who agreed with whom; the message says why."""


def opinions(judgments: FileJudgments) -> Opinions:
    """Find each evaluator's opinion of each item.

    An item is a pair of systems in a context, and a pair of texts where the file names them.

    Raises
    ------
    AgreementRefusedError
        If the file does not name evaluators, or one is both a person and an LLM judge.
    """
    if judgments.rater is None:
        msg = "The file has no column rater_id, so nobody can be told from another."
        raise AgreementRefusedError(msg)
    item, first_row = _items(judgments)
    return opinions_of(
        Answers(
            evaluators=judgments.rater.values,
            is_judge=_judges(judgments, len(judgments.rater.values)),
            item=item,
            evaluator=judgments.rater.codes,
            side=judgments.verdict,
            strength=judgments.verdict * judgments.size,
            unit=judgments.unit.codes[first_row],
        )
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
