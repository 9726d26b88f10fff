"""How a writer comes in, the desk, where to find help, and the ways out that leave texts alone."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from access.limits import seconds_to_wait
from completions.choices import WriterState
from completions.models import Writer
from completions.writers import blinded, forms, guidelines, http, queries
from completions.writers.credentials import writer_of_credential
from completions.writers.http import WriterRequest, writer_known, writer_page, writer_required
from completions.writers.services import inviting, leasing, leaving


@require_http_methods(["GET", "HEAD", "POST"])
@writer_page
def invitation(request: HttpRequest, link: str) -> HttpResponse:
    """Ask an invited person for consent; let anybody who has agreed in again."""
    writer = writer_of_credential(link, use="link")
    if writer is None:
        return _say_wrong_link(request)
    if not writer.texts_kept:  # nothing is left to decide, and nobody is left to know
        return http.say_not_writing(request, writer)
    if writer.state not in inviting.ASKED:
        return _let_in(request, writer)
    if request.method == "POST":
        return _answer_invitation(request, writer)
    return _ask(request, writer)


def _ask(
    request: HttpRequest, writer: Writer, *, is_again: bool = False, status: int = 200
) -> HttpResponse:
    """Ask for consent: the first one, or one to words that have changed."""
    host_facts = guidelines.host_facts(writer.dataset.host)
    context = {"is_again": is_again, "host_facts": host_facts}
    return http.render_fragment(request, "completions/_consent.html", context, status=status)


def _say_wrong_link(request: HttpRequest) -> HttpResponse:
    """Count the wrong link for its sender's address; a right one is let in whatever came before."""
    wait = seconds_to_wait(request, "wrong-link", most=settings.HEART_WRONG_LINK_RATE)
    if wait is None:
        return http.say(
            request,
            heading=_("This link doesn’t work"),
            text=_(
                "Part of it may be missing, or a newer link has replaced it. Copy the whole link "
                "again, or ask the person who sent it for a new one."
            ),
            status=404,
        )
    answer = http.say(
        request,
        heading=_("Too many wrong links"),
        text=_("Wait a minute, then copy the whole link again."),
        status=429,
    )
    answer["Retry-After"] = str(wait)
    return answer


@require_http_methods(["GET", "HEAD", "POST"])
@writer_known
def consent(request: WriterRequest) -> HttpResponse:
    """Ask somebody who agreed to earlier words for consent to those of now."""
    if not queries.is_to_agree_again(request.writer):
        return http.go(request, reverse("completions:desk"))
    form = forms.Consent(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return _ask(request, request.writer, is_again=True, status=422 if form.is_bound else 200)
    if form.cleaned_data["choice"] == "decline":
        return http.go(request, reverse("completions:leave"))
    inviting.agree_again(writer=request.writer, now=timezone.now())
    return http.go(request, reverse("completions:desk"))


@require_http_methods(["GET", "HEAD", "POST"])
@writer_required
def profile(request: WriterRequest) -> HttpResponse:
    """Ask the one question there is; who has answered it goes to the desk."""
    if request.writer.state != WriterState.PROFILING:
        return http.go(request, reverse("completions:desk"))
    if request.method != "POST":
        return _show_profile(request, forms.Profile())
    form = forms.Profile(request.POST)
    if not form.is_valid():
        return _show_profile(request, form, status=422)
    inviting.save_profile(writer=request.writer, now=timezone.now(), **form.cleaned_data)
    return http.go(request, reverse("completions:desk"))


@require_http_methods(["GET", "HEAD", "POST"])
@writer_page
def sign_out(request: HttpRequest) -> HttpResponse:
    """Have this browser forget the writer; the page that follows says how to come back."""
    if request.method == "POST":
        response = http.SeeOther(reverse("completions:sign-out"))
        response.delete_cookie(http.COOKIE, path="/", samesite="Lax")
        return response
    if http.recognised(request) is not None:
        return http.SeeOther(reverse("completions:desk"))
    return http.say(
        request,
        heading=_("You are signed out"),
        text=_(
            "This browser doesn’t recognise you. Everything you sent or saved is kept: your "
            "personal link brings you back, on this device or another."
        ),
        status=200,
    )


def _answer_invitation(request: HttpRequest, writer: Writer) -> HttpResponse:
    form = forms.Consent(request.POST)
    if not form.is_valid():
        return _ask(request, writer, status=422)
    try:
        if form.cleaned_data["choice"] == "decline":
            return _decline(request, writer)
        inviting.accept_invitation(writer=writer, now=timezone.now())
    except leasing.WriterNotActiveError:
        pass  # answered in another tab meanwhile; the desk knows what holds
    return _let_in(request, writer)


def _decline(request: HttpRequest, writer: Writer) -> HttpResponse:
    inviting.decline_invitation(writer=writer)
    return http.say(
        request,
        heading=_("Thank you for reading"),
        text=_(
            "You declined. Your e-mail address, if we had it, is deleted, and nothing else was "
            "stored. You can close this page. Should you change your mind, your link stays open."
        ),
        status=200,
    )


def _let_in(request: HttpRequest, writer: Writer) -> HttpResponse:
    """Remember who it is; the desk sends everybody on to where they belong."""
    return http.remember(http.SeeOther(reverse("completions:desk")), request, writer)


def _show_profile(
    request: WriterRequest, form: forms.Profile, *, status: int = 200
) -> HttpResponse:
    context = {
        "form": form,
        "offers_own_systems": request.writer.dataset.offers_own_systems,
        "pseudonym": request.writer.code,
    }
    return http.render_fragment(request, "completions/_profile.html", context, status=status)


@require_safe
@writer_required
def desk(request: WriterRequest) -> HttpResponse:
    """Show what is waiting and what is done."""
    if not queries.is_writing(request.writer):
        raise leasing.WriterNotActiveError
    context = {"desk": blinded.Desk.of(request.writer)}
    return http.render_fragment(request, "completions/_desk.html", context)


@require_safe
@writer_required
def sent(request: WriterRequest) -> HttpResponse:
    """Show everything that was sent, and where it stands."""
    if not queries.is_writing(request.writer):
        raise leasing.WriterNotActiveError
    page = blinded.sent_page(request.writer, number=request.GET.get("page", ""))
    return http.render_fragment(request, "completions/_all_sent.html", {"page": page})


@require_safe
@writer_page
def help_lines(request: HttpRequest) -> HttpResponse:
    """Show where to find somebody to talk to; open to everyone."""
    context = {"has_desk": http.recognised(request) is not None}
    return http.render_fragment(request, "completions/_help.html", context)


@require_POST
@writer_required
def pause(request: WriterRequest) -> HttpResponse:
    """Hand this writer nothing until they go on."""
    leaving.pause_writer(writer=request.writer, now=timezone.now())
    return http.go(request, reverse("completions:desk"))


@require_POST
@writer_required
def resume(request: WriterRequest) -> HttpResponse:
    """End a pause of the writer's own."""
    leaving.resume_writer(writer=request.writer, now=timezone.now())
    return http.go(request, reverse("completions:desk"))


@require_http_methods(["GET", "HEAD", "POST"])
@writer_known
def leave(request: WriterRequest) -> HttpResponse:
    """Ask once, with what it means, then end the writer's part."""
    if request.method == "POST":
        writer = leaving.leave(writer=request.writer, now=timezone.now())
        return http.say_not_writing(request, writer, status=200)
    context = {"can_pause": queries.is_writing(request.writer)}
    return http.render_fragment(request, "completions/_leave.html", context)
