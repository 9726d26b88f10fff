"""Before the first pair: entry, consent, how it works, and the way back in."""

from dataclasses import asdict
from typing import Any

from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import entry_links, forms, http, services
from annotation.blinded import Practice, StudyPage
from annotation.choices import StudyState
from annotation.http import RaterRequest, rater_page, rater_required
from annotation.models import Rater


@require_GET
@rater_page
def entry(request: HttpRequest, study: str) -> HttpResponse:
    """Ask a visitor for consent; send somebody who is enrolled on to their pairs."""
    found = http.study_or_404(study)
    page = StudyPage.from_study(found)
    try:
        arrival = entry_links.read_arrival(request.GET)
    except entry_links.EntryLinkError:
        return http.say(
            request,
            page,
            heading=_("This link is not complete"),
            text=_("Your platform should have put your id into it. Open the study from there."),
            status=400,
        )
    if (rater := http.recognised(request, found)) is not None and _is_same(rater, arrival):
        return http.go(request, reverse("annotation:judge", args=[study]))
    if found.state != StudyState.OPEN:
        return http.say_not_open(request, found)
    form = forms.Consent(initial={"entry": http.sign_entry(asdict(arrival), study=found)})
    context = {"study": page, "form": form, "is_preview": arrival.is_preview}
    return http.render_fragment(request, "annotation/_consent.html", context)


@require_POST
@rater_page
def consent(request: HttpRequest, study: str) -> HttpResponse:
    """Enrol a visitor who agrees; store nothing about one who declines."""
    found = http.study_or_404(study)
    form = forms.Consent(request.POST)
    if not form.is_valid():
        return http.SeeOther(reverse("annotation:entry", args=[study]))
    if form.cleaned_data["choice"] == "decline":
        return _say_declined(request, StudyPage.from_study(found))
    try:
        rater = services.enter_study(
            study=found,
            entry=_entry(http.unsign_entry(form.cleaned_data["entry"], study=found)),
            utc_offset_minutes=form.cleaned_data["utc_offset_minutes"],
            now=timezone.now(),
        )
    except signing.BadSignature:
        return http.SeeOther(reverse("annotation:entry", args=[study]))
    except services.StudyNotOpenError:
        return http.say_not_open(request, found)
    return http.remember(http.SeeOther(reverse("annotation:how", args=[study])), request, rater)


@require_http_methods(["GET", "HEAD", "POST"])
@rater_required
def how(request: RaterRequest) -> HttpResponse:
    """Explain the question; after a practice choice, show a worked answer."""
    posted = request.POST if request.method == "POST" else None
    form = forms.answer_form(posted, study=request.page, is_practice=True)
    chosen = form.is_valid()
    practice = Practice.of_study(request.rater.study)
    context = {
        "study": request.page,
        "comparison": practice.comparison,
        "form": form,
        "worked_answer": practice.worked_answer if chosen else "",
    }
    status = 200 if chosen or posted is None else 422
    return http.render_fragment(request, "annotation/_how.html", context, status=status)


@require_GET
@rater_page
def resume(request: HttpRequest, study: str, link: str) -> HttpResponse:
    """Let a guest in again by the private link."""
    found = http.study_or_404(study)
    rater = http.rater_of_badge(link, study=found, use="link")
    if rater is None:
        return http.say(
            request,
            StudyPage.from_study(found),
            heading=_("This link does not open anything"),
            text=_("Perhaps a piece of it was lost on the way. Copy the whole link once more."),
            status=404,
        )
    return http.remember(http.SeeOther(reverse("annotation:judge", args=[study])), request, rater)


def _is_same(rater: Rater, arrival: entry_links.Arrival) -> bool:
    """Say whether the visitor is the rater whose cookie the browser has."""
    came = (arrival.platform, arrival.external_id)
    return not arrival.external_id or came == (rater.platform, rater.external_id)


def _entry(fields: dict[str, Any]) -> services.Entry:
    arrival = entry_links.Arrival(**fields)
    return services.Entry(arrival.platform, arrival.external_id, arrival.session)


def _say_declined(request: HttpRequest, page: StudyPage) -> HttpResponse:
    return http.say(
        request,
        page,
        heading=_("Thank you for reading"),
        text=_("You declined, and nothing about you was stored. You can close this page."),
        status=200,
    )
