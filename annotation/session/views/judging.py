"""The loop: a pair, an answer or a report, the next pair."""

import uuid

from django.http import HttpResponse, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from access.limits import MINUTE
from annotation.assignment import slots
from annotation.choices import ReportKind, StudyState
from annotation.judging.services import judging, leasing
from annotation.models import Lease
from annotation.quality.services import reporting
from annotation.raters.visit_time import visit_time
from annotation.session import blinded, forms, http
from annotation.session.blinded import ComparisonPage, SessionProgress
from annotation.session.forms import ReportForm
from annotation.session.http import (
    CredentialRequest,
    RaterRequest,
    credential_required,
    rater_required,
)
from annotation.session.views.ending import is_over, show_end
from annotation.studies import queries as study_queries
from annotation.studies.verdicts import Answer
from completions.choices import LeaseOutcome

SAVED = gettext_lazy("Your answer is saved.")


@require_safe
@rater_required
def judge(request: RaterRequest) -> HttpResponse:
    """Show the pair that this rater should judge now."""
    return _show_next(request)


@require_POST
@credential_required
def submit(request: CredentialRequest, token: uuid.UUID) -> HttpResponse:
    """Keep the posted answer and go on to the next pair."""
    form = _form(request, request.POST)
    if not form.is_valid():
        return _show_again(request, token, form)
    noted = form.cleaned_data["opened_earlier"]
    submission = judging.Submission(
        token,
        form.answer(),
        form.cleaned_data["hidden_ms"],
        opened_earlier=None if noted is None else bool(noted),
    )
    try:
        lease = judging.submit_and_assign_next(
            credential=request.credential, submission=submission, now=visit_time(request)
        )
    except slots.LeaseNotFoundError:
        return http.say_not_yours(request)
    except (judging.TooManyChangesError, judging.StudyClosedError) as refusal:
        return _refuse_change(request, token, form, refusal)
    if lease is None or not request.htmx:
        return http.go(request, "judge", request.page.slug)
    answer = show_pair(request, lease, saved=str(SAVED))
    answer["HX-Replace-Url"] = reverse("annotation:judge", args=[request.page.slug])
    return answer


@require_safe
@credential_required
def foreseen(request: CredentialRequest, token: uuid.UUID) -> HttpResponse:
    """Show the pair that would follow an answer to this one, if that can be said; nothing changes.

    A page far from the site fetches it while its rater answers, and shows it from the press until
    the answer is acknowledged (ADR-0005).
    """
    try:
        lease = judging.foresee_next(
            credential=request.credential, token=token, now=visit_time(request)
        )
    except slots.LeaseNotFoundError:
        lease = None
    return HttpResponse(status=204) if lease is None else show_pair(request, lease)


@require_POST
@rater_required
def skip(request: RaterRequest, token: uuid.UUID) -> HttpResponse:
    """Leave this pair out, with the reason given, and show the next.

    A conversation that upsets the rater is reported, and never shown to them again.
    """
    form = forms.Skip(request.POST)
    if not form.is_valid():
        return _show_again(request, token, _form(request))
    if form.cleaned_data["reason"] == forms.UPSETTING:
        return _report(request, token, ReportKind.UPSET)
    try:
        leasing.skip_comparison(
            token=token,
            rater=request.rater,
            reason=form.cleaned_data["reason"],
            now=visit_time(request),
        )
    except slots.LeaseNotFoundError:
        return http.say_not_yours(request)
    return _next_page(request, saved=_("Skipped."))


@require_safe
@rater_required
def last(request: RaterRequest) -> HttpResponse:
    """Show the last judged pair again with the answer given, to be changed or left."""
    lease = study_queries.last_judged_lease(request.rater)
    if lease is None or is_over(request) or request.rater.study.state == StudyState.CLOSED:
        return http.go(request, "judge", request.page.slug)
    form = _form(request, answer=blinded.answer_on_screen(lease))
    return show_pair(request, lease, form)


def _form(
    request: CredentialRequest, data: QueryDict | None = None, *, answer: Answer | None = None
) -> forms.Preference | forms.RubricForm | forms.Likert:
    order = request.page.chip_order(request.credential.code)
    of_protocol = forms.FORMS[request.page.protocol]
    return of_protocol(data, study=request.page, answer=answer, chip_order=order)


def _next_page(request: RaterRequest, *, saved: str) -> HttpResponse:
    """Answer htmx with the next pair at once, and a browser with the way to it."""
    if request.htmx:
        return _show_next(request, saved=saved)
    return http.SeeOther(reverse("annotation:judge", args=[request.page.slug]))


def _show_next(request: RaterRequest, *, saved: str = "") -> HttpResponse:
    try:
        lease = leasing.lease_next_comparison(rater=request.rater, now=visit_time(request))
    except leasing.NotUnderstoodError:
        return http.go(request, "comprehension", request.page.slug)
    except (leasing.RaterEndedError, leasing.StudyNotOpenError):
        lease = None
    if lease is None:
        return _show_halt(request)
    return show_pair(request, lease, saved=saved)


def _show_halt(request: RaterRequest) -> HttpResponse:
    """Say why there is no next pair: the study rests, or the rater's part is over."""
    request.rater = study_queries.rater_now(request.rater)
    study = request.rater.study
    if study.state != StudyState.OPEN and not is_over(request):
        finish = reverse("annotation:stop", args=[request.page.slug])
        return http.say_not_open(request, study, way_on=(_("Finish here"), finish))
    return show_end(request)


def _refuse_change(
    request: CredentialRequest, token: uuid.UUID, form: forms.AnswerForm, refusal: Exception
) -> HttpResponse:
    """Say that the study is closed, or show the same pair to be sent again in a minute."""
    if isinstance(refusal, judging.StudyClosedError):
        return http.say(
            request,
            request.page,
            status=409,
            heading=_("This study is closed"),
            text=_("Your change is not saved: the answer you sent before stays. Thank you."),
            way_on=http.way_back(request.page.slug),
        )
    text = _("You changed this answer very often. Wait a minute, then send it again.")
    form.add_error("rationale", text)
    answer = _show_again(request, token, form, status=429)
    answer["Retry-After"] = str(MINUTE)
    return answer


def _show_again(
    request: CredentialRequest, token: uuid.UUID, form: forms.AnswerForm, *, status: int = 422
) -> HttpResponse:
    """Show the same pair with what was typed and what is missing."""
    lease = study_queries.lease_of(
        study=request.page.slug, rater=request.credential.code, token=token
    )
    if lease is None:
        return http.say_not_yours(request)
    if lease.comparison.is_erased:  # there is nothing to judge any more
        return http.go(request, "judge", request.page.slug)
    return show_pair(request, lease, form, status=status)


def show_pair(
    request: CredentialRequest,
    lease: Lease,
    form: forms.AnswerForm | None = None,
    *,
    saved: str = "",
    status: int = 200,
    comparison: ComparisonPage | None = None,
) -> HttpResponse:
    """Show the pair of a lease, or what an audit puts in its place; all of it is blinded.

    ``form`` has what was typed or answered before; without it the fields are empty. What was
    just saved can be undone for some seconds.
    """
    progress = SessionProgress.of_lease(lease)
    comparison = comparison or ComparisonPage.from_lease(lease)
    is_revision = lease.outcome == LeaseOutcome.SUBMITTED
    every = request.page.break_every
    context = {
        "study": request.page,
        "progress": progress,
        "comparison": comparison,
        "is_pair": bool(comparison.message_b),
        "form": form,
        "chip_order": request.page.chip_order(lease.rater.code),
        "skip_reasons": forms.SKIP_REASONS,
        "heading": _heading(comparison, progress, is_revision=is_revision),
        "is_revision": is_revision,
        "suggests_break": bool(every and progress.done and progress.done % every == 0),
        "saved": saved,
        "can_undo": saved == str(SAVED),
    }
    return http.render_fragment(request, "annotation/_judge.html", context, status=status)


def _heading(comparison: ComparisonPage, progress: SessionProgress, *, is_revision: bool) -> str:
    is_pair = bool(comparison.message_b)
    if is_revision:
        return _("Your last pair") if is_pair else _("Your last reply")
    numbers = {"number": progress.number, "total": progress.total}
    if progress.is_screening:
        return _("Warm-up %(number)d of %(total)d") % numbers
    shown = _("Pair %(number)d of %(total)d") if is_pair else _("Reply %(number)d of %(total)d")
    return shown % numbers


@require_POST
@rater_required
def report(request: RaterRequest, token: uuid.UUID) -> HttpResponse:
    """Store the report of a conversation that should not be shown, and say so."""
    form = ReportForm(request.POST)
    if not form.is_valid():
        return _say_unclear(request)
    return _report(request, token, ReportKind.CONTENT, form.cleaned_data["text"])


def _report(
    request: RaterRequest, token: uuid.UUID, kind: ReportKind, text: str = ""
) -> HttpResponse:
    """Store what a rater says of a conversation, which leaves their screen for good."""
    try:
        report = reporting.report_context(
            token=token, rater=request.rater, kind=kind, text=text, now=visit_time(request)
        )
    except slots.LeaseNotFoundError:
        return http.say_not_yours(request)
    context = {
        "study": request.page,
        "heading": _("Thank you for telling us"),
        "is_upset": kind == ReportKind.UPSET,
        "is_conversation": blinded.is_conversation(report.context),
    }
    return http.render_fragment(request, "annotation/_reported.html", context)


def _say_unclear(request: RaterRequest) -> HttpResponse:
    return http.say(
        request,
        request.page,
        status=422,
        heading=_("We couldn’t read your report"),
        text=_("Nothing was stored. Please keep your words below 1000 characters."),
        way_on=http.way_back(request.page.slug),
    )
