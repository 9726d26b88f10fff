"""From judgments added up to weighted wins."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ranking.judgments.groups import GroupedJudgments, PairCounts, TextGroup
from ranking.judgments.method import Method
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.batches import CHUNK, slices
from ranking.numerics.strength import grade_to_strength, shares
from ranking.numerics.strength_mode import StrengthMode
from ranking.numerics.tables import WeightedPairs, WinTables, tabulate

GRADED = "PREFERENCE"  # the protocol whose answers are on the five-point scale
PARTS = 20  # a judgment is split in twentieths, so that sums of them are exact


@dataclass(frozen=True)
class Outcomes:
    """Judgments won, lost and tied by each system, shape (n_systems,) each."""

    wins: Integers
    losses: Integers
    ties: Integers


def win_tables(judgments: GroupedJudgments, method: Method) -> WinTables:
    """Return the weighted wins per dialogue, as the method has them."""
    counts, weights = judgments.counts, evaluator_weights(judgments, method) / PARTS
    to_each = np.empty((2, len(counts.n)))
    for rows in slices(len(counts.n), CHUNK):  # of ten million judgments all would be 130 MB
        part = counts.part(rows)
        to_each[:, rows] = _split(part, method) * weights[part.is_judge.astype(np.int64)]
    pairs = WeightedPairs(counts.unit, counts.first, counts.second, *to_each)
    return tabulate(pairs, n_units=len(judgments.dialogues), n_systems=len(judgments.systems))


def evaluator_weights(judgments: GroupedJudgments, method: Method) -> Floats:
    """Return how much a judgment by a person and one by an LLM judge count, shape (2,).

    1 and 1, unless both are there and the method declares what they weigh together: then the
    judgments of each kind share its mass, and all together still count as many as there are.
    """
    counts = judgments.counts
    n = np.bincount(counts.is_judge, weights=counts.n, minlength=2)
    if method.masses is None or not n.all():
        return np.ones(2)
    masses = np.array(method.masses, dtype=np.float64)
    weights: Floats = masses / masses.sum() * n.sum() / n
    return weights


def _split(counts: PairCounts, method: Method) -> Integers:
    """Return what the first and the second completions of each row take, in twentieths."""
    tie, won, lost = _lines(method.strength)
    tied = tie * (counts.n - counts.n_first - counts.n_second)
    first = np.stack([counts.n_first, _strength(counts.n_first, counts.size_first, counts, method)])
    second = np.stack(
        [counts.n_second, _strength(counts.n_second, counts.size_second, counts, method)]
    )
    taken: Integers = np.stack([won @ first + lost @ second, won @ second + lost @ first])
    return taken + tied


def _strength(n: Integers, size: Integers, counts: PairCounts, method: Method) -> Integers:
    """Return the strengths of n verdicts added up, given their sizes added up.

    On the five-point scale ``size`` is n and one more for each "much".
    """
    graded = method.slightly * (2 * n - size) + method.much * (size - n)
    return np.where(counts.is_graded, graded, size)


def _lines(mode: StrengthMode) -> tuple[int, Integers, Integers]:
    """Return what a tie gives, and for winner and loser a line: at strength 0, and per strength.

    In twentieths of a judgment.
    """
    split = shares(np.array([0, 1, 2], dtype=np.int64), mode)
    won, lost = (np.rint(PARTS * one).astype(np.int64) for one in (split.first, split.second))
    at_zero_and_slope = np.array([[0, 2, -1], [0, -1, 1]], dtype=np.int64)
    return int(won[0]), at_zero_and_slope @ won, at_zero_and_slope @ lost


def outcomes(judgments: GroupedJudgments) -> Outcomes:
    """Count the judgments each system won, lost and tied, whatever their strength."""
    counts = judgments.counts

    def count(of_first: Integers, of_second: Integers) -> Integers:
        firsts, seconds = (
            np.bincount(systems, weights=n, minlength=len(judgments.systems))
            for systems, n in ((counts.first, of_first), (counts.second, of_second))
        )
        return (firsts + seconds).astype(np.int64)

    wins, losses = count(counts.n_first, counts.n_second), count(counts.n_second, counts.n_first)
    return Outcomes(wins, losses, ties=count(counts.n, counts.n) - wins - losses)


def signed_strengths(groups: Sequence[TextGroup], *, slightly: int, much: int) -> Integers:
    """Return signed strengths; verdicts on the five-point scale are translated."""
    graded = np.array([group.protocol == GRADED for group in groups], dtype=np.bool_)
    strengths = _integers(group.verdict for group in groups)
    strengths[graded] = grade_to_strength(strengths[graded], slightly=slightly, much=much)
    return strengths


def _integers(values: Iterable[int]) -> Integers:
    return np.fromiter(values, dtype=np.int64)
