"""Who asks, and how a rater's page is answered: identity, headers, page or fragment."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.conf import settings
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from access.choices import Role
from access.roles import may
from annotation.choices import RaterStage, RaterState, StudyState
from annotation.judging.services.judging import RaterCredential
from annotation.models import Rater, Study
from annotation.raters.services import entering
from annotation.session import blinded
from annotation.session.blinded import StudyPage
from annotation.session.forms import MAX_RATIONALE, MAX_TEXT
from annotation.studies import http as study_http
from annotation.studies import queries as study_queries
from completions.choices import WriterState
from completions.models import Writer
from completions.writers import http as writers

COOKIE = "heart_rater"
COOKIE_SECONDS = 90 * 24 * 60 * 60
TYPED = {"rationale": MAX_RATIONALE, "text": MAX_TEXT}
"""Fields in which raters type, with the most characters of each."""

P = ParamSpec("P")


class CredentialRequest(HttpRequest):
    """A request with the credential of somebody who enrolled in the study of the address."""

    htmx: HtmxDetails
    credential: RaterCredential
    page: StudyPage


class RaterRequest(CredentialRequest):
    """A request of somebody who is enrolled in the study of the address."""

    rater: Rater


class SeeOther(HttpResponseRedirect):
    """Go on with a GET, whatever the request was."""

    status_code = 303


def led_back(view: Callable[..., HttpResponse], *, to: str) -> Callable[..., HttpResponse]:
    """Lead a browser that asks for the address of a post back ``to`` the page that posts there.

    Without scripts that address stays in the bar when something was missing.
    """

    @wraps(view)
    def wrapper(request: HttpRequest, /, study: str, **kwargs: object) -> HttpResponse:
        if request.method in ("GET", "HEAD"):
            return go(request, to, study)
        return view(request, study=study, **kwargs)

    return wrapper


def rater_page(view: Callable[P, HttpResponse]) -> Callable[P, HttpResponse]:
    """Keep the page out of every cache, and tell a fragment from a page."""
    return vary_on_headers("HX-Request")(cache_control(no_store=True)(view))


def rater_known(
    view: Callable[Concatenate[RaterRequest, P], HttpResponse],
) -> Callable[Concatenate[RaterRequest, P], HttpResponse]:
    """Set ``request.rater`` and ``request.page``, or send the visitor to the study's entry.

    What is posted about a pair by nobody we know is given back instead. The slug of the study ends
    here: the view is not given it again.
    """

    @wraps(view)
    def wrapper(request: RaterRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        study = study_http.study_or_404(str(kwargs.pop("study")))
        rater = recognised(request, study)
        if rater is None:
            return _turn_away(request, study_page(request, study.slug), kwargs)
        _remember_writer(request, rater)
        if not rater.is_team and is_team(request):
            entering.flag_team(rater)
        request.rater, request.page = rater, study_page(request, study.slug)
        request.credential = RaterCredential(study.slug, rater.code, rater.link_version)
        return view(request, *args, **kwargs)

    return rater_page(wrapper)


def rater_required(
    view: Callable[Concatenate[RaterRequest, P], HttpResponse],
) -> Callable[Concatenate[RaterRequest, P], HttpResponse]:
    """Let raters in as ``rater_known`` does, once they have shown that the task is clear."""

    @wraps(view)
    def wrapper(request: RaterRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        rater = request.rater
        if rater.state == RaterState.ACTIVE and rater.stage == RaterStage.COMPREHENSION:
            return go(request, "comprehension", request.page.slug)
        return view(request, *args, **kwargs)

    return rater_known(wrapper)


def credential_required(
    view: Callable[Concatenate[CredentialRequest, P], HttpResponse],
) -> Callable[Concatenate[CredentialRequest, P], HttpResponse]:
    """Set ``request.credential`` and ``request.page`` without a query: the service finds the rater.

    For the one request that has to be fast. A visitor without a credential is answered as
    ``rater_known`` does.
    """

    @wraps(view)
    def wrapper(request: CredentialRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        slug = str(kwargs.pop("study"))
        page = blinded.study_page(slug)
        known = credential_of(request.COOKIES.get(COOKIE, ""), slug=slug)
        if page is None:
            raise Http404
        if known is None:
            return _turn_away(request, page, kwargs)
        request.credential, request.page = known, page
        return view(request, *args, **kwargs)

    return rater_page(wrapper)


def credential_of(value: str, *, slug: str, use: str = "cookie") -> RaterCredential | None:
    """Return what a cookie or link of the study says, or None if it is forged or foreign."""
    try:
        code, _dash, version = _signer(slug, use).unsign(value).partition("-")
    except signing.BadSignature:
        return None
    return RaterCredential(slug, code, int(version)) if version.isdecimal() else None


def study_page(request: HttpRequest, slug: str) -> StudyPage:
    """Return what the visitor may know of the study, with the help lines nearest to them first.

    Where they are is guessed from the languages that the browser asks for, and kept nowhere.

    Raises
    ------
    Http404
        If there is no such study.
    """
    page = blinded.study_page(slug)
    if page is None:
        raise Http404
    countries = blinded.requested_countries(request.headers.get("Accept-Language", ""))
    near, others = blinded.split_lines(page.help_lines, countries)
    return replace(page, help_lines=near, other_help_lines=others)


def recognised(request: HttpRequest, study: Study) -> Rater | None:
    """Return the rater whose signed cookie came with the request, if it is a valid one."""
    return rater_of_credential(request.COOKIES.get(COOKIE, ""), study=study, use="cookie")


def recognised_writer(request: HttpRequest, study: Study) -> Writer | None:
    """Return the writer of the study's dataset whom the same browser knows, if any."""
    if writers.COOKIE not in request.COOKIES:
        return None
    writer = writers.recognised(request)
    if writer is None or writer.state == WriterState.WITHDRAWN:
        return None
    return writer if writer.dataset_id == study.dataset_id else None


def is_team(request: HttpRequest) -> bool:
    """Say whether a member of the team is signed in; who has no session costs no query."""
    return settings.SESSION_COOKIE_NAME in request.COOKIES and may(request, Role.ANALYST)


def credential(rater: Rater, *, use: str) -> str:
    """Return the rater's code, signed for one use in one study."""
    return _signer(rater.study.slug, use).sign(f"{rater.code}-{rater.link_version}")


def rater_of_credential(value: str, *, study: Study, use: str) -> Rater | None:
    """Return the rater that the credential names; None if it is forged, foreign or withdrawn."""
    known = credential_of(value, slug=study.slug, use=use)
    if known is None:
        return None
    rater = study_queries.rater_by_code(study=study, code=known.code)
    return rater if rater is not None and rater.link_version == known.link_version else None


def remember(response: HttpResponse, request: HttpRequest, rater: Rater) -> HttpResponse:
    """Let the browser keep the rater's credential for this study alone."""
    value = credential(rater, use="cookie")
    return keep_cookie(response, request, COOKIE, value, study=rater.study.slug)


def keep_cookie(
    response: HttpResponse, request: HttpRequest, name: str, value: str, *, study: str
) -> HttpResponse:
    """Let the browser keep a cookie for the pages of one study."""
    response.set_cookie(
        name,
        value,
        max_age=COOKIE_SECONDS,
        path=reverse("annotation:entry", args=[study]),
        secure=request.is_secure(),
        httponly=True,
        samesite="Lax",
    )
    return response


def sign_entry(fields: Mapping[str, Any], *, study: Study) -> str:
    """Return how a visitor came, signed, so that a form can carry it until they agree."""
    return _signer(study.slug, "entry").sign_object(dict(fields), compress=True)


def unsign_entry(value: str, *, study: Study) -> dict[str, Any]:
    """Return what ``sign_entry`` was given.

    Raises
    ------
    django.core.signing.BadSignature
        If the value was changed, or signed for another study.
    """
    fields: dict[str, Any] = _signer(study.slug, "entry").unsign_object(value)
    return fields


def go(request: HttpRequest, page: str, study: str) -> HttpResponse:
    """Lead the browser to a page of a study; htmx would otherwise swap it into this one."""
    url = reverse(f"annotation:{page}", args=[study])
    if isinstance(details := getattr(request, "htmx", None), HtmxDetails) and details:
        return HttpResponseClientRedirect(url)
    return SeeOther(url)


def render_fragment(
    request: HttpRequest, fragment: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """Render ``fragment`` alone for htmx, or inside the page for a plain request."""
    if getattr(request, "htmx", False):
        # A token that came with a form was checked. To mask another takes a system call for each
        # letter, and its cookie would have to be sent anew.
        token = request.POST.get("csrfmiddlewaretoken")
        known = {"csrf_token": token} if token else {}
        return render(request, fragment, {**context, **known, "swap": True}, status=status)
    page = {"is_team": is_team(request), **context, "fragment": fragment}
    return render(request, "annotation/page.html", page, status=status)


def say(
    request: HttpRequest,
    study: StudyPage,
    *,
    status: int,
    heading: str,
    text: str,
    way_on: tuple[str, str] = ("", ""),
) -> HttpResponse:
    """Answer with a kind sentence or two instead of work; ``way_on`` is a label and an address.

    What was typed into a form that is answered so goes back to whoever posted it.
    """
    typed = writers.typed_in(request, TYPED)
    context = {"study": study, "heading": heading, "text": text, "typed": typed}
    context["back_label"], context["back_url"] = way_on
    return render_fragment(request, "annotation/_message.html", context, status=status)


def way_back(study: str) -> tuple[str, str]:
    """Return the label and the address of the way back to a study's pairs."""
    return _("Back to the study"), reverse("annotation:judge", args=[study])


def say_not_yours(request: CredentialRequest) -> HttpResponse:
    """Tell a rater that no lease of theirs has the token of the address; give back what they typed.

    Two people at one browser have one cookie: whoever came last is who posts.
    """
    return say(
        request,
        request.page,
        status=404,
        heading=_("This belongs to someone else"),
        text=_(
            "Someone else may have opened the study in this browser after you, or what you saw no "
            "longer exists. Your last answer is not saved; earlier ones are. To continue as "
            "yourself, open the study again from your platform or with your private link."
        ),
        way_on=way_back(request.page.slug),
    )


@rater_page
def say_unsent(request: HttpRequest, slug: str) -> HttpResponse:
    """Give an answer back that came without the cookie or the token against forged forms."""
    page = study_page(request, slug)
    if credential_of(request.COOKIES.get(COOKIE, ""), slug=slug) is None:
        return _say_who_are_you(request, page)
    return say(
        request,
        page,
        status=403,
        heading=_("Your answer was not saved"),
        text=_(
            "The page was open for too long, or cookies were cleared. Go back and send your "
            "answer again. Your earlier answers are saved."
        ),
        way_on=way_back(slug),
    )


def _turn_away(
    request: HttpRequest, page: StudyPage, address: Mapping[str, object]
) -> HttpResponse:
    """Send a visitor to the study's entry; who has a pair's token was a rater, and reads why."""
    if "token" in address:
        return _say_who_are_you(request, page)
    return go(request, "entry", page.slug)


def _say_who_are_you(request: HttpRequest, page: StudyPage) -> HttpResponse:
    """Tell somebody who posts an answer that this browser is nobody any more.

    No link leads on: the entry without a platform's parameters would make somebody new of them.
    """
    return say(
        request,
        page,
        status=403,
        heading=_("This browser doesn’t recognise you"),
        text=_(
            "Your last answer is not saved: cookies were cleared or are switched off. Your earlier "
            "answers are saved. Open the study again from your platform or with your private link "
            "to continue where you were."
        ),
    )


def say_not_open(
    request: HttpRequest, study: Study, *, way_on: tuple[str, str] = ("", "")
) -> HttpResponse:
    """Tell a visitor that the study hands out nothing now, and what to do."""
    not_begun = _("This study hasn’t started yet"), _("Please try the same link again later.")
    heading, text = {
        StudyState.DRAFT: not_begun,
        StudyState.LOCKED: not_begun,
        StudyState.OPEN: (
            _("Nobody can take part here"),
            _("This is a simulation: programs answer in it, to rehearse a study of people."),
        ),
        StudyState.PAUSED: (
            _("This study is paused"),
            _("Please try the same link again later. Any answers you sent are saved."),
        ),
    }.get(
        StudyState(study.state),
        (
            _("This study is closed"),
            _("No more answers are needed. Any answers you sent are saved. Thank you."),
        ),
    )
    page = study_page(request, study.slug)
    return say(request, page, status=409, heading=heading, text=text, way_on=way_on)


def _remember_writer(request: HttpRequest, rater: Rater) -> None:
    """Link a rater to the writer that they became, or turn out to be, after they entered."""
    if rater.writer_id is not None or rater.state != RaterState.ACTIVE:
        return
    if (writer := recognised_writer(request, rater.study)) is not None:
        entering.link_writer(rater=rater, writer=writer)
        rater.writer = writer


def _signer(slug: str, use: str) -> signing.Signer:
    return signing.Signer(sep="~", salt=f"heart.{use}.{slug}")
