"""A writer's desk, and where to find help."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from completions.writers import blinded, desk_queries, http, services
from completions.writers.http import WriterRequest, writer_page, writer_required


@require_safe
@writer_required
def desk(request: WriterRequest) -> HttpResponse:
    """Show what is waiting and what is done."""
    if not desk_queries.is_writing(request.writer):
        raise services.WriterNotActiveError
    context = {"desk": blinded.Desk.of(request.writer)}
    return http.render_fragment(request, "completions/_desk.html", context)


@require_safe
@writer_required
def sent(request: WriterRequest) -> HttpResponse:
    """Show everything that was sent, and where it stands."""
    if not desk_queries.is_writing(request.writer):
        raise services.WriterNotActiveError
    page = blinded.SentPage.of(request.writer, number=request.GET.get("page", ""))
    return http.render_fragment(request, "completions/_all_sent.html", {"page": page})


@require_safe
@writer_page
def help_lines(request: HttpRequest) -> HttpResponse:
    """Show where to find somebody to talk to; open to everyone."""
    context = {"has_desk": http.recognised(request) is not None}
    return http.render_fragment(request, "completions/_help.html", context)
