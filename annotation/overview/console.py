"""The console: where staff see how their studies stand and move them on."""

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from access.console.undoing import say_done
from access.roles import StaffRequest, members_only
from annotation.models import Study
from annotation.overview import attention, queries
from annotation.quality import report_queries
from annotation.raters import entry_queries
from annotation.studies import selectors, services
from annotation.studies.counts import COUNTS
from annotation.studies.http import ask_for


@require_safe
@never_cache
@members_only()
def overview(request: HttpRequest) -> HttpResponse:
    """Show what waits for somebody, and each study with its counts."""
    now = timezone.now()
    studies, old = queries.study_rows(now=now)
    for study in old:
        ask_for(study, COUNTS)
    context = {
        "waiting": report_queries.waiting_studies(),
        "turned_away": entry_queries.turned_away(now=now),
        "needs": attention.needs(studies, now=now),
        "studies": studies,
    }
    return render(request, "console/overview.html", context)


@require_POST
@members_only()
def open_study(request: StaffRequest, study: str) -> HttpResponse:
    """Let raters in, for the first time or again after a pause."""
    done = _("Open: raters can come in now.")
    return _move(request, study, services.open_study, done=done, undo="console:pause")


@require_POST
@members_only()
def pause_study(request: StaffRequest, study: str) -> HttpResponse:
    """Hand out no new pairs for now."""
    done = _("On pause: no new pairs go out.")
    return _move(request, study, services.pause_study, done=done, undo="console:open")


@require_POST
@members_only()
def close_study(request: StaffRequest, study: str) -> HttpResponse:
    """End the study's judging for good."""
    return _move(request, study, services.close_study, done=_("Closed. Every judgment is kept."))


def _move(
    request: StaffRequest, slug: str, change: Callable[..., Study], *, done: str, undo: str = ""
) -> HttpResponse:
    """Ask the service for the change, and say how it went beside the study's title."""
    study = _study_or_404(slug)
    try:
        change(study=study, now=timezone.now(), by=request.user)
    except services.StudyStateError as error:
        messages.error(request, f"{study.title}: {error}.")
    else:
        said = f"{study.title}: {done}"
        if undo:
            say_done(request, said, undo=reverse(undo, args=[slug]))
        else:
            messages.success(request, said)
    return redirect("console:study", study.slug)


def _study_or_404(slug: str) -> Study:
    study = selectors.study_by_slug(slug)
    if study is None:
        raise Http404
    return study
