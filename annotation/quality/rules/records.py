"""What the rules look at, and what they say."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

BEGINNING = dt.datetime.min.replace(tzinfo=dt.UTC)


@dataclass(frozen=True)
class CheckAnswer:
    """One answer to a quality check."""

    kind: str
    is_passed: bool
    at: dt.datetime = BEGINNING


@dataclass(frozen=True)
class MainAnswer:
    """One answer that counts for the ratings, as it stands now.

    ``shown`` is the answer as the screen had it (what a rater repeats who never reads), ``side``
    the side preferred there: 1 for A, -1 for B, 0 for neither. ``winner`` is the same in the
    canonical frame: 1 for the first completion. Where nothing was compared both are 0.
    ``seconds`` is active time, ``words`` what this rater had not read before on this page.
    """

    pair: int
    shown: str
    side: int
    winner: int
    seconds: float
    words: int
    at: dt.datetime = BEGINNING


@dataclass(frozen=True)
class RaterRecord:
    """Everything the rules may know of one rater; answers in the order in which they came.

    ``reinstated_at`` is when a person took an exclusion back, if nothing was decided since.
    """

    rater: str
    checks: tuple[CheckAnswer, ...] = ()
    answers: tuple[MainAnswer, ...] = ()
    reinstated_at: dt.datetime | None = None

    def since_reinstated(self) -> "RaterRecord":
        """Return the record of what came after a person took the rater back, or all of it.

        That person has seen what was there. So the rules exclude on new evidence alone.
        """
        if (start := self.reinstated_at) is None:
            return self
        return replace(
            self,
            checks=tuple(check for check in self.checks if check.at > start),
            answers=tuple(answer for answer in self.answers if answer.at > start),
        )


@dataclass(frozen=True)
class Finding:
    """What one rule found of one rater; only two of the rules exclude."""

    rule: str
    value: float
    threshold: float
    evidence: Mapping[str, Any]
    is_exclusion: bool
