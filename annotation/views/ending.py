"""Pauses and ends: help, break, stop, withdraw, thanks."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from annotation import http, selectors, services
from annotation.blinded import Ending, Progress, StudyPage
from annotation.choices import Platform, RaterState
from annotation.http import RaterRequest, rater_page, rater_required


@require_GET
@rater_page
def help_lines(request: HttpRequest, study: str) -> HttpResponse:
    """Show where to find somebody to talk to; open to everyone."""
    found = http.study_or_404(study)
    rater = http.recognised(request, found)
    is_active = rater is not None and rater.state == RaterState.ACTIVE
    context = {"study": StudyPage.from_study(found), "has_pair": is_active}
    return http.render_fragment(request, "annotation/_help.html", context)


@require_GET
@rater_required
def take_break(request: RaterRequest) -> HttpResponse:
    """Say what is saved and how to come back."""
    context = {
        "study": request.page,
        "done": Progress.of_rater(request.rater).done,
        "resume_url": _resume_url(request),
    }
    return http.render_fragment(request, "annotation/_break.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@rater_required
def stop(request: RaterRequest) -> HttpResponse:
    """Ask once, then end the rater's part."""
    if request.method == "POST":
        services.stop_judging(rater=request.rater, now=timezone.now())
        return http.SeeOther(reverse("annotation:done", args=[request.page.slug]))
    context = {"study": request.page, "done": Progress.of_rater(request.rater).done}
    return http.render_fragment(request, "annotation/_stop.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@rater_required
def withdraw(request: RaterRequest) -> HttpResponse:
    """Ask once, then delete what links the answers to a person and count them no more."""
    if request.method == "POST":
        services.withdraw_rater(rater=request.rater, now=timezone.now())
        return http.SeeOther(reverse("annotation:done", args=[request.page.slug]))
    context = {"study": request.page, "done": Progress.of_rater(request.rater).done}
    return http.render_fragment(request, "annotation/_withdraw.html", context)


@require_GET
@rater_required
def done(request: RaterRequest) -> HttpResponse:
    """Thank a rater whose part is over; send anybody else back to their pairs."""
    if request.rater.state == RaterState.ACTIVE and not selectors.is_excluded(request.rater):
        return http.go(request, reverse("annotation:judge", args=[request.page.slug]))
    return show_end(request)


def show_end(request: RaterRequest) -> HttpResponse:
    """Show the one last page; htmx is sent there, for the whole page changes."""
    if request.htmx:
        return http.go(request, reverse("annotation:judge", args=[request.page.slug]))
    ending = Ending.of_rater(request.rater)
    context = {
        "study": request.page,
        "ending": ending,
        "resume_url": "" if ending.is_over else _resume_url(request),
    }
    return http.render_fragment(request, "annotation/_done.html", context)


def _resume_url(request: RaterRequest) -> str:
    """Return the private link of a guest; a platform's rater comes back by the platform's."""
    if request.rater.platform != Platform.GUEST:
        return ""
    link = http.badge(request.rater, use="link")
    path = reverse("annotation:resume", args=[request.page.slug, link])
    return request.build_absolute_uri(path)
