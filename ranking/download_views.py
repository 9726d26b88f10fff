"""Downloads of ratings, analyses and ensembles."""

from django.http import Http404, HttpRequest, JsonResponse, StreamingHttpResponse
from django.views.decorators.http import require_safe

from access.http import members_only
from access.lists import csv_answer
from ranking import export, history_selectors, released_selectors, results_pages
from ranking.board_selectors import board_of
from ranking.findings import Findings
from ranking.models import Fit
from ranking.released_http import zip_answer
from ranking.results_http import (
    filters_or_404,
    fit_or_404,
    is_staff,
    json_answer,
    study_or_404,
)
from ranking.serializers import BoardOut


@require_safe
def ratings_csv(request: HttpRequest, study: str, key: str) -> StreamingHttpResponse:
    """Download the table of one fit."""
    fit = fit_or_404(study, key)
    board = board_of(fit)
    what = "implied-ratings" if board.is_implied else "ratings"
    rows = export.rating_rows(board)
    name = export.file_name(study, key, what, is_simulated=fit.is_simulated)
    return csv_answer(request, rows, name)


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
    return csv_answer(request, rows, name)


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
    return csv_answer(request, export.history_rows(points), name)


@require_safe
def verdicts_csv(request: HttpRequest, study: str) -> StreamingHttpResponse:
    """Download what became of every call to a judge and of every pair handed to people."""
    accounts = results_pages.accounts_of(study_or_404(study))
    name = export.file_name(study, "verdicts", is_simulated=accounts.is_simulated)
    return csv_answer(request, export.account_rows(accounts.rows), name)


@require_safe
def release_zip(_request: HttpRequest, study: str, key: str) -> StreamingHttpResponse:
    """Download a release that is published; members find the others in the console."""
    release = released_selectors.release_by_key(study_or_404(study), key)
    if release is None or release.published_at is None:
        msg = f"there is no release {key} for everybody"
        raise Http404(msg)
    return zip_answer(release)


@require_safe
@members_only()
def ensemble_csv(request: HttpRequest, study: str) -> StreamingHttpResponse:
    """Download what the LLM judges of a study say together, comparison by comparison."""
    rows = export.ensemble_rows(study_or_404(study))
    return csv_answer(request, rows, f"{study}-ensemble")


def _findings_or_404(request: HttpRequest, fit: Fit, kind: str) -> Findings:
    found = results_pages.analysis_findings(fit, kind, shows_people=is_staff(request))
    if found is None:
        msg = f"there is no analysis {kind} of {fit.key}"
        raise Http404(msg)
    return found
