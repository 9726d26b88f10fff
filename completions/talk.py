"""A dialogue as people see it: plain values, folded to its last turns when it is long; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from completions.normaliser import plain

SHOWN_WHOLE = 8  # a dialogue of up to so many turns is never folded
RECENT = 5  # how many turns before the latest stay in view of a longer one


@dataclass(frozen=True)
class Turn:
    """One message of the dialogue, in the one plain dress."""

    role: str
    text: str


@dataclass(frozen=True)
class Talk:
    """The turns of a dialogue; raters and writers see the same."""

    earlier: tuple[Turn, ...]
    recent: tuple[Turn, ...]
    latest: Turn
    is_simulated: bool = False
    """Whether the offline provider wrote its seeker; the page says so."""

    @classmethod
    def of(cls, turns: Sequence[Mapping[str, str]], *, is_simulated: bool = False) -> "Talk":
        """Dress and fold the stored turns of a context."""
        shown = [Turn(turn["role"], plain(turn["text"])) for turn in turns]
        fold = 0 if len(shown) <= SHOWN_WHOLE else len(shown) - 1 - RECENT
        return cls(tuple(shown[:fold]), tuple(shown[fold:-1]), shown[-1], is_simulated)
