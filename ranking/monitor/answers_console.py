"""The console's page with the answers of one rater, and the same to download."""

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from access.console.tables import csv_answer
from access.roles import StaffRequest
from annotation.models import Rater, Study
from annotation.studies import selectors as annotation_selectors
from ranking.downloads import tables
from ranking.raters import queries
from ranking.raters.http import staff_page
from ranking.raters.rows import ANSWERS, KINDS

PER_PAGE = 50


@require_safe
@staff_page
def answers(request: StaffRequest, study: Study, code: str) -> HttpResponse:
    """Show what a rater answered: which counts, which was a check, and how that went."""
    filters, rater = ANSWERS.asked(request), _rater_or_404(study, code)
    rows = queries.answers_of(rater, as_of=timezone.now())
    page = Paginator(filters.listed(rows), PER_PAGE).get_page(request.GET.get("page"))
    parts = {
        "study": study,
        "rater": rater,
        "filters": filters,
        "kinds": KINDS.items(),
        "page": page,
        "n_all": len(rows),
    }
    return render(request, "console/raters/answers.html", parts)


@require_safe
@staff_page
def answers_csv(request: StaffRequest, study: Study, code: str) -> StreamingHttpResponse:
    """Download the same answers, in the same order."""
    filters, rater = ANSWERS.asked(request), _rater_or_404(study, code)
    rows = queries.answers_of(rater, as_of=timezone.now())
    found = tables.answer_rows(rater.code, filters.listed(rows))
    return csv_answer(request, found, f"{rater.code}-answers")


def _rater_or_404(study: Study, code: str) -> Rater:
    found = annotation_selectors.rater_by_code(study=study, code=code)
    if found is None:
        raise Http404
    return found
