"""Before the first pair: entry, consent, how it works, questions on it, and the way back in."""

import logging
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from access.limits import seconds_to_wait
from annotation import entry_links, forms, http, selectors, services
from annotation.blinded import Practice, StudyPage
from annotation.choices import RaterState
from annotation.endings import Ending, Way
from annotation.http import RaterRequest, rater_known, rater_page
from annotation.models import Rater, Study
from annotation.visit import is_simulated_visit, visit_time

logger = logging.getLogger(__name__)

REFUSED = (services.StudyNotOpenError, services.WrongPlatformError, services.StudyFullError)


@require_safe
@rater_page
def entry(request: HttpRequest, study: str) -> HttpResponse:
    """Ask a visitor for consent; send somebody who is enrolled on to their pairs."""
    found = http.study_or_404(study)
    try:
        arrival = entry_links.read_arrival(request.GET)
    except entry_links.EntryLinkError as error:
        logger.warning("a link into %s was refused: no id of %s", study, error.platform)
        return _say_open_from_platform(request, study, platform=error.platform)
    if (rater := http.recognised(request, found)) is not None and _is_same(rater, arrival):
        return http.go(request, reverse("annotation:judge", args=[study]))
    try:
        _admit(request, found, arrival)
    except REFUSED as refusal:
        return _say_refused(request, found, refusal, platform=arrival.platform)
    form = forms.Consent(initial={"entry": http.sign_entry(asdict(arrival), study=found)})
    page = http.study_page(request, study)
    context = {"study": page, "form": form, "is_preview": arrival.is_preview}
    return http.render_fragment(request, "annotation/_consent.html", context)


@require_POST
@rater_page
def consent(request: HttpRequest, study: str) -> HttpResponse:
    """Enrol a visitor who agrees; store nothing about one who declines."""
    wait = _seconds_to_wait(request, "entry", settings.HEART_ENTRY_RATE)
    if wait is None:
        return _answer_consent(request, http.study_or_404(study))
    return http.say_slow_down(
        request,
        http.study_page(request, study),
        heading=_("Very many people are coming in at the moment"),
        text=_("Wait a minute, go back, and send it again. Nothing was stored yet."),
        wait=wait,
    )


def _answer_consent(request: HttpRequest, found: Study) -> HttpResponse:
    study, form = found.slug, forms.Consent(request.POST)
    try:
        form.full_clean()
        arrival = _arrival(http.unsign_entry(form.cleaned_data.get("entry", ""), study=found))
    except signing.BadSignature:
        return http.SeeOther(reverse("annotation:entry", args=[study]))
    if not form.is_valid():
        return http.SeeOther(reverse("annotation:entry", args=[study]))
    if form.cleaned_data["choice"] == "decline":
        return _say_goodbye(request, found, Way.NO_CONSENT, platform=arrival.platform)
    offset = form.cleaned_data["utc_offset_minutes"]
    try:
        rater = _enter(request, found, arrival, utc_offset_minutes=offset)
    except REFUSED as refusal:
        return _say_refused(request, found, refusal, platform=arrival.platform)
    return http.remember(http.SeeOther(reverse("annotation:how", args=[study])), request, rater)


@require_http_methods(["GET", "HEAD", "POST"])
@rater_known
def how(request: RaterRequest) -> HttpResponse:
    """Explain the question; after a practice choice, show a worked answer."""
    if request.rater.state != RaterState.ACTIVE:
        return http.go(request, reverse("annotation:done", args=[request.page.slug]))
    posted = request.POST if request.method == "POST" else None
    form = forms.answer_form(posted, study=request.page, is_practice=True)
    chosen = form.is_valid()
    practice = Practice.of_study(request.rater.study)
    context = {
        "study": request.page,
        "comparison": practice.comparison,
        "is_pair": True,
        "form": form,
        "worked_answer": practice.worked_answer if chosen else "",
    }
    status = 200 if chosen or posted is None else 422
    return http.render_fragment(request, "annotation/_how.html", context, status=status)


@require_safe
@rater_page
def resume(request: HttpRequest, study: str, link: str) -> HttpResponse:
    """Let a guest in again by the private link."""
    found = http.study_or_404(study)
    rater = http.rater_of_badge(link, study=found, use="link")
    if rater is None:
        return _say_wrong_link(request, http.study_page(request, study))
    return http.remember(http.SeeOther(reverse("annotation:judge", args=[study])), request, rater)


def _say_wrong_link(request: HttpRequest, page: StudyPage) -> HttpResponse:
    """Count the wrong link for its sender's address; a right one is let in whatever came before."""
    wait = _seconds_to_wait(request, "wrong-link", settings.HEART_WRONG_LINK_RATE)
    if wait is not None:
        return http.say_slow_down(
            request,
            page,
            heading=_("Too many links that open nothing"),
            text=_("Wait a minute, then copy the whole link once more."),
            wait=wait,
        )
    return http.say(
        request,
        page,
        heading=_("This link does not open anything"),
        text=_("Perhaps a piece of it was lost on the way. Copy the whole link once more."),
        status=404,
    )


def _seconds_to_wait(request: HttpRequest, what: str, most: int) -> int | None:
    return None if is_simulated_visit(request) else seconds_to_wait(request, what, most=most)


def _is_same(rater: Rater, arrival: entry_links.Arrival) -> bool:
    """Say whether the visitor is the rater whose cookie the browser has."""
    came = (arrival.platform, arrival.external_id)
    return not arrival.external_id or came == (rater.platform, rater.external_id)


def _arrival(fields: dict[str, Any]) -> entry_links.Arrival:
    return entry_links.Arrival(**fields)


def _entry(arrival: entry_links.Arrival) -> services.Entry:
    return services.Entry(arrival.platform, arrival.external_id, arrival.session)


def _admit(request: HttpRequest, study: Study, arrival: entry_links.Arrival) -> None:
    """Raise one of ``REFUSED`` unless the visitor may enter, or is enrolled already."""
    if not services.is_enrolled(study=study, entry=_entry(arrival)):
        services.check_admission(
            study=study, platform=arrival.platform, is_simulated=is_simulated_visit(request)
        )


def _enter(
    request: HttpRequest,
    study: Study,
    arrival: entry_links.Arrival,
    *,
    utc_offset_minutes: int | None,
) -> Rater:
    return services.enter_study(
        study=study,
        entry=_entry(arrival),
        utc_offset_minutes=utc_offset_minutes,
        now=visit_time(request),
        writer=http.recognised_writer(request, study),
        is_simulated=is_simulated_visit(request),
    )


def _say_refused(
    request: HttpRequest, study: Study, refusal: Exception, *, platform: str
) -> HttpResponse:
    if isinstance(refusal, services.StudyFullError):
        return _say_goodbye(request, study, Way.FULL, platform=platform, status=409)
    if isinstance(refusal, services.WrongPlatformError):
        wanted = selectors.content_of(study)["crowd"]["platform"].upper()
        return _say_open_from_platform(request, study.slug, platform=wanted)
    return http.say_not_open(request, study)


def _say_open_from_platform(request: HttpRequest, slug: str, *, platform: str) -> HttpResponse:
    """Tell the visitor how to come in, and whoever runs the study what its link has to be."""
    link = f"{reverse('annotation:entry', args=[slug])}?{entry_links.FILLED_IN[platform]}"
    note = _("If you run this study, give the platform a link that ends like this: %(link)s")
    context = {
        "study": http.study_page(request, slug),
        "heading": _("This link is not complete"),
        "text": _("It is missing your participant ID. Please open the study from your platform."),
        "note": note % {"link": link},
    }
    return http.render_fragment(request, "annotation/_message.html", context, status=400)


def _say_goodbye(
    request: HttpRequest, study: Study, way: Way, *, platform: str, status: int = 200
) -> HttpResponse:
    """Show the last page to somebody of whom nothing is stored, with the code of that way."""
    ending = Ending.of_visitor(study, way, platform=platform)
    context = {"study": http.study_page(request, study.slug), "ending": ending}
    return http.render_fragment(request, "annotation/_done.html", context, status=status)
