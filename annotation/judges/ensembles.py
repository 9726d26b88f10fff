"""Pure rules of LLM judges: their verdicts, the ensemble's, position, and where calls went."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from annotation.quality.rules.findings import even_p
from completions.contexts.screening.checking import wilson


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


@dataclass
class Position:
    """What is known of one judge's consistency of position; comparisons are added one by one.

    Only comparisons whose two orders both have a winner are compared. A judge who names one
    completion in both orders was led by the texts; one who names side A in both, or side B in
    both, by the place.
    """

    n_same: int = 0
    """Comparisons with the same winner in both orders."""
    n_a_twice: int = 0
    """Comparisons in which side A won in both orders."""
    n_b_twice: int = 0
    n_chose_a: int = 0
    """Valid answers, of all comparisons, that chose side A."""
    n_answers: int = 0
    gap: float = 0.0
    """Sum of how far the mean verdicts of the two orders are apart, in points of strength."""
    shift: float = 0.0
    """Sum of half the same, with its sign: what being side A adds to a verdict."""

    def add(self, replies: Replies) -> None:
        """Take one comparison into account; open calls do not matter."""
        as_a, as_b = replies.first_as_a, replies.first_as_b
        self.n_chose_a += as_a.n_first + as_b.n_second
        self.n_answers += replies.n_valid
        if as_a.winner is None or as_b.winner is None or as_a.mean is None or as_b.mean is None:
            return
        if as_a.winner == as_b.winner:
            self.n_same += 1
        elif as_a.winner == Winner.FIRST:
            self.n_a_twice += 1
        else:
            self.n_b_twice += 1
        self.gap += abs(as_a.mean - as_b.mean)
        self.shift += (as_a.mean - as_b.mean) / 2

    @property
    def n_compared(self) -> int:
        """How many comparisons have a winner in both orders."""
        return self.n_same + self.n_a_twice + self.n_b_twice

    @property
    def share(self) -> float | None:
        """The share of these with one winner; None without any."""
        return self.n_same / self.n_compared if self.n_compared else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's 95 % interval of the share; comparisons are taken as independent."""
        return wilson(self.n_same, self.n_compared) if self.n_compared else None

    @property
    def percent(self) -> tuple[float, ...]:
        """The share and the ends of its interval in percent; empty without any."""
        if self.share is None or self.interval is None:
            return ()
        return tuple(100 * one for one in (self.share, *self.interval))

    @property
    def p(self) -> float | None:
        """How likely a split between the sides at least this uneven is without a favourite.

        Exact binomial test, two-sided, of A twice against B twice; None if neither occurred.
        """
        n = self.n_a_twice + self.n_b_twice
        return even_p(self.n_a_twice, n) if n else None

    @property
    def share_a(self) -> float | None:
        """The share of all valid answers that chose side A; None without any."""
        return self.n_chose_a / self.n_answers if self.n_answers else None

    @property
    def mean_gap(self) -> float | None:
        """How far the verdicts of the two orders are apart in the mean, in points of strength."""
        return self.gap / self.n_compared if self.n_compared else None

    @property
    def mean_shift(self) -> float | None:
        """How many points of strength side A gains in the mean by its place."""
        return self.shift / self.n_compared if self.n_compared else None


class UnknownCallError(ValueError):
    """A call is in a state that no rule here knows, or failed without saying how."""


class Fate(StrEnum):
    """What became of a call."""

    VALID = "VALID"
    """Answered on the scale: it became a judgment."""
    INVALID = "INVALID"
    """Answered twice in a way that could not be read."""
    REFUSED = "REFUSED"
    """The provider's filter, or the model, would not."""
    TRUNCATED = "TRUNCATED"
    EMPTY = "EMPTY"
    TIMED_OUT = "TIMED_OUT"
    OTHER = "OTHER"
    """Given up for another reason, which has its own count."""
    IN_FLIGHT = "IN_FLIGHT"
    WAITING = "WAITING"


NOT_FAILED: Mapping[str, Fate] = {
    "DONE": Fate.VALID,
    "INVALID": Fate.INVALID,
    "CLAIMED": Fate.IN_FLIGHT,
    "PENDING": Fate.WAITING,
}
FAILURES: Mapping[str, Fate] = {
    "content_filtered": Fate.REFUSED,
    "refused": Fate.REFUSED,
    "truncated": Fate.TRUNCATED,
    "empty": Fate.EMPTY,
    "only_thoughts": Fate.EMPTY,
    "timeout": Fate.TIMED_OUT,
}


def fate(state: str, error_kind: str) -> Fate:
    """Return what became of a call; a postponed one is waiting, whatever stopped it before.

    Raises
    ------
    UnknownCallError
        If the state is not known, or a failed call does not say how it failed.
    """
    if state in NOT_FAILED:
        return NOT_FAILED[state]
    if state != "FAILED" or not error_kind:
        msg = f"a call is {state!r} with the error {error_kind!r}: it cannot be accounted for"
        raise UnknownCallError(msg)
    return FAILURES.get(error_kind, Fate.OTHER)


@dataclass(frozen=True)
class Account:
    """How many calls had each fate; ``others`` counts other failures by their kind."""

    fates: Mapping[Fate, int] = field(default_factory=dict)
    others: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_calls(self) -> int:
        """How many calls there are: every call has one fate."""
        return sum(self.fates.values())

    def n(self, one: Fate) -> int:
        """How many calls had this fate."""
        return self.fates.get(one, 0)


def account(counts: Iterable[tuple[str, str, int]]) -> Account:
    """Sort calls, counted by state and kind of error, into their fates.

    Raises
    ------
    UnknownCallError
        If some of them cannot be accounted for.
    """
    fates, others = Counter[Fate](), Counter[str]()
    for state, error_kind, n in counts:
        found = fate(state, error_kind)
        fates[found] += n
        if found is Fate.OTHER:
            others[error_kind] += n
    return Account(fates, dict(sorted(others.items())))
