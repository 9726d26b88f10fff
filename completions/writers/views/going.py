"""A writer's ways out that leave the texts alone: pause, go on, leave."""

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from completions.writers import desk_queries, http, services
from completions.writers.http import WriterRequest, writer_known, writer_required


@require_POST
@writer_required
def pause(request: WriterRequest) -> HttpResponse:
    """Hand this writer nothing until they go on."""
    services.pause_writer(writer=request.writer, now=timezone.now())
    return http.go(request, reverse("completions:desk"))


@require_POST
@writer_required
def resume(request: WriterRequest) -> HttpResponse:
    """End a pause of the writer's own."""
    services.resume_writer(writer=request.writer, now=timezone.now())
    return http.go(request, reverse("completions:desk"))


@require_http_methods(["GET", "HEAD", "POST"])
@writer_known
def leave(request: WriterRequest) -> HttpResponse:
    """Ask once, with what it means, then end the writer's part."""
    if request.method == "POST":
        writer = services.leave(writer=request.writer, now=timezone.now())
        return http.say_not_writing(request, writer, status=200)
    context = {"can_pause": desk_queries.is_writing(request.writer)}
    return http.render_fragment(request, "completions/_leave.html", context)
