"""Raters with the figures and findings of a review, in words, and which an address asks for."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.translation import gettext_lazy as _

from access.console.tables import Table
from annotation.models import Exclusion, Rater
from annotation.quality.queries import raters
from annotation.quality.queries.records import LEFT_OUT, MAIN, ListedAnswer
from annotation.quality.rules.records import Finding

MEASURED = (
    *("n_answers", "median_seconds", "n_checks", "n_passed"),
    *("share_a", "infit", "agreement", "last_at"),
)
"""Figures of a rater that are kept as they were measured."""


@dataclass(frozen=True)
class RaterRow:
    """One rater, read with decisions, with figures; a figure that is not known is None."""

    rater: Rater
    findings: tuple[Finding, ...]
    n_answers: int
    median_seconds: float | None
    n_checks: int
    n_passed: int
    share_a: float | None
    infit: float | None
    agreement: float | None
    last_at: dt.datetime | None

    @property
    def n_failed(self) -> int:
        """Return how many of the checks seen were failed."""
        return self.n_checks - self.n_passed

    @property
    def code(self) -> str:
        """Return the rater's pseudonym."""
        return self.rater.code

    @property
    def decision(self) -> Exclusion | None:
        """Return the decision that holds: the newest."""
        return raters.decision_on(self.rater)

    @cached_property
    def is_excluded(self) -> bool:
        """Whether the rater's answers are left out of the analysis."""
        return raters.is_excluded(self.rater)

    @property
    def reinstated_at(self) -> dt.datetime | None:
        """Return when a person took the rater back, if that still holds."""
        return raters.reinstated_at(self.rater)

    @property
    def passed_share(self) -> float | None:
        """Return the share of the checks seen that was passed."""
        return self.n_passed / self.n_checks if self.n_checks else None

    @property
    def would_go(self) -> bool:
        """Whether the rules would exclude a rater who is in."""
        return not self.is_excluded and any(one.is_exclusion for one in self.findings)

    @property
    def status(self) -> str:
        """Return where the rater stands: out, going, warned or in."""
        if self.is_excluded:
            return "out"
        if self.would_go:
            return "going"
        return "warned" if self.findings else "in"

    @property
    def status_label(self) -> object:
        """Return the same in words."""
        return STATUSES[self.status]

    @property
    def told(self) -> list[dict[str, object]]:
        """Return name and words of each finding, and whether it excludes."""
        return [_told(one) for one in self.findings]

    @property
    def decisions_told(self) -> list[dict[str, object]]:
        """Return every decision with its name and words, the newest first."""
        return [
            {
                "decision": one,
                "name": rule_name(one.rule),
                "words": in_words(one.rule, one.evidence),
            }
            for one in reversed(self.rater.exclusions.all())
        ]


@dataclass(frozen=True)
class MeasuredRaters:
    """Every rater of a study who answered anything, by pseudonym, as of a time.

    ``median_seconds`` is that of all their answers together. ``is_live`` says whether they were
    measured just now; else they were read as they were measured at ``as_of``, which is None where
    nobody measured them yet; ``n_new`` raters answered first since then. Decisions are those of
    now in any case.
    """

    rows: tuple[RaterRow, ...]
    as_of: dt.datetime | None
    median_seconds: float | None
    is_live: bool
    n_new: int = 0

    @property
    def n_answers(self) -> int:
        """Return how many answers there are without checks and repeats."""
        return sum(row.n_answers for row in self.rows)


STATUSES: Mapping[str, object] = {
    "in": _("In, nothing found"),
    "warned": _("In, with a warning"),
    "going": _("Would be left out"),
    "out": _("Left out"),
}
FINDINGS: Mapping[str, object] = {
    "checks": _("Checks failed"),
    "times": _("Anomalous times"),
    "straight-lining": _("The same answer over and over"),
    "one-sided": _("One side of the screen"),
    "misfit": _("Misfit"),
    "outlier": _("Unlike the others"),
}
SENTENCES: Mapping[str, object] = {
    "checks": _(
        "%(n_failed)s of %(n_checks)s checks failed; from %(threshold_share).0f %% on a rater goes."
    ),
    "times": _(
        "%(n_anomalous)s of %(n_answers)s answers have an anomalous time: %(n_beyond_z)s far from "
        "the study's pace, %(n_beyond_reading_speed)s faster than %(words_per_minute)d words a "
        "minute; above %(threshold_share).0f %% a rater goes."
    ),
    "straight-lining": _(
        "The same answer on the screen %(longest_run)d times in a row, and %(most_common)s on "
        "%(most_share).0f %% of %(n_answers)s answers."
    ),
    "one-sided": _(
        "Chose A %(n_a)s times and B %(n_b)s times; by chance that happens with p = %(value).2g."
    ),
    "misfit": _(
        "Infit %(value).2f over %(n_answers)s answers, above %(threshold).2f: they miss what the "
        "other raters' answers predict."
    ),
    "outlier": _(
        "Evidence of %(value).3g against a limit of %(threshold).0f, over %(n_pairs)s pairs with "
        "all their answers."
    ),
}
NAMES: Mapping[str, object] = {**FINDINGS, "by-hand": _("By hand")}


def _told(finding: Finding) -> dict[str, object]:
    numbers = {"value": finding.value, "threshold": finding.threshold}
    return {
        "name": rule_name(finding.rule),
        "words": in_words(finding.rule, {**numbers, **finding.evidence}),
        "is_exclusion": finding.is_exclusion,
    }


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
    counts = {name: f"{n:,}" for name, n in evidence.items() if name.startswith("n_")}
    return str(sentence) % {**evidence, **counts, **shares}


def _kind(rule: str) -> str:
    kind, _dash, version = rule.rpartition("-")
    return kind if version.isdigit() else rule


KINDS: Mapping[str, object] = {
    "main": _("those that count for ratings"),
    "out": _("those left out of ratings"),
    "checks": _("checks and repeats"),
    "failed": _("checks and repeats failed"),
}


def _is_of_kind(row: ListedAnswer, kind: str) -> bool:
    if kind == "failed":
        return row.is_passed is False
    if kind == "checks":
        return row.is_check
    return row.kind == (MAIN if kind == "main" else LEFT_OUT)


def _has_finding(row: RaterRow, rule: str) -> bool:
    return rule in {finding.rule.rpartition("-")[0] for finding in row.findings}


RATERS = Table(
    orders={
        "code": (_("Rater"), lambda row: row.code),
        "findings": (_("Findings"), lambda row: len(row.findings)),
        "standing": (_("Status"), lambda row: row.status),
        "answers": (_("Answers"), lambda row: row.n_answers),
        "seconds": (_("Median time"), lambda row: row.median_seconds),
        "checks": (_("Checks passed"), lambda row: row.passed_share),
        "side": (_("Chose A"), lambda row: row.share_a),
        "infit": (_("Infit"), lambda row: row.infit),
        "agreement": (_("Agrees"), lambda row: row.agreement),
        "last": (_("Last answer"), lambda row: row.last_at),
    },
    usual="code",
    choices={
        "standing": (STATUSES, lambda row, status: row.status == status),
        "found": (FINDINGS, _has_finding),
    },
    searched=("code",),
    numbers=("answers", "seconds", "checks", "side", "infit", "agreement", "last"),
)
ANSWERS = Table(
    orders={
        "at": (_("Sent"), lambda row: row.at),
        "kind": (_("Kind"), lambda row: row.kind),
        "verdict": (_("Verdict"), lambda row: row.verdict),
        "seconds": (_("Time"), lambda row: row.seconds),
        "passed": (_("Check"), lambda row: row.is_passed),
    },
    usual="-at",
    choices={"kind": (KINDS, _is_of_kind)},
)
"""Answers of a rater."""
