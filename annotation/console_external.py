"""The console's page on judgments that other labs made of a study's pairs."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from access.choices import Role
from access.http import StaffRequest, may
from annotation import external_selectors, services
from annotation.checks_forms import BatchForm
from annotation.console_http import study_page
from annotation.models import Study

DECIDED = {
    True: _("The batch is left out of what is passed on."),
    False: _("The batch is taken back."),
}


@require_safe
@study_page
def external(request: StaffRequest, study: Study) -> HttpResponse:
    """Show every batch with where it comes from and what was decided about it."""
    parts = {
        "study": study,
        "batches": external_selectors.batches_shown(study),
        "may_decide": may(request, Role.MANAGER),
    }
    return render(request, "console/study/external.html", parts)


@require_POST
@study_page
def decide(request: StaffRequest, study: Study, pk: int) -> HttpResponse:
    """Leave a batch out, or take it back, with the reason."""
    batch = external_selectors.batch_of(study, pk)
    if batch is None:
        raise Http404
    form = BatchForm(request.POST)
    if form.is_valid():
        is_excluded = form.cleaned_data["is_excluded"]
        services.decide_external(
            batch=batch,
            is_excluded=is_excluded,
            reason=form.cleaned_data["reason"],
            by=request.user,
            now=timezone.now(),
        )
        messages.success(request, DECIDED[is_excluded])
    else:
        messages.error(request, form.problem())
    return redirect("console:external", study.slug)
