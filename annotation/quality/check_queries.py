"""Reads about quality checks: how each fares, and what an admin may mark as one."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from django.db.models import Count, Exists, F, OuterRef, Q

from annotation.choices import Expected, Protocol
from annotation.models import Comparison, DimensionMark, Judgment, QualityCheck, Study
from annotation.models.quality import OF_PAIRS
from annotation.quality.rules.exclusions import is_check_passed, is_rating_passed
from annotation.studies.selectors import shown_text
from completions.dialogues.display import DialogueView

SHOWN = ("comparison__context", "comparison__first", "comparison__second")
FEW = 5
"""From so many answers on, a check that most raters fail is pointed out."""


@dataclass(frozen=True)
class CheckRow:
    """A quality check with how often it was shown, answered and passed."""

    check: QualityCheck
    n_shown: int
    n_answered: int
    n_passed: int

    @property
    def expected_label(self) -> str:
        """What is expected of a message alone; empty of a pair."""
        check = self.check
        return "" if check.expected in OF_PAIRS else Expected(check.expected).label

    @property
    def dialogue(self) -> DialogueView:
        """The dialogue as pages show it."""
        context = self.check.comparison.context
        return DialogueView.of(context.turns, is_simulated=context.is_simulated)

    @property
    def messages(self) -> list[tuple[str, bool]]:
        """The messages in canonical order, and whether each is what the check is about."""
        known = 1 if self.check.expected == Expected.SECOND else 0
        completions = enumerate(self.check.comparison.completions)
        return [(shown_text(one), place == known) for place, one in completions]

    @property
    def percent(self) -> int | None:
        """Which share of the answers passed, in percent; None without an answer."""
        return round(100 * self.n_passed / self.n_answered) if self.n_answered else None

    @property
    def is_doubtful(self) -> bool:
        """Whether most answers fail it, so that the check, not the raters, may be wrong."""
        return self.n_answered >= FEW and 2 * self.n_passed < self.n_answered


def comparison_by_key(study: Study, key: str) -> Comparison | None:
    """Return the study's comparison of that key, or None."""
    return study.comparisons.filter(key=key).order_by("pk").first()


def check_of(study: Study, pk: int) -> QualityCheck | None:
    """Return the study's check of that number, or None."""
    return QualityCheck.objects.filter(comparison__study=study, pk=pk).first()


def candidate(study: Study, key: str) -> Comparison | None:
    """Return the comparison of that key as it may be marked, with its checks counted, or None."""
    rows = study.comparisons.select_related("context", "first", "second")
    return rows.annotate(n_checks=Count("quality_checks")).filter(key=key).order_by("pk").first()


def check_rows(study: Study) -> list[CheckRow]:
    """Return the study's checks in three queries: active ones first, the most failed in front."""
    found = QualityCheck.objects.filter(comparison__study=study).select_related(*SHOWN)
    checks = {check.pk: check for check in found.annotate(n_shown=Count("leases"))}
    answered, passed = _counts(study, checks)
    rows = [
        CheckRow(check, check.n_shown, answered[pk], passed[pk]) for pk, check in checks.items()
    ]
    return sorted(rows, key=_order)


def _order(row: CheckRow) -> tuple[bool, float, str]:
    share = row.percent if row.percent is not None else float("inf")
    return not row.check.is_active, share, row.check.comparison.key


def _counts(study: Study, checks: Collection[int]) -> tuple[Counter[int], Counter[int]]:
    """Count the answers to each check, and those that passed; of a changed answer the newest."""
    answered, passed = Counter[int](), Counter[int]()
    for check, is_passed, n in _answers(study, checks):
        answered[check] += n
        passed[check] += n * is_passed
    return answered, passed


def _answers(study: Study, checks: Collection[int]) -> Iterator[tuple[int, bool, int]]:
    if study.protocol == Protocol.LIKERT:
        for check, expected, mark, n in _ratings(checks):
            yield check, is_rating_passed(mark, expected=expected), n
        return
    for check, expected, verdict, n in _verdicts(checks):
        yield check, is_check_passed(verdict, expected=expected), n


def _verdicts(checks: Collection[int]) -> Iterable[tuple[int, str, int, int]]:
    check = "lease__quality_check"
    given = Judgment.objects.filter(
        _is_newest("pk"), verdict__isnull=False, **{f"{check}__in": list(checks)}
    )
    columns = (f"{check}_id", f"{check}__expected", "verdict")
    return given.order_by().values_list(*columns).annotate(n=Count("pk"))


def _ratings(checks: Collection[int]) -> Iterable[tuple[int, str, int, int]]:
    check = "judgment__lease__quality_check"
    given = DimensionMark.objects.filter(
        _is_newest("judgment"),
        dimension=F(f"{check}__dimension"),
        **{f"{check}__in": list(checks)},
    )
    columns = (f"{check}_id", f"{check}__expected", "advantage")
    return given.order_by().values_list(*columns).annotate(n=Count("pk"))


def _is_newest(judgment: str) -> Q:
    """Say of a judgment that no later one replaces it; looked up, as checks have few answers."""
    return Q(~Exists(Judgment.objects.filter(revises=OuterRef(judgment))))
