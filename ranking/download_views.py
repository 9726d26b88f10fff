"""Downloads of ratings, analyses and judgments."""

from django.contrib.admin.views.decorators import staff_member_required
from django.http import Http404, HttpRequest, JsonResponse, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from ranking import export, history_selectors, results_pages
from ranking.board_selectors import board_of
from ranking.findings import Findings
from ranking.models import Fit
from ranking.results_http import (
    csv_answer,
    filters_or_404,
    fit_or_404,
    is_staff,
    json_answer,
    study_or_404,
)
from ranking.serializers import BoardOut


@require_safe
def ratings_csv(_request: HttpRequest, study: str, key: str) -> StreamingHttpResponse:
    """Download the table of one fit."""
    fit = fit_or_404(study, key)
    board = board_of(fit)
    what = "implied-ratings" if board.is_implied else "ratings"
    lines = export.csv_lines(export.rating_rows(board))
    return csv_answer(lines, export.file_name(study, key, what, is_simulated=fit.is_simulated))


@require_safe
def ratings_json(_request: HttpRequest, study: str, key: str) -> JsonResponse:
    """Download the ratings of one fit with their conditions."""
    fit = fit_or_404(study, key)
    content = BoardOut(board_of(fit)).data
    return json_answer(
        dict(content), export.file_name(study, key, "ratings", is_simulated=fit.is_simulated)
    )


@require_safe
def table_csv(
    request: HttpRequest, study: str, key: str, kind: str, table: str
) -> StreamingHttpResponse:
    """Download one table of an analysis."""
    fit = fit_or_404(study, key)
    findings = _findings_or_404(request, fit, kind)
    found = results_pages.table_by_key(findings, table)
    if found is None:
        msg = f"there is no table {table}"
        raise Http404(msg)
    terms = results_pages.terms_of(fit) | {"is_exploratory": findings.is_exploratory}
    rows = export.finding_rows(found, terms=terms)
    name = export.file_name(study, key, f"{kind}-{table}", is_simulated=fit.is_simulated)
    return csv_answer(export.csv_lines(rows), name)


@require_safe
def analysis_json(request: HttpRequest, study: str, key: str, kind: str) -> JsonResponse:
    """Download all that one analysis found."""
    fit = fit_or_404(study, key)
    found = _findings_or_404(request, fit, kind)
    content = results_pages.as_json(found, fit=fit, kind=kind)
    return json_answer(content, export.file_name(study, key, kind, is_simulated=fit.is_simulated))


@require_safe
def history_csv(request: HttpRequest, study: str) -> StreamingHttpResponse:
    """Download how the ratings moved of the pool and the contexts that the address names."""
    found = study_or_404(study)
    pool, context_set = filters_or_404(request, found).selected
    points = history_selectors.history(found, pool, context_set)
    is_simulated = any(point.is_simulated for point in points)
    parts = (study, "history", pool.lower(), context_set.lower())
    name = export.file_name(*parts, is_simulated=is_simulated)
    return csv_answer(export.csv_lines(export.history_rows(points)), name)


@require_safe
def verdicts_csv(_request: HttpRequest, study: str) -> StreamingHttpResponse:
    """Download what became of every call to a judge and of every pair handed to people."""
    accounts = results_pages.accounts_of(study_or_404(study))
    name = export.file_name(study, "verdicts", is_simulated=accounts.is_simulated)
    return csv_answer(export.csv_lines(export.account_rows(accounts.rows)), name)


@require_safe
@staff_member_required
def judgments_csv(_request: HttpRequest, study: str) -> StreamingHttpResponse:
    """Download all judgments of a study, row by row as the database gives them."""
    rows = export.judgment_rows(study=study_or_404(study), now=timezone.now())
    return csv_answer(export.csv_lines(rows), f"{study}-judgments")


@require_safe
@staff_member_required
def ensemble_csv(_request: HttpRequest, study: str) -> StreamingHttpResponse:
    """Download what the LLM judges of a study say together, comparison by comparison."""
    rows = export.ensemble_rows(study_or_404(study))
    return csv_answer(export.csv_lines(rows), f"{study}-ensemble")


def _findings_or_404(request: HttpRequest, fit: Fit, kind: str) -> Findings:
    found = results_pages.analysis_findings(fit, kind, shows_people=is_staff(request))
    if found is None:
        msg = f"there is no analysis {kind} of {fit.key}"
        raise Http404(msg)
    return found
