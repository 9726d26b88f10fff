"""The console's pages on quality checks and on reports, with what admins post there."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.db.models import Count, Exists, F, OuterRef, Q
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from access.console.tables import read_text
from access.console.undoing import say_done
from access.roles import StaffRequest
from annotation.choices import Expected, Protocol, ReportOutcome
from annotation.models import Comparison, DimensionMark, Judgment, QualityCheck, Study
from annotation.models.quality import OF_PAIRS
from annotation.models.study import goes_by
from annotation.quality import report_queries
from annotation.quality.rules.exclusions import is_check_passed, is_rating_passed
from annotation.quality.services import gold, reporting
from annotation.studies import queries as study_queries
from annotation.studies.http import study_page
from completions.dialogues.display import DialogueView
from completions.dialogues.forms import TypedTextField

DECIDED = {
    ReportOutcome.RELEASED: gettext_lazy(
        "The conversation may be shown again, except to those who reported it."
    ),
    ReportOutcome.DROPPED: gettext_lazy(
        "The conversation is shown to nobody any more; what was judged of it stays."
    ),
}


@require_safe
@study_page
def reports(request: StaffRequest, study: Study) -> HttpResponse:
    """Show every reported dialogue, those first that wait for a decision."""
    dialogues = report_queries.reported_dialogues(study)
    context = {
        "study": study,
        "dialogues": dialogues,
        "n_open": sum(dialogue.n_open > 0 for dialogue in dialogues),
        "is_mail_set_up": reporting.is_mail_set_up(),
        "alert_error": report_queries.alert_error(study),
    }
    return render(request, "console/study/reports.html", context)


@require_POST
@study_page
def decide(request: StaffRequest, study: Study, key: str) -> HttpResponse:
    """Store what was decided about a reported dialogue, with the reason."""
    context = report_queries.reported_context(study, key)
    if context is None:
        raise Http404
    form = DecideForm(request.POST)
    if form.is_valid():
        reporting.decide_report(
            study=study,
            context=context,
            outcome=form.cleaned_data["outcome"],
            reason=form.cleaned_data["reason"],
            by=request.user,
            now=timezone.now(),
        )
        messages.success(request, DECIDED[form.cleaned_data["outcome"]])
    else:
        messages.error(request, form.problem())
    return redirect("console:reports", study.slug)


MAX_REASON = 1000
NO_REASON = gettext_lazy("Write in a few words why: it is kept with the decision.")
LONG_REASON = gettext_lazy("The reason is longer than 1000 characters. Say it more briefly.")
NO_ANSWER = gettext_lazy("Choose what is known of it.")


class WithReason(forms.Form):
    """An act that needs a reason."""

    reason = TypedTextField(
        max_length=MAX_REASON,
        error_messages={"required": NO_REASON, "max_length": LONG_REASON},
    )

    def problem(self) -> str:
        """Return the first thing that is wrong, in words."""
        return next((str(words[0]) for words in self.errors.values()), "")


class SwitchForm(WithReason):
    """Turn a check off, or on again."""

    is_active = forms.TypedChoiceField(
        choices=[("yes", "yes"), ("no", "no")], coerce=lambda value: value == "yes"
    )


class MarkForm(WithReason):
    """Say what is known of a comparison that counts."""

    key = forms.CharField(max_length=24)
    expected = forms.TypedChoiceField(
        choices=Expected.choices,
        coerce=Expected,
        error_messages={"required": NO_ANSWER, "invalid_choice": NO_ANSWER},
    )
    dimension = forms.CharField(required=False, max_length=20)
    field_order = ("key", "expected", "dimension", "reason")


class DecideForm(WithReason):
    """Show a reported dialogue again, or to nobody any more."""

    outcome = forms.TypedChoiceField(choices=ReportOutcome.choices, coerce=ReportOutcome)


class BatchForm(WithReason):
    """Leave a batch of judgments made elsewhere out, or take it back."""

    is_excluded = forms.TypedChoiceField(
        choices=[("yes", "yes"), ("no", "no")], coerce=lambda value: value == "yes"
    )


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
        return [(study_queries.shown_text(one), place == known) for place, one in completions]

    @property
    def percent(self) -> int | None:
        """Which share of the answers passed, in percent; None without an answer."""
        return round(100 * self.n_passed / self.n_answered) if self.n_answered else None

    @property
    def is_doubtful(self) -> bool:
        """Whether most answers fail it, so that the check, not the raters, may be wrong."""
        return self.n_answered >= FEW and 2 * self.n_passed < self.n_answered


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
    return not row.check.is_active, share, row.check.comparison.public_key


def _counts(study: Study, checks: Collection[int]) -> tuple[Counter[int], Counter[int]]:
    """Count the answers to each check, and those that passed; of a changed answer the newest."""
    answered, passed = Counter[int](), Counter[int]()
    is_alone = study.protocol == Protocol.LIKERT
    is_passed = is_rating_passed if is_alone else is_check_passed
    for check, expected, said, n in _ratings(checks) if is_alone else _verdicts(checks):
        answered[check] += n
        passed[check] += n * is_passed(said, expected=expected)
    return answered, passed


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


@require_safe
@study_page
def checks(request: StaffRequest, study: Study) -> HttpResponse:
    """Show how each check fares, and a comparison that may become one, by its key."""
    key = read_text(request.GET, "key")
    context = {
        "study": study,
        "checks": check_rows(study),
        "asked": key,
        "dimensions": study_queries.content_of(study)["rubric"]["dimensions"],
    }
    comparisons = study.comparisons.select_related("context", "first", "second")
    marked = comparisons.annotate(n_checks=Count("quality_checks")).order_by("pk")
    if key and (found := marked.filter(goes_by(key)).first()):
        turns, is_simulated = found.context.turns, found.context.is_simulated
        context |= {
            "candidate": found,
            "dialogue": DialogueView.of(turns, is_simulated=is_simulated),
            "texts": list(map(study_queries.shown_text, found.completions)),
        }
    return render(request, "console/study/checks.html", context)


@require_POST
@study_page
def switch(request: StaffRequest, study: Study, pk: int) -> HttpResponse:
    """Turn a check off, or on again, with the reason."""
    check = get_object_or_404(QualityCheck, comparison__study=study, pk=pk)
    form = SwitchForm(request.POST)
    if form.is_valid():
        gold.switch_check(check=check, by=request.user, now=timezone.now(), **form.cleaned_data)
        undo = reverse("console:switch_check", args=[study.slug, pk])
        back = "no" if form.cleaned_data["is_active"] else "yes"
        said = _("Done. Answers given so far stay what they are.")
        say_done(request, said, undo=undo, is_active=back)
    else:
        messages.error(request, form.problem())
    return redirect("console:checks", study.slug)


@require_POST
@study_page
def mark(request: StaffRequest, study: Study) -> HttpResponse:
    """Make a comparison that counts a check as well."""
    form = MarkForm(request.POST)
    key = request.POST.get("key", "")
    comparison = study.comparisons.filter(goes_by(key)).order_by("pk").first()
    if comparison is None:
        raise Http404
    problem = _mark(request, comparison, form) if form.is_valid() else form.problem()
    if problem:
        messages.error(request, problem)
        return redirect(f"{reverse('console:checks', args=[study.slug])}?{urlencode({'key': key})}")
    messages.success(request, _("Marked. It is handed out as a check from now on, too."))
    return redirect("console:checks", study.slug)


def _mark(request: StaffRequest, comparison: Comparison, form: MarkForm) -> str:
    """Return what stood against it, or nothing."""
    try:
        gold.mark_gold(
            comparison=comparison,
            expected=form.cleaned_data["expected"],
            dimension=form.cleaned_data["dimension"],
            reason=form.cleaned_data["reason"],
            by=request.user,
            now=timezone.now(),
        )
    except (gold.UnsuitableCheckError, gold.AlreadyACheckError) as error:
        return f"{error}."
    return ""
