"""What the rules look at, what they say, and their numbers as a protocol fixes them."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

BEGINNING = dt.datetime.min.replace(tzinfo=dt.UTC)


@dataclass(frozen=True)
class CheckAnswer:
    """One answer to a quality check."""

    kind: str
    is_passed: bool
    at: dt.datetime = BEGINNING


class MainAnswer(NamedTuple):
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


RULES_VERSION = "2"
"""Goes up whenever a rule decides otherwise on the same evidence."""

SHARES = ("failed_share", "anomalous_share", "same_share", "side_p", "alpha")
MAY_BE_ZERO = ("anomalous_share",)


class RulesError(ValueError):
    """A number of the rules is unknown or out of its range."""


@dataclass(frozen=True)
class Rules:
    """Thresholds of the two rules that exclude, and of the four that only warn.

    The defaults are those of the protocol page where it names a number, and of the sources in
    ``docs/quality.md`` where it does not.
    """

    failed_share: float = 0.5
    """Excluded when this share of the checks seen, or more, failed."""
    min_checks: int = 4
    """Fewer checks than this decide nothing."""
    robust_z: float = 3.5
    """A robust z of log seconds per word farther than this from 0 is anomalous."""
    words_per_minute: float = 700
    """Reading faster than this is anomalous."""
    anomalous_share: float = 0.5
    """Excluded when more than this share of the answers has an anomalous time."""
    min_answers: int = 5
    """Fewer answers than this decide nothing about times."""
    misfit: float = 1.3
    """Warned when answers miss what the ratings predict by more than this, and not by chance."""
    alpha: float = 0.01
    """At most this share of raters like the others is ever warned of as an outlier."""

    # A study file does not name these: they are about the method, or about warnings alone.
    min_study_answers: int = 30
    """Fewer timed answers in the study give no robust z; the reading speed still counts."""
    min_warned_answers: int = 20
    """Fewer answers than this warn of nothing but outliers, whose test needs no such number."""
    longest_run: int = 15
    """Warned at this many times the same answer on the screen in a row."""
    same_share: float = 0.9
    """Warned when this share of the answers, or more, is one and the same on the screen."""
    side_p: float = 0.001
    """Warned when sides chosen so unevenly are less probable than this."""

    def __post_init__(self) -> None:
        """Refuse numbers with which a rule would have no meaning."""
        for name in SHARES:
            if not 0 <= getattr(self, name) <= 1:
                msg = f"{name} must lie between 0 and 1, not {getattr(self, name)}"
                raise RulesError(msg)
        for field in fields(self):
            if getattr(self, field.name) <= 0 and field.name not in MAY_BE_ZERO:
                msg = f"{field.name} must be more than 0, not {getattr(self, field.name)}"
                raise RulesError(msg)

    @classmethod
    def of(cls, numbers: Mapping[str, Any]) -> "Rules":
        """Return the rules with the numbers that a study names, and the defaults for the rest.

        Raises
        ------
        RulesError
            If a number is unknown or out of range.
        """
        if unknown := sorted(set(numbers) - {field.name for field in fields(cls)}):
            msg = f"the rules know no {', '.join(unknown)}"
            raise RulesError(msg)
        return cls(**numbers)
