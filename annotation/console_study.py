"""The console's page of one study: its hash, its plan, its numbers; and what planning would do."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from annotation import console_selectors, gold, plan_selectors, services
from annotation.console_http import StaffRequest, study_page
from annotation.models import Study
from completions.services import DatasetTakenError


@require_GET
@study_page
def study_shown(request: StaffRequest, study: Study) -> HttpResponse:
    """Show how the study stands and what can be done to it."""
    page = console_selectors.study_page(study)
    return render(request, "console/study/study.html", {"study": page.row, "page": page})


@require_GET
@study_page
def plan(request: StaffRequest, study: Study) -> HttpResponse:
    """Show what planning would add and come to; nothing is written."""
    draft = plan_selectors.draft_plan(study)
    parts = {
        "study": console_selectors.study_page(study).row,
        "n_added": len(draft.additions),
        "draft": draft,
    }
    return render(request, "console/study/plan.html", parts)


@require_POST
@study_page
def extend(request: StaffRequest, study: Study) -> HttpResponse:
    """Write the plan: comparisons that completions make possible, holds and checks."""
    try:
        report = services.plan_study(study=study, now=timezone.now(), by=request.user)
    except (gold.GoldError, services.UnsuitableCheckError, DatasetTakenError) as error:
        messages.error(request, _("Nothing was planned: %(why)s.") % {"why": error})
        return redirect("console:study", study.slug)
    text = ngettext(
        "%(n)d comparison added to the plan; it has %(all)d now.",
        "%(n)d comparisons added to the plan; it has %(all)d now.",
        report.n_added,
    ) % {"n": report.n_added, "all": report.n_comparisons}
    messages.success(request, text)
    return redirect("console:study", study.slug)


@require_POST
@study_page
def lock(request: StaffRequest, study: Study) -> HttpResponse:
    """Freeze the study under its hash."""
    try:
        services.lock_study(study=study, now=timezone.now(), by=request.user)
    except services.StudyStateError as error:
        messages.error(request, f"{error}.")
    else:
        messages.success(request, _("Locked: from now on only its state changes."))
    return redirect("console:study", study.slug)
