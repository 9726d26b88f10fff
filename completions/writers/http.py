"""Who asks, and how a writer's page is answered: links, identity, headers, page or fragment."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from completions.choices import WriterState
from completions.dialogues import normaliser
from completions.dialogues.wording import MAX_CHARACTERS
from completions.models import Writer
from completions.writers import queries
from completions.writers.credentials import credential, writer_of_credential
from completions.writers.guidelines import GUIDE
from completions.writers.services import leasing

COOKIE = "heart_writer"
COOKIE_SECONDS = 90 * 24 * 60 * 60
TYPED = {"text": MAX_CHARACTERS}
"""Fields in which writers type, with the most characters of each."""

GONE = (WriterState.PAUSED, WriterState.REFUSED, WriterState.LEFT, WriterState.WITHDRAWN)

P = ParamSpec("P")


class WriterRequest(HttpRequest):
    """A request of somebody who is known as a writer."""

    htmx: HtmxDetails
    writer: Writer


class SeeOther(HttpResponseRedirect):
    """Go on with a GET, whatever the request was."""

    status_code = 303


def writer_page(view: Callable[P, HttpResponse]) -> Callable[P, HttpResponse]:
    """Keep the page out of every cache, and tell a fragment from a page."""
    return vary_on_headers("HX-Request")(cache_control(no_store=True)(view))


def writer_required(
    view: Callable[Concatenate[WriterRequest, P], HttpResponse],
) -> Callable[Concatenate[WriterRequest, P], HttpResponse]:
    """Set ``request.writer``, or ask for the personal link, or for consent to newer words.

    What was typed on a page that was open before is still taken; the next page asks.
    """

    @wraps(view)
    def wrapper(request: WriterRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if request.method != "POST" and queries.is_to_agree_again(request.writer):
            return go(request, reverse("completions:consent"))
        return view(request, *args, **kwargs)

    return writer_known(wrapper)


def writer_known(
    view: Callable[Concatenate[WriterRequest, P], HttpResponse],
) -> Callable[Concatenate[WriterRequest, P], HttpResponse]:
    """Set ``request.writer``, whichever words they agreed to, or ask for the personal link.

    What every view has to refuse (a writer who may not write, a foreign token) is answered here.
    """

    @wraps(view)
    def wrapper(request: WriterRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        writer = recognised(request)
        if writer is None:
            return say_who_are_you(request)
        if writer.state not in queries.MAY_COME_IN:
            return say_not_writing(request, writer)
        request.writer = writer
        try:
            return view(request, *args, **kwargs)
        except leasing.WriterNotActiveError:
            return say_not_writing(request, writer)
        except leasing.WritingLeaseNotFoundError:
            return say_gone(request)

    return writer_page(wrapper)


def recognised(request: HttpRequest) -> Writer | None:
    """Return the writer whose signed cookie came with the request, if it is a valid one."""
    return writer_of_credential(request.COOKIES.get(COOKIE, ""), use="cookie")


def remember(response: HttpResponse, request: HttpRequest, writer: Writer) -> HttpResponse:
    """Let the browser keep the writer's credential.

    For all pages of the site: a writer who also rates must never be shown what they wrote for.
    """
    response.set_cookie(
        COOKIE,
        credential(writer, use="cookie"),
        max_age=COOKIE_SECONDS,
        path="/",
        secure=request.is_secure(),
        httponly=True,
        samesite="Lax",
    )
    return response


def go(request: HttpRequest, url: str) -> HttpResponse:
    """Send the browser on; htmx would otherwise swap the next page into this one."""
    return HttpResponseClientRedirect(url) if getattr(request, "htmx", False) else SeeOther(url)


def render_fragment(
    request: HttpRequest, fragment: str, context: Mapping[str, Any], *, status: int = 200
) -> HttpResponse:
    """Render ``fragment`` alone for htmx, or inside the page for a plain request."""
    shown = {"guide": GUIDE, "has_desk": hasattr(request, "writer"), **context}
    if getattr(request, "htmx", False):
        return render(request, fragment, {**shown, "swap": True}, status=status)
    page = {**shown, "fragment": fragment}
    return render(request, "completions/page.html", page, status=status)


def say(
    request: HttpRequest, *, heading: str, text: str, status: int, back: str = ""
) -> HttpResponse:
    """Answer with one kind sentence or two instead of work, and give back what was typed."""
    context = {
        "heading": heading,
        "text": text,
        "typed": typed_in(request, TYPED),
        "back_url": back,
        "back_label": _("To your desk"),
    }
    return render_fragment(request, "annotation/_message.html", context, status=status)


def typed_in(request: HttpRequest, fields: Mapping[str, int]) -> str:
    """Return what was posted in the first of the fields that has something to see.

    ``fields`` are names, each with the most characters that its form takes. For a page that gives
    back what cannot be taken: nothing of it is stored.
    """
    texts = (normaliser.typed(request.POST.get(name, ""))[:most] for name, most in fields.items())
    return next((text for text in texts if text.strip()), "")


def say_who_are_you(request: HttpRequest) -> HttpResponse:
    """Ask somebody whom this browser does not know for their link."""
    return say(
        request,
        heading=_("Please open your personal link"),
        text=_(
            "This browser doesn’t recognise you, or your link was renewed. Open the newest link "
            "you were sent to continue where you were: saved drafts are kept."
        ),
        status=403,
    )


@writer_page
def say_unsent(request: HttpRequest) -> HttpResponse:
    """Give a text back that came without the cookie or the token against forged forms."""
    if recognised(request) is None:
        return say_who_are_you(request)
    return say(
        request,
        heading=_("Your reply was not sent"),
        text=_(
            "The page was open for too long, or cookies were cleared. Go back to your desk and "
            "send it from there: saved drafts are kept."
        ),
        status=403,
        back=reverse("completions:desk"),
    )


def say_not_writing(request: HttpRequest, writer: Writer, *, status: int = 403) -> HttpResponse:
    """Tell a writer who is paused, or has left, what became of their texts, and the way on."""
    if writer.state == WriterState.PROFILING:
        return go(request, reverse("completions:profile"))
    heading, text = _words_on(writer)
    if writer.state not in GONE:
        return say(request, heading=heading, text=text, status=status)
    context = {
        "heading": heading,
        "text": text,
        "note": queries.newest_note(writer) if writer.state == WriterState.REFUSED else "",
        "may_resume": writer.may_resume,
        "may_leave": writer.state == WriterState.PAUSED,
        "may_withdraw": writer.texts_kept,
    }
    return render_fragment(request, "completions/_away.html", context, status=status)


def _words_on(writer: Writer) -> tuple[str, str]:
    """Return what a writer who is not writing is told."""
    if writer.state == WriterState.PAUSED and writer.may_resume:
        return _("You are taking a pause"), _(
            "Everything you sent or saved is kept. Take your time."
        )
    if not writer.texts_kept:
        return _("You have withdrawn"), _(
            "Your replies were deleted and are removed from all future results. Thank you for "
            "having been here."
        )
    return {
        WriterState.INVITED: (
            _("One step is missing"),
            _("Open your personal link once more: it asks for your agreement first."),
        ),
        WriterState.REFUSED: (
            _("Your trial is over"),
            _(
                "Thank you for your trial replies. We won’t be inviting you to continue. Your "
                "replies will not be used or published."
            ),
        ),
        WriterState.PAUSED: (
            _("Your writing is on pause"),
            _(
                "Everything you sent or saved is kept. Ask the person who invited you when it "
                "continues."
            ),
        ),
        WriterState.LEFT: (
            _("You have left"),
            _(
                "Thank you for what you wrote: it stays and counts. If you want to come back, ask "
                "the person who invited you."
            ),
        ),
        WriterState.WITHDRAWN: (
            _("You have withdrawn"),
            _(
                "Nothing leads from your replies to you any more. They stay under a random code; "
                "you can still have them deleted. Thank you for having been here."
            ),
        ),
    }.get(
        WriterState(writer.state),
        (
            _("You are not writing here"),
            _("If you want to come back, ask the person who invited you."),
        ),
    )


def say_gone(request: HttpRequest) -> HttpResponse:
    """Tell that a dialogue is not this writer's."""
    return say(
        request,
        heading=_("This conversation belongs to someone else"),
        text=_(
            "Another writer may have opened their link in this browser, or the conversation no "
            "longer exists. Your own texts are all saved: open your personal link to see them."
        ),
        status=404,
        back=reverse("completions:desk"),
    )
