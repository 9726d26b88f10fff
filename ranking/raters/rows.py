"""One rater with the figures and findings of a review, as pages and tables show them."""

import datetime as dt
from dataclasses import dataclass

from annotation.quality.queries import RaterHead
from annotation.quality.rules import Finding


@dataclass(frozen=True)
class RaterRow:
    """One rater with the figures of the monitor; a figure that is not known is None."""

    head: RaterHead
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
        return self.head.code

    @property
    def passed_share(self) -> float | None:
        """Return the share of the checks seen that was passed."""
        return self.n_passed / self.n_checks if self.n_checks else None

    @property
    def would_go(self) -> bool:
        """Whether the rules would exclude a rater who is in."""
        return not self.head.is_excluded and any(one.is_exclusion for one in self.findings)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Return the findings that only warn."""
        return tuple(one for one in self.findings if not one.is_exclusion)

    @property
    def standing(self) -> str:
        """Return where the rater stands: out, going, warned or in."""
        if self.head.is_excluded:
            return "out"
        if self.would_go:
            return "going"
        return "warned" if self.findings else "in"


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
        """Return how many answers there are that count for ratings."""
        return sum(row.n_answers for row in self.rows)
