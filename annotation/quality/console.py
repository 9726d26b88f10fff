"""The console's page on the quality checks of a study."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from access.console.table_query import read_text
from access.roles import StaffRequest
from annotation.models import Comparison, Study
from annotation.quality import check_queries, services
from annotation.quality.forms import MarkForm, SwitchForm
from annotation.studies import selectors
from annotation.studies.http import study_page


@require_safe
@study_page
def checks(request: StaffRequest, study: Study) -> HttpResponse:
    """Show how each check fares, and a comparison that may become one, by its key."""
    asked = read_text(request.GET, "key")
    context = {
        "study": study,
        "checks": check_queries.check_rows(study),
        "asked": asked,
        "candidate": check_queries.candidate(study, asked) if asked else None,
        "dimensions": selectors.content_of(study)["rubric"]["dimensions"],
    }
    return render(request, "console/study/checks.html", context)


@require_POST
@study_page
def switch(request: StaffRequest, study: Study, pk: int) -> HttpResponse:
    """Turn a check off, or on again, with the reason."""
    check = check_queries.check_of(study, pk)
    if check is None:
        raise Http404
    form = SwitchForm(request.POST)
    if form.is_valid():
        services.switch_check(check=check, by=request.user, now=timezone.now(), **form.cleaned_data)
        messages.success(request, _("Done. Answers given so far stay what they are."))
    else:
        messages.error(request, form.problem())
    return redirect("console:checks", study.slug)


@require_POST
@study_page
def mark(request: StaffRequest, study: Study) -> HttpResponse:
    """Make a comparison that counts a check as well."""
    form = MarkForm(request.POST)
    key = request.POST.get("key", "")
    comparison = check_queries.comparison_by_key(study, key)
    if comparison is None:
        raise Http404
    problem = _mark(request, comparison, form) if form.is_valid() else form.problem()
    if problem:
        messages.error(request, problem)
        return redirect(f"{reverse('console:checks', args=[study.slug])}?{urlencode({'key': key})}")
    messages.success(request, _("Marked. It is handed out as a check from now on, too."))
    return redirect("console:checks", study.slug)


def _mark(request: StaffRequest, comparison: Comparison, form: MarkForm) -> str:
    """Return what stood against it, or nothing."""
    try:
        services.mark_gold(
            comparison=comparison,
            expected=form.cleaned_data["expected"],
            dimension=form.cleaned_data["dimension"],
            reason=form.cleaned_data["reason"],
            by=request.user,
            now=timezone.now(),
        )
    except (services.UnsuitableCheckError, services.AlreadyACheckError) as error:
        return f"{error}."
    return ""
