"""Where each call to a judge went: one place per call, so that the places sum to the calls."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


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
