"""The console's page on the audits of a study's blinding."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from access import background
from access.choices import Role
from access.roles import StaffRequest, may, members_only
from annotation.audits import (
    N_PAGES,
    AuditUnderWayError,
    audit_to_show,
    audit_under_way,
    audits_of,
    claim_audit,
)
from annotation.models import Study
from annotation.studies.http import study_or_404, study_page
from heart_site.blinding import reporting


@require_safe
@study_page
def audits(request: StaffRequest, study: Study, pk: int | None = None) -> HttpResponse:
    """Show an audit, or the newest that ended, and those before it."""
    audit = audit_to_show(study, pk=pk)
    if audit is None and pk is not None:
        raise Http404
    parts = {
        "study": study,
        "audit": audit,
        "tests": reporting.verdicts(audit.report) if audit else [],
        "audits": audits_of(study),
        "under_way": audit_under_way(study),
        "n_pages": N_PAGES,
        "may_act": may(request, Role.MANAGER),
    }
    return render(request, "console/blinding/audits.html", parts)


@require_safe
@members_only(is_part=True)
def progress(request: HttpRequest, study: str) -> HttpResponse:
    """Answer with how far the audit is; once it has ended, have the page load again."""
    found = study_or_404(study)
    under_way = audit_under_way(found)
    if under_way is None:
        return HttpResponseClientRefresh()
    parts = {"study": found, "under_way": under_way}
    return render(request, "console/blinding/_progress.html", parts)


@require_POST
@study_page
def start(request: StaffRequest, study: Study) -> HttpResponse:
    """Hand an audit to a worker, unless one is under way."""
    try:
        audit = claim_audit(study=study, now=timezone.now(), by=request.user)
    except AuditUnderWayError:
        messages.info(request, _("An audit is under way already."))
    else:
        background.hand_over("heart_site.tasks.run_audit", audit_id=audit.pk)
        messages.success(request, _("A worker audits the blinding now."))
    return redirect("blinding:audits", study.slug)
