"""The loop: a pair, an answer, the next pair."""

import uuid

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation import blinded, forms, http, selectors, services
from annotation.blinded import Comparison, Progress
from annotation.choices import RaterState
from annotation.http import RaterRequest, rater_required
from annotation.models import Lease
from annotation.views.ending import show_end
from completions.choices import LeaseOutcome


@require_GET
@rater_required
def judge(request: RaterRequest) -> HttpResponse:
    """Show the pair that this rater should judge now."""
    return _show_next(request)


@require_POST
@rater_required
def submit(request: RaterRequest, token: uuid.UUID) -> HttpResponse:
    """Keep the posted answer and go on to the next pair."""
    form = forms.answer_form(request.POST, study=request.page)
    if not form.is_valid():
        return _show_again(request, token, form)
    try:
        services.submit_judgment(
            token=token,
            rater=request.rater,
            answer=form.answer(),
            hidden_ms=form.cleaned_data["hidden_ms"],
            now=timezone.now(),
        )
    except services.LeaseNotFoundError:
        return _say_gone(request)
    return _go_on(request, saved=_("Your answer is saved."))


@require_POST
@rater_required
def skip(request: RaterRequest, token: uuid.UUID) -> HttpResponse:
    """Leave this pair out, with the reason given, and go on to the next."""
    form = forms.Skip(request.POST)
    if not form.is_valid():
        return _show_again(request, token, forms.answer_form(study=request.page))
    try:
        services.skip_comparison(
            token=token,
            rater=request.rater,
            reason=form.cleaned_data["reason"],
            now=timezone.now(),
        )
    except services.LeaseNotFoundError:
        return _say_gone(request)
    return _go_on(request, saved=_("Skipped."))


@require_GET
@rater_required
def last(request: RaterRequest) -> HttpResponse:
    """Show the last judged pair again with the answer given, to be changed or left."""
    lease = selectors.last_judged_lease(request.rater)
    if lease is None or request.rater.state != RaterState.ACTIVE:
        return http.go(request, reverse("annotation:judge", args=[request.page.slug]))
    form = forms.answer_form(study=request.page, answer=blinded.answer_on_screen(lease))
    return _show(request, lease, form)


def _go_on(request: RaterRequest, *, saved: str) -> HttpResponse:
    """Answer htmx with the next pair at once, and a browser with the way to it."""
    if request.htmx:
        return _show_next(request, saved=saved)
    return http.SeeOther(reverse("annotation:judge", args=[request.page.slug]))


def _show_next(request: RaterRequest, *, saved: str = "") -> HttpResponse:
    if selectors.is_excluded(request.rater):
        return show_end(request)
    try:
        lease = services.lease_next_comparison(rater=request.rater, now=timezone.now())
    except services.RaterEndedError:
        return show_end(request)
    except services.StudyNotOpenError:
        finish = reverse("annotation:stop", args=[request.page.slug])
        return http.say_not_open(request, request.rater.study, way_on=(_("Finish here"), finish))
    if lease is None:
        return show_end(request)
    form = forms.answer_form(study=request.page)
    return _show(request, selectors.lease_to_show(lease), form, saved=saved)


def _show_again(request: RaterRequest, token: uuid.UUID, form: forms.AnswerForm) -> HttpResponse:
    """Show the same pair with what was typed and what is missing."""
    lease = selectors.lease_of(request.rater, token=token)
    if lease is None:
        return _say_gone(request)
    return _show(request, lease, form, status=422)


def _show(
    request: RaterRequest,
    lease: Lease,
    form: forms.AnswerForm,
    *,
    saved: str = "",
    status: int = 200,
) -> HttpResponse:
    progress = Progress.of_rater(request.rater)
    is_revision = lease.outcome == LeaseOutcome.SUBMITTED
    numbers = {"number": progress.number, "total": progress.total}
    context = {
        "study": request.page,
        "progress": progress,
        "comparison": Comparison.from_lease(lease),
        "form": form,
        "heading": _("Your last pair")
        if is_revision
        else _("Pair %(number)d of %(total)d") % numbers,
        "is_revision": is_revision,
        "skip_reasons": forms.SKIP_REASONS,
        "saved": saved,
    }
    return http.render_fragment(request, "annotation/_judge.html", context, status=status)


def _say_gone(request: RaterRequest) -> HttpResponse:
    return http.say(
        request,
        request.page,
        heading=_("This pair is not yours to judge"),
        text=_("The address belongs to somebody else, or to no pair. Your answers are all kept."),
        way_on=(_("Back to your pairs"), reverse("annotation:judge", args=[request.page.slug])),
        status=404,
    )
