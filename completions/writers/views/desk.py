"""A writer's desk, where to find help, and the ways out that leave the texts alone."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from completions.writers import blinded, http, queries
from completions.writers.http import WriterRequest, writer_known, writer_page, writer_required
from completions.writers.services import leasing, leaving


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
    page = blinded.SentPage.of(request.writer, number=request.GET.get("page", ""))
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
