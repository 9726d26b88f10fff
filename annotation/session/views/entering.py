"""Before the first pair: entry, consent, how it works, questions on it, and the way back in."""

import logging
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from django.conf import settings
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from access.limits import seconds_to_wait
from annotation.choices import Platform, RaterStage, RaterState, StudyState
from annotation.judging.services import leasing
from annotation.models import Rater, Study
from annotation.raters import entry_links
from annotation.raters.consent import consent_lines
from annotation.raters.entry_links import Entry
from annotation.raters.services import broken_links, entering, questions
from annotation.raters.visit_time import is_simulated_visit, visit_time
from annotation.session import blinded, forms, http
from annotation.session.blinded import ComparisonPage, StudyPage
from annotation.session.endings import Ending, Way
from annotation.session.forms import Comprehension
from annotation.session.http import RaterRequest, rater_known, rater_page
from annotation.studies import http as study_http
from annotation.studies import queries as study_queries

logger = logging.getLogger(__name__)

RETRY_S = 120
NOT_OPEN = {StudyState.PAUSED: Way.PAUSED, StudyState.CLOSED: Way.CLOSED}
"""How it ends for somebody whom a platform sends to a study that was open before."""
REFUSED = (
    entering.BoundElsewhereError,
    leasing.StudyNotOpenError,
    entering.WrongPlatformError,
    entering.StudyFullError,
)


@require_safe
@rater_page
def entry(request: HttpRequest, study: str) -> HttpResponse:
    """Ask a visitor for consent; send somebody who is enrolled on to their pairs."""
    found = study_http.study_or_404(study)
    try:
        entry = _read_entry(request, found)
    except (entry_links.EntryLinkError, entry_links.KeysAwayError) as error:
        return _say_link_refused(request, found, error)
    if (rater := http.recognised(request, found)) is not None and _is_same(rater, entry):
        return _next_page(request, rater, entry)
    try:
        known = entering.check_arrival(
            study=found, entry=entry, is_simulated=is_simulated_visit(request)
        )
    except REFUSED as refusal:
        return _say_refused(request, found, refusal, platform=entry.platform)
    if known is not None and entry.is_signed:
        return http.remember(_next_page(request, known, entry), request, known)
    form = forms.ConsentForm(initial={"entry": http.sign_entry(asdict(entry), study=found)})
    context = {
        "study": http.study_page(request, study),
        "lines": consent_lines(found, platform=entry.platform),
        "form": form,
        "is_preview": entry.is_preview,
    }
    return http.render_fragment(request, "annotation/_consent.html", context)


@require_POST
@rater_page
def consent(request: HttpRequest, study: str) -> HttpResponse:
    """Enrol a visitor who agrees; store nothing about one who declines."""
    wait = _seconds_to_wait(request, "entry", settings.HEART_ENTRY_RATE)
    if wait is None:
        return _answer_consent(request, study_http.study_or_404(study))
    return _say_slow_down(
        request,
        http.study_page(request, study),
        heading=_("Many people are arriving right now"),
        text=_("Wait a minute, go back and try again. Nothing has been stored yet."),
        wait=wait,
    )


def _answer_consent(request: HttpRequest, found: Study) -> HttpResponse:
    study, form = found.slug, forms.ConsentForm(request.POST)
    again = http.SeeOther(reverse("annotation:entry", args=[study]))
    if not form.is_valid():
        return again
    try:
        entry = Entry(**http.unsign_entry(form.cleaned_data["entry"], study=found))
    except signing.BadSignature:
        return again
    is_declined = form.cleaned_data["choice"] == "decline"
    if (rater := http.recognised(request, found)) is not None and _is_same(rater, entry):
        # They agreed in another tab, or went back to the form.
        return _next_page(request, rater, entry, page="withdraw" if is_declined else "how")
    if is_declined:
        return _say_goodbye(request, found, Way.NO_CONSENT, platform=entry.platform)
    return _enter(request, found, entry, form.cleaned_data["utc_offset_minutes"])


@require_http_methods(["GET", "HEAD", "POST"])
@rater_known
def how(request: RaterRequest) -> HttpResponse:
    """Explain the task on a pair for practice; after a choice, show a worked answer and ask."""
    if request.rater.state != RaterState.ACTIVE:
        return http.go(request, "done", request.page.slug)
    posted = request.POST if request.method == "POST" else None
    order = request.page.chip_order(request.credential.code)
    of_protocol = forms.FORMS[request.page.protocol]
    form = of_protocol(posted, study=request.page, is_practice=True, chip_order=order)
    chosen = form.is_valid()
    practice = ComparisonPage.of_practice(request.rater.study)
    context: dict[str, object] = {
        "study": request.page,
        "comparison": practice,
        "is_pair": bool(practice.message_b),
        "form": form,
    }
    if chosen:
        context |= blinded.worked_answer(request.rater.study, form.answer())
        if request.rater.stage == RaterStage.COMPREHENSION:
            context["questions"] = Comprehension(questions=_questions(request))
            context["n_tries"] = request.rater.comprehension_tries
    status = 200 if chosen or posted is None else 422
    return http.render_fragment(request, "annotation/_how.html", context, status=status)


@require_safe
@rater_page
def rubric(request: HttpRequest, study: str) -> HttpResponse:
    """Show the rubric with its examples; a preference study has none to show."""
    page = http.study_page(request, study)
    if page.rubric is None:
        raise Http404
    return http.render_fragment(request, "annotation/_whole_rubric.html", {"study": page})


def _questions(request: RaterRequest) -> Sequence[Mapping[str, Any]]:
    questions: Sequence[Mapping[str, Any]] = study_queries.content_of(request.rater.study)[
        "comprehension"
    ]
    return questions


@require_safe
@rater_page
def resume(request: HttpRequest, study: str, link: str) -> HttpResponse:
    """Let a rater in again by the private link."""
    found = study_http.study_or_404(study)
    rater = http.rater_of_credential(link, study=found, use="link")
    if rater is None:
        return _say_wrong_link(request, http.study_page(request, study))
    return http.remember(http.SeeOther(reverse("annotation:judge", args=[study])), request, rater)


def _say_wrong_link(request: HttpRequest, page: StudyPage) -> HttpResponse:
    """Count the wrong link for its sender's address; a right one is let in whatever came before."""
    wait = _seconds_to_wait(request, "wrong-link", settings.HEART_WRONG_LINK_RATE)
    if wait is not None:
        return _say_slow_down(
            request,
            page,
            heading=_("Too many wrong links"),
            text=_("Wait a minute, then copy the whole link again."),
            wait=wait,
        )
    return http.say(
        request,
        page,
        heading=_("This link doesn’t work"),
        text=_("Part of it may be missing. Please copy the whole link again."),
        status=404,
    )


def _say_slow_down(
    request: HttpRequest, study: StudyPage, *, heading: str, text: str, wait: int
) -> HttpResponse:
    """Ask somebody to come back in ``wait`` seconds: more came than people make."""
    answer = http.say(request, study, status=429, heading=heading, text=text)
    answer["Retry-After"] = str(wait)
    return answer


def _seconds_to_wait(request: HttpRequest, what: str, most: int) -> int | None:
    return None if is_simulated_visit(request) else seconds_to_wait(request, what, most=most)


def _is_same(rater: Rater, entry: Entry) -> bool:
    """Say whether the visitor is the rater whose cookie the browser has."""
    came = (entry.platform, entry.external_id)
    return not entry.external_id or came == (rater.platform, rater.external_id)


def _read_entry(request: HttpRequest, study: Study) -> Entry:
    """Read who comes from the link, or from what their platform signed where the study wants that.

    What this visit's consent form carries, no other's does.

    Raises
    ------
    annotation.raters.entry_links.EntryLinkError
        If the link is not what a platform fills in, or not signed as it has to be.
    annotation.raters.entry_links.KeysAwayError
        If the platform's keys cannot be had now.
    """
    form = secrets.token_urlsafe(16)
    if not study_queries.content_of(study)["crowd"].get("signed_links"):
        return replace(entry_links.read_arrival(request.GET), form=form)
    signed = entry_links.read(
        request.GET, host=request.get_host(), keys_url=settings.HEART_PROLIFIC_KEYS_URL
    )
    return replace(entry_links.read_arrival(signed), form=form, is_signed=True)


def _next_page(
    request: HttpRequest, rater: Rater, entry: Entry, *, page: str = "judge"
) -> HttpResponse:
    """Send a rater on to their pairs, with a submission of their platform opened if it is new."""
    if entry.external_id and request.method != "HEAD":
        own = replace(entry, form=rater.bound_by)
        entering.come_back(
            rater=rater, entry=own, now=visit_time(request), is_simulated=rater.is_simulated
        )
    return http.go(request, page, rater.study.slug)


def _enter(
    request: HttpRequest, study: Study, entry: Entry, utc_offset_minutes: int | None
) -> HttpResponse:
    try:
        rater = entering.enter_study(
            study=study,
            entry=entry,
            utc_offset_minutes=utc_offset_minutes,
            now=visit_time(request),
            writer=http.recognised_writer(request, study),
            is_simulated=is_simulated_visit(request),
        )
    except REFUSED as refusal:
        return _say_refused(request, study, refusal, platform=entry.platform)
    answer = http.SeeOther(reverse("annotation:how", args=[study.slug]))
    return http.remember(answer, request, rater)


def _say_refused(
    request: HttpRequest, study: Study, refusal: Exception, *, platform: str
) -> HttpResponse:
    if isinstance(refusal, entering.BoundElsewhereError):
        return _say_bound_elsewhere(request, study, refusal)
    if isinstance(refusal, entering.StudyFullError):
        return _say_goodbye(request, study, Way.FULL, platform=platform, status=409)
    if isinstance(refusal, entering.WrongPlatformError):
        required = study_queries.content_of(study)["crowd"]["platform"].upper()
        _count_failed_arrival(request, study, required)
        return _say_open_from_platform(request, study.slug, platform=required)
    if platform != Platform.GUEST and (way := NOT_OPEN.get(StudyState(study.state))):
        return _say_goodbye(request, study, way, platform=platform, status=409)
    return http.say_not_open(request, study)


def _count_failed_arrival(request: HttpRequest, study: Study, platform: str) -> None:
    """Count a broken link when its visitor has the page: nobody waits for it or fails with it."""
    close, now = request.close, visit_time(request)

    def close_and_count() -> None:
        close()
        broken_links.count_failed_arrival(study=study, platform=platform, now=now)

    # The server closes the request with the answer, after it has sent it.
    request.close = close_and_count  # type: ignore[method-assign]


def _say_bound_elsewhere(
    request: HttpRequest, study: Study, refusal: entering.BoundElsewhereError
) -> HttpResponse:
    """Tell somebody who took part by another browser how they get back to their answers.

    Only the browser of who withdrew is told of that: an id alone tells nobody.
    """
    if isinstance(refusal, entering.WithdrawnError):
        known = http.recognised(request, study)
        if known is not None and known.state == RaterState.WITHDRAWN:
            return http.go(request, "done", study.slug)
    page = http.study_page(request, study.slug)
    return http.render_fragment(request, "annotation/_bound.html", {"study": page}, status=409)


def _say_link_refused(request: HttpRequest, study: Study, error: Exception) -> HttpResponse:
    """Say what is wrong with a link, or that its signature cannot be checked now."""
    slug = study.slug
    if isinstance(error, entry_links.EntryLinkError):
        logger.warning("a link into %s was refused: no id of %s", slug, error.platform)
        _count_failed_arrival(request, study, error.platform)
        return _say_open_from_platform(request, slug, platform=error.platform)
    logger.error("the keys for signed links into %s cannot be read: %s", slug, error.__cause__)
    answer = http.say(
        request,
        http.study_page(request, slug),
        heading=_("We cannot check your link at the moment"),
        text=_("Please open the study from your platform once more in a few minutes."),
        status=503,
    )
    answer["Retry-After"] = str(RETRY_S)
    return answer


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


@require_http_methods(["GET", "HEAD", "POST"])
@rater_known
def comprehension(request: RaterRequest) -> HttpResponse:
    """Ask the study's questions; send somebody who is past them on to their pairs."""
    rater = request.rater
    if rater.state != RaterState.ACTIVE or rater.stage != RaterStage.COMPREHENSION:
        return http.go(request, "judge", request.page.slug)
    posted = request.POST if request.method == "POST" else None
    form = Comprehension(posted, questions=_questions(request))
    if not form.is_bound or not form.is_valid():
        return _ask(request, form, status=422 if form.is_bound else 200)
    try:
        wrong = questions.answer_comprehension(
            rater=rater,
            answers=form.answers(),
            now=visit_time(request),
            tries_before={"0": 0, "1": 1}.get(request.POST.get("tries", "")),
        )
    except questions.NothingToAnswerError:
        return http.go(request, "judge", request.page.slug)
    if not wrong:
        return http.go(request, "judge", request.page.slug)
    form.mark_wrong(wrong)
    return _ask(request, form, status=422, heading=_("Not quite"))


def _ask(
    request: RaterRequest, form: Comprehension, *, status: int, heading: str = ""
) -> HttpResponse:
    context = {
        "study": request.page,
        "questions": form,
        "n_tries": request.rater.comprehension_tries + bool(heading),
        "heading": heading or _("Quick check"),
    }
    return http.render_fragment(request, "annotation/_comprehension.html", context, status=status)
