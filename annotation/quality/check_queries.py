"""Reads about quality checks: how each fares, and what an admin may mark as one."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from django.db.models import Count, Exists, F, OuterRef, Q

from annotation.choices import CheckKind, Expected, Protocol, Purpose
from annotation.models import Comparison, DimensionMark, Judgment, QualityCheck, Study
from annotation.models.quality import OF_PAIRS
from annotation.quality.rules.exclusions import is_check_passed, is_rating_passed
from annotation.studies.selectors import shown_text
from completions.dialogues.display import DialogueView

SHOWN = ("comparison__context", "comparison__first", "comparison__second")
FEW = 5
"""From so many answers on, a check that most raters fail is pointed out."""


@dataclass(frozen=True)
class MessageRow:
    """A message of a pair, in the canonical order."""

    text: str
    is_known: bool
    """Whether it is what the check is about: the better one, or the one alone."""


@dataclass(frozen=True)
class CheckRow:
    """A quality check with how often it was shown, answered and passed."""

    pk: int
    key: str
    is_attention: bool
    is_authored: bool
    is_active: bool
    dimension: str
    expected_label: str
    dialogue: DialogueView
    messages: tuple[MessageRow, ...]
    n_shown: int
    n_answered: int
    n_passed: int

    @property
    def percent(self) -> int | None:
        """Which share of the answers passed, in percent; None without an answer."""
        return round(100 * self.n_passed / self.n_answered) if self.n_answered else None

    @property
    def is_doubtful(self) -> bool:
        """Whether most answers fail it, so that the check, not the raters, may be wrong."""
        return self.n_answered >= FEW and 2 * self.n_passed < self.n_answered


@dataclass(frozen=True)
class MarkableComparison:
    """A comparison that an admin asked for by its key, to be marked."""

    key: str
    is_pair: bool
    is_main: bool
    is_check: bool
    dialogue: DialogueView
    messages: tuple[str, ...]

    @property
    def can_be_marked(self) -> bool:
        """Whether it counts for the ratings and is not a check yet."""
        return self.is_main and not self.is_check


def comparison_by_key(study: Study, key: str) -> Comparison | None:
    """Return the study's comparison of that key, or None."""
    return study.comparisons.filter(key=key).order_by("pk").first()


def check_of(study: Study, pk: int) -> QualityCheck | None:
    """Return the study's check of that number, or None."""
    return QualityCheck.objects.filter(comparison__study=study, pk=pk).first()


def candidate(study: Study, key: str) -> MarkableComparison | None:
    """Return the comparison of that key as it may be marked, in one query, or None."""
    rows = study.comparisons.select_related("context", "first", "second")
    found = rows.annotate(n_checks=Count("quality_checks")).filter(key=key).order_by("pk").first()
    if found is None:
        return None
    return MarkableComparison(
        key=found.key,
        is_pair=found.second_id is not None,
        is_main=found.purpose == Purpose.MAIN,
        is_check=found.n_checks > 0,
        dialogue=DialogueView.of(found.context.turns, is_simulated=found.context.is_simulated),
        messages=tuple(map(shown_text, found.completions)),
    )


def check_rows(study: Study) -> list[CheckRow]:
    """Return the study's checks in three queries: active ones first, the most failed in front."""
    found = QualityCheck.objects.filter(comparison__study=study).select_related(*SHOWN)
    checks = {check.pk: check for check in found.annotate(n_shown=Count("leases"))}
    answered, passed = _counts(study, checks)
    rows = [_row(check, check.n_shown, answered[pk], passed[pk]) for pk, check in checks.items()]
    return sorted(rows, key=_order)


def _order(row: CheckRow) -> tuple[bool, float, str]:
    share = row.percent if row.percent is not None else float("inf")
    return not row.is_active, share, row.key


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


def _row(check: QualityCheck, n_shown: int, n_answered: int, n_passed: int) -> CheckRow:
    pair = check.comparison
    known = 1 if check.expected == Expected.SECOND else 0
    return CheckRow(
        pk=check.pk,
        key=pair.key,
        is_attention=check.kind == CheckKind.ATTENTION,
        is_authored=pair.purpose == Purpose.CHECK,
        is_active=check.is_active,
        dimension=check.dimension,
        expected_label="" if check.expected in OF_PAIRS else Expected(check.expected).label,
        dialogue=DialogueView.of(pair.context.turns, is_simulated=pair.context.is_simulated),
        messages=tuple(
            MessageRow(shown_text(one), place == known)
            for place, one in enumerate(pair.completions)
        ),
        n_shown=n_shown,
        n_answered=n_answered,
        n_passed=n_passed,
    )
