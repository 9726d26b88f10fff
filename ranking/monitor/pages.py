"""What the console's pages on raters show, in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from annotation.quality.queries.raters import Decision
from annotation.quality.rules.records import Finding
from ranking.raters.rows import FINDINGS, SENTENCES, STATUSES, RaterRow

if TYPE_CHECKING:
    from ranking.raters.services.reviewing import Movement, Review

NAMES: Mapping[str, object] = {**FINDINGS, "by-hand": gettext_lazy("By hand")}


@dataclass(frozen=True)
class FindingLine:
    """One finding in words."""

    name: object
    words: str
    is_exclusion: bool

    @classmethod
    def of(cls, finding: Finding) -> "FindingLine":
        """Say what was found."""
        evidence = {
            "value": finding.value,
            "threshold": finding.threshold,
            **finding.evidence,
        }
        return cls(rule_name(finding.rule), in_words(finding.rule, evidence), finding.is_exclusion)


@dataclass(frozen=True)
class DecisionLine:
    """One decision in words; who decided is a person or the name of a rule."""

    decision: Decision
    name: object
    words: str

    @classmethod
    def of(cls, decision: Decision) -> "DecisionLine":
        """Say what was decided and why."""
        words = in_words(decision.rule, decision.evidence)
        return cls(decision, rule_name(decision.rule), words)


@dataclass(frozen=True)
class RaterLine:
    """A rater in the list."""

    row: RaterRow
    status: object
    findings: tuple[FindingLine, ...]

    @classmethod
    def of(cls, row: RaterRow) -> "RaterLine":
        """Put the row's findings into words."""
        return cls(row, STATUSES[row.status], tuple(map(FindingLine.of, row.findings)))


@dataclass(frozen=True)
class RaterPage:
    """A rater alone, with every decision, the newest first."""

    line: RaterLine
    decisions: tuple[DecisionLine, ...]

    @classmethod
    def of(cls, row: RaterRow) -> "RaterPage":
        """Put all that is known of a rater into words."""
        newest_first = reversed(row.head.decisions)
        return cls(RaterLine.of(row), tuple(map(DecisionLine.of, newest_first)))


@dataclass(frozen=True)
class ReviewPage:
    """What a review would do."""

    leaving: tuple[RaterLine, ...]
    warned: tuple[RaterLine, ...]
    movements: "tuple[Movement, ...]"
    n_raters: int
    n_answers: int

    @classmethod
    def of(cls, review: "Review") -> "ReviewPage":
        """Sort the raters into those who would go and those who are only warned of."""
        return cls(
            leaving=tuple(map(RaterLine.of, review.leaving)),
            warned=tuple(RaterLine.of(row) for row in review.rows if row.status == "warned"),
            movements=review.movements,
            n_raters=len(review.rows),
            n_answers=sum(row.n_answers for row in review.leaving),
        )


def rule_name(rule: str) -> object:
    """Return what a rule is called, whatever its version; a name that is not known as it is."""
    return NAMES.get(_kind(rule), rule)


def in_words(rule: str, evidence: Mapping[str, Any]) -> str:
    """Say what a rule found; nothing when a person decided without one."""
    sentence = SENTENCES.get(_kind(rule))
    if sentence is None or "value" not in evidence:
        return ""
    shares = {
        "threshold_share": 100 * evidence["threshold"],
        "most_share": 100 * evidence.get("share_of_most_common", 0),
    }
    return str(sentence) % {**evidence, **shares}


def _kind(rule: str) -> str:
    kind, _dash, version = rule.rpartition("-")
    return kind if version.isdigit() else rule
