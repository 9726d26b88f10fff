"""What the rules look at, and what they say."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class CheckAnswer:
    """One answer to a quality check."""

    kind: str
    is_passed: bool


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


@dataclass(frozen=True)
class RaterRecord:
    """Everything the rules may know of one rater; answers in the order in which they came."""

    rater: str
    checks: tuple[CheckAnswer, ...] = ()
    answers: tuple[MainAnswer, ...] = ()


@dataclass(frozen=True)
class Finding:
    """What one rule found of one rater; only two of the rules exclude."""

    rule: str
    value: float
    threshold: float
    evidence: Mapping[str, Any]
    is_exclusion: bool
