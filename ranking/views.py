"""Pages and downloads of ratings."""

from django.contrib.admin.views.decorators import staff_member_required
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation import selectors as annotation_selectors
from annotation.models import Study
from ranking import export, filters, selectors
from ranking.models import Fit


@require_safe
def leaderboard(request: HttpRequest, study: str) -> HttpResponse:
    """Show the newest ratings of the pool and the contexts that the address names."""
    found = _study_or_404(study)
    fitted = selectors.fitted_selections(found)
    try:
        chosen = filters.read_filters(request.GET, fitted=fitted)
    except filters.UnknownFilterError as error:
        raise Http404(str(error)) from error
    pool, context_set = chosen.selected
    fit = selectors.latest_fit(study=found, pool=pool, context_set=context_set)
    parts = {
        "study": found,
        "filters": chosen,
        "board": selectors.board_of(fit) if fit else None,
        "has_fits": bool(fitted),
        "is_out_of_date": selectors.is_out_of_date(fit),
    }
    return render(request, "ranking/results.html", parts)


@require_safe
def fit_page(request: HttpRequest, study: str, key: str) -> HttpResponse:
    """Show the ratings of one fit: the address under which they can be cited."""
    board = selectors.board_of(_fit_or_404(study, key))
    return render(request, "ranking/fit.html", {"board": board})


@require_safe
def ratings_csv(_request: HttpRequest, study: str, key: str) -> StreamingHttpResponse:
    """Download the table of one fit."""
    board = selectors.board_of(_fit_or_404(study, key))
    lines = export.csv_lines(export.rating_rows(board))
    return _download(lines, f"{study}-{key}-ratings.csv")


@require_safe
@staff_member_required
def judgments_csv(_request: HttpRequest, study: str) -> StreamingHttpResponse:
    """Download all judgments of a study, row by row as the database gives them."""
    rows = export.judgment_rows(study=_study_or_404(study), now=timezone.now())
    return _download(export.csv_lines(rows), f"{study}-judgments.csv")


@require_safe
@staff_member_required
def ensemble_csv(_request: HttpRequest, study: str) -> StreamingHttpResponse:
    """Download what the LLM judges of a study say together, comparison by comparison."""
    rows = export.ensemble_rows(_study_or_404(study))
    return _download(export.csv_lines(rows), f"{study}-ensemble.csv")


def _download(lines: export.Lines, name: str) -> StreamingHttpResponse:
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8", headers=disposition)


def _study_or_404(slug: str) -> Study:
    found = annotation_selectors.study_by_slug(slug)
    if found is None:
        msg = f"there is no study {slug}"
        raise Http404(msg)
    return found


def _fit_or_404(slug: str, key: str) -> Fit:
    fit = selectors.fit_by_key(study=_study_or_404(slug), key=key)
    if fit is None:
        msg = f"there is no fit {key}"
        raise Http404(msg)
    return fit
