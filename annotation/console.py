"""The console: where staff see how their studies stand and move them on."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.admin.views.decorators import staff_member_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from annotation import console_selectors, selectors, services
from annotation.models import Study


class StaffRequest(HttpRequest):
    """A request of a signed-in member of staff."""

    user: User


@require_GET
@never_cache
@staff_member_required
def overview(request: HttpRequest) -> HttpResponse:
    """Show each study with its counts, and the newest judgments of all."""
    context = {
        "studies": console_selectors.study_rows(),
        "judgments": console_selectors.newest_judgments(),
    }
    return render(request, "console/overview.html", context)


@require_POST
@staff_member_required
def open_study(request: StaffRequest, study: str) -> HttpResponse:
    """Let raters in, for the first time or again after a pause."""
    return _move(request, study, services.open_study, done=_("Open: raters can come in now."))


@require_POST
@staff_member_required
def pause_study(request: StaffRequest, study: str) -> HttpResponse:
    """Hand out no new pairs for now."""
    return _move(request, study, services.pause_study, done=_("On pause: no new pairs go out."))


@require_POST
@staff_member_required
def close_study(request: StaffRequest, study: str) -> HttpResponse:
    """End the study's judging for good."""
    return _move(request, study, services.close_study, done=_("Closed. Every judgment is kept."))


@require_POST
@staff_member_required
def extend_plan(request: StaffRequest, study: str) -> HttpResponse:
    """Add the comparisons that new completions make possible."""
    found = _study_or_404(study)
    report = services.plan_study(study=found, now=timezone.now(), by=request.user)
    text = ngettext(
        "%(n)d comparison added to the plan; it has %(all)d now.",
        "%(n)d comparisons added to the plan; it has %(all)d now.",
        report.n_added,
    ) % {"n": report.n_added, "all": report.n_comparisons}
    messages.success(request, f"{found.title}: {text}")
    return redirect("console:overview")


def _move(
    request: StaffRequest, slug: str, change: Callable[..., Study], *, done: str
) -> HttpResponse:
    """Ask the service for the change, and say how it went beside the study's title."""
    study = _study_or_404(slug)
    try:
        change(study=study, now=timezone.now(), by=request.user)
    except services.StudyStateError as error:
        messages.error(request, f"{study.title}: {error}.")
    else:
        messages.success(request, f"{study.title}: {done}")
    return redirect("console:overview")


def _study_or_404(slug: str) -> Study:
    study = selectors.study_by_slug(slug)
    if study is None:
        raise Http404
    return study
