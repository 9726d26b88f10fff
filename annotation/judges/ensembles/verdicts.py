"""From the answers of judges to one comparison: each judge's verdict, and the ensemble's."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class ImpossibleRepliesError(ValueError):
    """The counts of a judge's replies contradict each other, or nothing was asked."""


class Winner(StrEnum):
    """Which completion is better, in the canonical frame."""

    FIRST = "FIRST"
    SECOND = "SECOND"


class VoteStatus(StrEnum):
    """Why a judge has a verdict on a comparison, or has none."""

    DECIDED = "DECIDED"
    """One winner: that of the only order asked, or of both."""
    UNSETTLED = "UNSETTLED"
    """The winner changed with the order of display."""
    TIED = "TIED"
    """In one order at least, as many samples named the first as the second."""
    ONE_ORDER = "ONE_ORDER"
    """Asked in both orders, and only one brought a valid answer."""
    NO_ANSWER = "NO_ANSWER"
    """No call brought a valid answer."""
    WAITING = "WAITING"
    """Some call has not ended: what it will say cannot be known."""


class EnsembleOutcome(StrEnum):
    """What the judges of a comparison say together."""

    FIRST = "FIRST"
    SECOND = "SECOND"
    NO_MAJORITY = "NO_MAJORITY"
    WAITING = "WAITING"


class Reply(NamedTuple):
    """One call: where the first completion stood, and the verdict, positive if it won."""

    first_is_a: bool
    verdict: int | None
    is_open: bool = False


class Order(NamedTuple):
    """All samples of one order of display; ``total`` is the sum of their verdicts."""

    n_calls: int = 0
    n_first: int = 0
    n_second: int = 0
    total: int = 0

    @property
    def n_valid(self) -> int:
        """How many calls named a winner."""
        return self.n_first + self.n_second

    @property
    def winner(self) -> Winner | None:
        """Whom more samples name; None where as many name either, or none does."""
        if self.n_first == self.n_second:
            return None
        return Winner.FIRST if self.n_first > self.n_second else Winner.SECOND

    @property
    def mean(self) -> float | None:
        """The mean verdict, positive in favour of the first; None without one."""
        return self.total / self.n_valid if self.n_valid else None


class Replies(NamedTuple):
    """What one judge said of one comparison: by order of display, all samples together."""

    first_as_a: Order = Order()
    first_as_b: Order = Order()
    n_open: int = 0

    @property
    def n_valid(self) -> int:
        """How many calls named a winner, in either order."""
        return self.first_as_a.n_valid + self.first_as_b.n_valid


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """A judge's verdict on a comparison; without a winner it is no vote."""

    status: VoteStatus
    winner: Winner | None = None
    is_consistent: bool | None = None
    """Whether both orders name the same winner; None where it is not known."""


@dataclass(frozen=True, slots=True)
class EnsembleVerdict:
    """What the judges of a comparison say together, and how they voted."""

    outcome: EnsembleOutcome
    n_first: int
    n_second: int
    n_judges: int
    is_consistent: bool | None
    """Whether each judge known in both orders names one winner; None if no judge is."""

    @property
    def n_silent(self) -> int:
        """How many judges were asked and have no vote."""
        return self.n_judges - self.n_first - self.n_second


def replies_of(calls: Iterable[Reply]) -> Replies:
    """Gather the calls that put one comparison to one judge; their order does not matter.

    Raises
    ------
    ImpossibleRepliesError
        If a verdict names no winner: judges have to choose.
    """
    orders: dict[bool, list[int | None]] = {True: [], False: []}
    n_open = 0
    for call in calls:
        orders[call.first_is_a].append(call.verdict)
        n_open += call.is_open
    return Replies(_order(orders[True]), _order(orders[False]), n_open)


def judge_verdict(replies: Replies) -> JudgeVerdict:
    """Return a judge's verdict on one comparison.

    In each order of display the majority of the samples names the winner. A judge asked in both
    orders must name the same winner in both; asked in one, that winner stands, unchecked. As
    long as a call is open there is no verdict: one that may turn over is not stated.

    Raises
    ------
    ImpossibleRepliesError
        If nothing was asked, or there are more answers than calls.
    """
    _check(replies)
    orders = [order for order in (replies.first_as_a, replies.first_as_b) if order.n_calls]
    winners = [order.winner for order in orders if order.n_valid]
    known = len(winners) == 2 and None not in winners  # noqa: PLR2004 (the two orders)
    is_consistent = winners[0] == winners[1] if known else None
    status = _status(replies, n_asked=len(orders), winners=winners)
    winner = winners[0] if status is VoteStatus.DECIDED else None
    return JudgeVerdict(status, winner, is_consistent)


def ensemble_verdict(verdicts: Mapping[str, JudgeVerdict]) -> EnsembleVerdict:
    """Return what the judges of a comparison say together: the winner that most votes name.

    A judge without a winner has no vote. As many votes for one as for the other, none included,
    are no majority. As long as a judge is waited for, the outcome is not known.

    Raises
    ------
    ImpossibleRepliesError
        If there is no judge: nobody was asked.
    """
    if not verdicts:
        msg = "no judge was asked: there is no verdict to state, not even that none was reached"
        raise ImpossibleRepliesError(msg)
    votes = Counter(one.winner for one in verdicts.values())
    checked = [one.is_consistent for one in verdicts.values() if one.is_consistent is not None]
    n_first, n_second = votes[Winner.FIRST], votes[Winner.SECOND]
    if any(one.status is VoteStatus.WAITING for one in verdicts.values()):
        outcome = EnsembleOutcome.WAITING
    elif n_first == n_second:
        outcome = EnsembleOutcome.NO_MAJORITY
    else:
        outcome = EnsembleOutcome.FIRST if n_first > n_second else EnsembleOutcome.SECOND
    return EnsembleVerdict(
        outcome, n_first, n_second, len(verdicts), all(checked) if checked else None
    )


def _order(verdicts: list[int | None]) -> Order:
    named = [verdict for verdict in verdicts if verdict is not None]
    if 0 in named:
        msg = "a judge's verdict of 0 names no winner"
        raise ImpossibleRepliesError(msg)
    n_first = sum(verdict > 0 for verdict in named)
    return Order(len(verdicts), n_first, len(named) - n_first, sum(named))


def _status(replies: Replies, *, n_asked: int, winners: list[Winner | None]) -> VoteStatus:
    if replies.n_open:
        return VoteStatus.WAITING
    if not winners:
        return VoteStatus.NO_ANSWER
    if len(winners) < n_asked:
        return VoteStatus.ONE_ORDER
    if None in winners:
        return VoteStatus.TIED
    return VoteStatus.DECIDED if len(set(winners)) == 1 else VoteStatus.UNSETTLED


def _check(replies: Replies) -> None:
    a, b = replies.first_as_a, replies.first_as_b
    n_calls = a.n_calls + b.n_calls
    if not n_calls:
        msg = "the judge was asked nothing about this comparison"
        raise ImpossibleRepliesError(msg)
    # A page checks tens of thousands of these: plain comparisons are three times as fast.
    too_few = min(replies.n_open, a.n_first, a.n_second, b.n_first, b.n_second) < 0
    too_many = a.n_valid > a.n_calls or b.n_valid > b.n_calls
    if too_few or too_many or replies.n_valid + replies.n_open > n_calls:
        msg = f"there cannot be more answers and open calls than calls: {replies}"
        raise ImpossibleRepliesError(msg)
