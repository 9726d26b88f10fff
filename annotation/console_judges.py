"""The console's pages on the LLM judges of a study: accounts, position, and the ensemble."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation import verdict_selectors
from annotation.console_http import StaffRequest, study_page
from annotation.models import Study


@require_GET
@study_page
def judges(request: StaffRequest, study: Study) -> HttpResponse:
    """Show what became of every call, how steady each judge is, and where they do not agree."""
    show = request.GET.get("show", "")
    if show not in verdict_selectors.SHOWS:
        raise Http404
    page = verdict_selectors.judges_page(study, show=show, page=request.GET.get("page", "1"))
    parts = {"study": study, "page": page, "show": show}
    return render(request, "console/study/judges.html", parts)


@require_GET
@study_page
def judged(request: StaffRequest, study: Study, key: str) -> HttpResponse:
    """Show the calls that put one comparison to the judges."""
    pair = verdict_selectors.judged_pair(study, key)
    if pair is None:
        raise Http404
    return render(request, "console/study/judged.html", {"study": study, "pair": pair})
