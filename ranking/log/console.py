"""The console's pages on the log: all of it, and that of one study."""

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from access.console.tables import csv_answer
from access.roles import StaffRequest, members_only
from annotation.models import Study
from ranking.log import queries
from ranking.log.forms import LogQuestion
from ranking.raters.http import staff_page


@require_safe
@staff_page
def study_log(request: StaffRequest, study: Study) -> HttpResponse:
    """Show who did what to a study, its raters, runs and releases."""
    return _page(request, study)


@require_safe
@staff_page
def study_log_csv(request: StaffRequest, study: Study) -> HttpResponse | StreamingHttpResponse:
    """Download the entries that are meant."""
    return _csv(request, study, f"{study.slug}-log")


@require_safe
@never_cache
@members_only()
def whole_log(request: StaffRequest) -> HttpResponse:
    """Show who did what, anywhere."""
    return _page(request, None)


@require_safe
@never_cache
@members_only()
def whole_log_csv(request: StaffRequest) -> HttpResponse | StreamingHttpResponse:
    """Download the entries that are meant."""
    return _csv(request, None, "log")


def _page(request: StaffRequest, study: Study | None) -> HttpResponse:
    form = LogQuestion(request.GET)
    parts: dict[str, object] = {"study": study, "form": form}
    is_valid = form.is_valid()
    wanted = form.asked() if is_valid else queries.LogFilter()
    page = queries.log_page(study, wanted, number=request.GET.get("page", "1"))
    parts |= {"log": page, "page": page.page, "wanted": form, "asked": wanted}
    parts |= {"nobody": queries.NOBODY}
    return render(request, "console/log/log.html", parts, status=200 if is_valid else 422)


def _csv(
    request: StaffRequest, study: Study | None, name: str
) -> HttpResponse | StreamingHttpResponse:
    form = LogQuestion(request.GET)
    if not form.is_valid():
        return HttpResponse("", status=422, content_type="text/csv; charset=utf-8")
    return csv_answer(request, queries.log_rows(study, form.asked()), name)
