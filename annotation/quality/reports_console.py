"""The console's page on what raters of a study reported."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from access.roles import StaffRequest
from annotation.choices import ReportOutcome
from annotation.models import Study
from annotation.quality import report_queries, services
from annotation.quality.forms import DecideForm
from annotation.studies.http import study_page

DECIDED = {
    ReportOutcome.RELEASED: _("The talk may be shown again, except to those who reported it."),
    ReportOutcome.DROPPED: _("The talk is shown to nobody any more; what was judged of it stays."),
}


@require_safe
@study_page
def reports(request: StaffRequest, study: Study) -> HttpResponse:
    """Show every reported talk, those first that wait for a decision."""
    talks = report_queries.reported_talks(study)
    context = {
        "study": study,
        "talks": talks,
        "n_open": sum(talk.n_open > 0 for talk in talks),
        "is_mail_set_up": services.is_mail_set_up(),
        "alerts": report_queries.alert_state(study),
    }
    return render(request, "console/study/reports.html", context)


@require_POST
@study_page
def decide(request: StaffRequest, study: Study, key: str) -> HttpResponse:
    """Store what was decided about a reported talk, with the reason."""
    context = report_queries.reported_context(study, key)
    if context is None:
        raise Http404
    form = DecideForm(request.POST)
    if form.is_valid():
        services.decide_report(
            study=study,
            context=context,
            outcome=form.cleaned_data["outcome"],
            reason=form.cleaned_data["reason"],
            by=request.user,
            now=timezone.now(),
        )
        messages.success(request, DECIDED[form.cleaned_data["outcome"]])
    else:
        messages.error(request, form.problem())
    return redirect("console:reports", study.slug)
