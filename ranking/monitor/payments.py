"""The console's page on pay: what to do about each submission, and Prolific's API behind a key."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import TextChoices
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from access.choices import Role
from access.console.csv_cells import Cell
from access.console.tables import csv_of, read_ticked_keys
from access.roles import Needs, StaffRequest, members_only
from annotation.choices import Platform, SubmissionState
from annotation.models import PlatformStudy, PlatformSubmission, Study
from annotation.quality.queries import raters
from annotation.quality.queries.records import attention_checks
from annotation.quality.rules.records import CheckAnswer
from annotation.raters import prolific
from annotation.raters.consent import session_minutes
from annotation.raters.services import recruiting
from annotation.session.endings import Way, way_of
from annotation.studies.http import study_or_404
from annotation.studies.queries import study_file_name
from completions.writers import emails
from ranking.raters import queries
from ranking.raters.rows import RaterRow

MANAGERS = Needs(reads=Role.MANAGER)
PER_PAGE = 100
HEADS = ("rater", "platform", "participant", "submission", "state", "way", "code", "advice")
MTURK_HEADS = ("HITId", "AssignmentId", "WorkerId", "Approve", "Reject")
"""As Mechanical Turk reads a file of decisions about a batch."""
PARTLY = (Way.PARTIAL, Way.SCREENED_OUT)
FEWEST_FAILED = 2
SHORT_MINUTES = 5
SHORTEST_MESSAGE = 100
"""Characters that Prolific asks of the reason for a rejection."""


class Advice(TextChoices):
    """What to do about the pay of a submission, by the rules of crowd platforms.

    A platform lets work be turned down for few reasons. Prolific: two failed attention checks, or
    one in a task of less than five minutes; never for stopping early, which is paid in part or
    given back.
    """

    APPROVE = "approve", _("Approve")
    LOOK = "look", _("Look, then approve")
    REJECTABLE = "rejectable", _("May be rejected")
    PART = "part", _("Pay in part")
    RETURN = "return", _("Ask to return it")
    WAIT = "wait", _("Not ended")
    SETTLED = "settled", _("Settled")


WHY: dict[Advice, Promise] = {
    Advice.APPROVE: _("The session is complete."),
    Advice.LOOK: _("Complete, but left out of the analysis. Platforms still expect it to be paid."),
    Advice.REJECTABLE: _("Failed as many attention checks as platforms ask for a rejection."),
    Advice.PART: _(
        "Stopped early, left out most pairs or did not pass the screening: paid in part, never "
        "rejected."
    ),
    Advice.RETURN: _("Ended before any answer counted."),
    Advice.WAIT: _("No code was shown yet."),
    Advice.SETTLED: _("The platform says how it ended."),
}
THANKS = _("Thank you for taking part. Your answers arrived, and your work is approved.")
MESSAGES: dict[Advice, Promise] = {
    Advice.APPROVE: THANKS,
    Advice.LOOK: THANKS,
    Advice.REJECTABLE: _(
        "Thank you for your time. During the study, some pairs checked whether both replies were "
        "read. More of them were missed than the study allows, so we cannot use your answers. "
        "Please write to us if you think that this is a mistake."
    ),
    Advice.PART: _(
        "Thank you for your time. You did a part of the session, which is fine. Please return "
        "the submission: we pay the part that you did as a bonus."
    ),
    Advice.RETURN: _(
        "Thank you for your interest. You left before the first answer, so please return the "
        "submission. This does not affect your approval rate."
    ),
}


def advice_on(
    *, state: str, way: Way | None, n_failed: int, is_excluded: bool, minutes: int
) -> Advice:
    """Return what to do about the pay of a submission; ``n_failed`` are attention checks."""
    if state != SubmissionState.ACTIVE:
        return Advice.SETTLED
    if way is None:
        return Advice.WAIT
    if way != Way.COMPLETE:
        return Advice.PART if way in PARTLY else Advice.RETURN
    if n_failed >= (1 if minutes < SHORT_MINUTES else FEWEST_FAILED):
        return Advice.REJECTABLE
    return Advice.LOOK if is_excluded else Advice.APPROVE


@dataclass(frozen=True)
class Payment:
    """A submission with what is known of its work; ``n_checks`` are attention checks.

    ``row`` is about all that its rater did; None while that is nothing, or not measured yet.
    """

    submission: PlatformSubmission
    way: Way | None
    advice: Advice
    row: RaterRow | None
    n_checks: int
    n_failed: int

    @property
    def why(self) -> Promise:
        """Why."""
        return WHY[self.advice]

    @property
    def message(self) -> "Promise | str":
        """What to write to the person; nothing where nothing is to be said."""
        return MESSAGES.get(self.advice, "")

    @property
    def can_act(self) -> bool:
        """Whether Prolific can be told what to do."""
        is_there = self.submission.rater.platform == Platform.PROLIFIC
        is_real = not self.submission.rater.is_simulated and bool(self.submission.session_id)
        return is_there and is_real and self.advice not in (Advice.SETTLED, Advice.WAIT)

    @classmethod
    def of(
        cls,
        submission: PlatformSubmission,
        row: RaterRow | None,
        checks: Sequence[CheckAnswer],
        minutes: int,
    ) -> "Payment":
        """Say what to do about a submission."""
        way, n_failed = way_of(submission), sum(not check.is_passed for check in checks)
        advice = advice_on(
            state=submission.state,
            way=way,
            n_failed=n_failed,
            is_excluded=raters.is_excluded(submission.rater),
            minutes=minutes,
        )
        return cls(submission, way, advice, row, len(checks), n_failed)

    def cells(self) -> tuple[Cell, ...]:
        """Return the cells of a download; it names people to the platform, and to nobody else."""
        one, rater = self.submission, self.submission.rater
        return (
            *(rater.code, rater.platform, rater.external_id, one.session_id, one.state),
            *(self.way or "", one.code, self.advice.value),
        )

    def mturk_cells(self) -> tuple[Cell, ...]:
        """Return the cells of a row that Mechanical Turk reads."""
        is_approved = "X" if self.advice in (Advice.APPROVE, Advice.LOOK) else ""
        one = self.submission
        return one.ids.get("hitId", ""), one.session_id, one.rater.external_id, is_approved, ""


def payments_of(study: Study) -> list[Payment]:
    """Return every submission of a platform, the newest first, with what to do about it."""
    now, minutes = timezone.now(), session_minutes(study)
    by_rater = {row.rater.pk: row for row in queries.shown_raters(study, now=now).rows}
    checks = attention_checks(study, as_of=now)
    found = PlatformSubmission.objects.filter(rater__study=study)
    found = found.exclude(rater__platform=Platform.GUEST).select_related("rater")
    found = found.prefetch_related(raters.decisions("rater__exclusions", as_of=now))
    payments = []
    for one in found.order_by("-opened_at", "-pk"):
        one.rater.study = study  # its file is long, and the same for all
        left = checks.get(one.rater_id, [])  # those after it are of a newer submission
        within = [check for check in left if check.at >= one.opened_at]
        checks[one.rater_id] = [check for check in left if check.at < one.opened_at]
        payments.append(Payment.of(one, by_rater.get(one.rater_id), within, minutes))
    return payments


class PlacesForm(forms.Form):
    """How many people may take part."""

    n_places = forms.IntegerField(label=_("Places"), min_value=1, max_value=100_000)


class DraftForm(PlacesForm):
    """What a draft on Prolific needs besides the study itself."""

    reward = forms.FloatField(
        label=_("Reward for a complete session, in your account's currency"),
        min_value=0.01,
        max_value=1000,
    )


class RejectionForm(forms.Form):
    """Why a submission is turned down, in Prolific's categories and in words to the person."""

    category = forms.ChoiceField(choices=[(one, one) for one in prolific.REJECTIONS])
    message = forms.CharField(
        min_length=SHORTEST_MESSAGE,
        max_length=1000,
        error_messages={"min_length": _("Prolific asks for 100 characters or more.")},
    )


def _page(view: Callable[..., Any]) -> Callable[..., Any]:
    """Let managers in, who may see the ids of platforms, and keep the page out of every cache."""
    return members_only(MANAGERS)(view)


@require_safe
@_page
def payments(request: StaffRequest, study: str) -> HttpResponse:
    """Show each submission with what to do about it."""
    return _show(request, study_or_404(study))


@require_safe
@_page
def payments_csv(request: StaffRequest, study: str) -> StreamingHttpResponse:
    """Download the submissions that are asked for, with the platform's ids."""
    found = study_or_404(study)
    rows = (one.cells() for one in _wanted(request, payments_of(found)))
    return csv_of(request, study_file_name(found, "payments"), HEADS, rows)


@require_safe
@_page
def mturk_csv(request: StaffRequest, study: str) -> StreamingHttpResponse:
    """Download what to approve, as Mechanical Turk reads it."""
    found = study_or_404(study)
    rows = [
        one
        for one in payments_of(found)
        if one.submission.rater.platform == Platform.MTURK and one.advice != Advice.SETTLED
    ]
    cells = (one.mturk_cells() for one in rows)
    return csv_of(request, study_file_name(found, "mturk"), MTURK_HEADS, cells)


@require_POST
@_page
def approve(request: StaffRequest, study: str) -> HttpResponse:
    """Have Prolific approve the submissions that are ticked."""
    keys = read_ticked_keys(request.POST, "submission", most=PER_PAGE)

    def act(found: Study) -> None:
        now = timezone.now()
        n, refused = recruiting.approve(study=found, keys=keys, now=now, by=request.user)
        said = ngettext(
            "%(n)s submission is approved. Prolific pays it within minutes.",
            "%(n)s submissions are approved. Prolific pays them within minutes.",
            n,
        )
        if n or not refused:
            messages.success(request, said % {"n": f"{n:,}"})
        if refused:
            names = {"raters": ", ".join(refused), "why": recruiting.NOT_THEIRS}
            messages.error(request, gettext("Not approved: %(raters)s. %(why)s") % names)

    return _acted(request, study, act)


@require_POST
@_page
def reject(request: StaffRequest, study: str, pk: int) -> HttpResponse:
    """Have Prolific turn a submission down."""
    found = recruiting.open_submission_of(study_or_404(study), pk)
    if found is None:
        raise Http404
    form = RejectionForm(request.POST)
    if not form.is_valid():
        return _show(request, found.rater.study, rejection=(pk, form))

    def act(_study: Study) -> None:
        told = form.cleaned_data
        recruiting.reject(submission=found, now=timezone.now(), by=request.user, **told)
        messages.success(request, gettext("Rejected. The person reads your message on Prolific."))

    return _acted(request, study, act)


@require_POST
@_page
def draft(request: StaffRequest, study: str) -> HttpResponse:
    """Make a draft of the study on Prolific."""
    form = DraftForm(request.POST)
    if not form.is_valid():
        return _show(request, study_or_404(study), form=form)

    def act(found: Study) -> None:
        recruiting.draft_on_prolific(
            study=found,
            **form.cleaned_data,
            entry=emails.absolute(reverse("annotation:entry", args=[study])),
            now=timezone.now(),
            by=request.user,
        )
        messages.success(
            request, gettext("The draft is on Prolific. Look at it there, and publish it.")
        )

    return _acted(request, study, act)


@require_POST
@_page
def places(request: StaffRequest, study: str) -> HttpResponse:
    """Change how many people may take part."""
    form = PlacesForm(request.POST)
    if not form.is_valid():
        return _show(request, study_or_404(study), form=form)

    def act(found: Study) -> None:
        n, now = form.cleaned_data["n_places"], timezone.now()
        recruiting.set_places(there=_there_or_404(found), n_places=n, now=now, by=request.user)
        messages.success(request, gettext("The places are changed."))

    return _acted(request, study, act)


@require_POST
@_page
def read(request: StaffRequest, study: str) -> HttpResponse:
    """Read from Prolific how submissions ended."""

    def act(found: Study) -> None:
        n = recruiting.read_states(there=_there_or_404(found), now=timezone.now())
        said = ngettext("%(n)s submission changed.", "%(n)s submissions changed.", n)
        messages.success(request, said % {"n": f"{n:,}"})

    return _acted(request, study, act)


def _acted(request: StaffRequest, study: str, act: Callable[[Study], None]) -> HttpResponse:
    """Do what Prolific is asked for, say what came of it, and show the page again."""
    found = study_or_404(study)
    if not prolific.is_on():
        raise Http404
    try:
        act(found)
    except (prolific.ProlificError, recruiting.NotOnProlificError) as error:
        messages.error(request, str(error))
    return redirect("raters:payments", study)


def _show(
    request: StaffRequest,
    study: Study,
    *,
    form: PlacesForm | None = None,
    rejection: tuple[int, RejectionForm] | None = None,
) -> HttpResponse:
    rows = payments_of(study)
    there = PlatformStudy.objects.filter(study=study).first()
    page = Paginator(_wanted(request, rows), PER_PAGE).get_page(request.GET.get("page"))
    parts = {
        "study": study,
        "page": page,
        "n_all": len(rows),
        "show": request.GET.get("show", ""),
        "kinds": [(one, one.label, sum(row.advice == one for row in rows)) for one in Advice],
        "has_mturk": any(row.submission.rater.platform == Platform.MTURK for row in rows),
        "is_on": prolific.is_on() and not study.is_simulated,
        "there": there,
        "form": form or _form(there),
        "rejection": rejection,
        "categories": prolific.REJECTIONS,
    }
    status = 422 if form or rejection else 200
    return render(request, "console/raters/payments.html", parts, status=status)


def _form(there: PlatformStudy | None) -> PlacesForm:
    return DraftForm() if there is None else PlacesForm(initial={"n_places": there.n_places})


def _wanted(request: StaffRequest, rows: list[Payment]) -> list[Payment]:
    show = request.GET.get("show", "")
    if show not in {"", *Advice}:
        raise Http404
    return [row for row in rows if show in ("", row.advice)]


def _there_or_404(study: Study) -> PlatformStudy:
    found = PlatformStudy.objects.filter(study=study).first()
    if found is None:
        raise Http404
    return found
