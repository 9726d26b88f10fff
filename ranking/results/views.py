"""Pages and downloads of results."""

from collections.abc import Callable

from django.core.paginator import Paginator
from django.db.models import BooleanField, Count, ExpressionWrapper, Q
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from access.console.tables import csv_answer
from access.roles import members_only
from annotation.models import Study
from annotation.studies.queries import HOLDS_SIMULATED, holds_simulated
from ranking import downloads as tables
from ranking import figures
from ranking.boards import board_of
from ranking.figures import FigureFormat, FigureRefusedError, FiguresBusyError
from ranking.figures.marks import Drawing
from ranking.findings import Findings
from ranking.fits import analysis_queries
from ranking.fits.queries import ENDED, Results, has_withdrawn_data, is_out_of_date
from ranking.models import Fit
from ranking.plots.radar import UnknownRowError, read_names
from ranking.raters.accounting import CLASSES
from ranking.released import queries
from ranking.released.http import zip_answer
from ranking.report import figures as report_figures
from ranking.report.charts import figures_of_board
from ranking.results import pages
from ranking.results.http import (
    filters_or_404,
    fit_or_404,
    json_answer,
    or_404,
    results_page,
)
from ranking.results.serializers import BoardOut

FITS_A_PAGE = 50


@results_page
def leaderboard(request: HttpRequest, results: Results) -> HttpResponse:
    """Show the newest ratings of the pool and the contexts that the address names."""
    chosen = filters_or_404(request, results)
    fit = results.latest(*chosen.selected)
    release = queries.published_release(results.study)
    parts = _frame(results) | {
        "filters": chosen,
        **(_with_board(fit, results) if fit else {}),
        "has_fits": chosen.has_any,
        "is_out_of_date": results.has_all and is_out_of_date(fit),
        "release": release,
        "is_release_stale": release is not None and queries.is_stale(release),
    }
    return render(request, "ranking/results.html", parts)


@results_page
def fit_page(request: HttpRequest, results: Results, key: str) -> HttpResponse:
    """Show the ratings of one fit: the address under which they can be cited."""
    fit = fit_or_404(results, key)
    parts = _frame(results) | {
        **_with_board(fit, results),
        "is_withdrawn_from": results.has_all and has_withdrawn_data(fit),
        "earlier": pages.earlier_fits(fit, results.fits),
    }
    return render(request, "ranking/fit.html", parts)


def _with_board(fit: Fit, results: Results) -> dict[str, object]:
    """Return a fit with its ratings, their charts, and what stands beside them."""
    board = board_of(fit)
    analysed, links = pages.analyses_beside(fit, results)
    return {
        "fit": fit,
        "board": board,
        "charts": figures_of_board(board),
        "scores": pages.scores_beside(fit, results),
        "analysed": analysed,
        "links": links,
    }


@results_page
def fits(request: HttpRequest, results: Results) -> HttpResponse:
    """List the fits of a study, newest first, each under its permanent address."""
    n_analyses = Count("analyses", filter=Q(analyses__state__in=ENDED))
    newest_first = results.fits.annotate(n_analyses=n_analyses).order_by("-as_of", "-pk")
    page = Paginator(newest_first, FITS_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "ranking/fits.html", _frame(results) | {"page": page})


@results_page
def analysis(request: HttpRequest, results: Results, key: str, kind: str) -> HttpResponse:
    """Show what one analysis of one fit found."""
    fit = fit_or_404(results, key)
    chosen = read_names(request.GET.getlist("systems"))
    try:
        page = pages.analysis_page(fit, kind, shows_people=results.is_team, chosen=chosen)
    except UnknownRowError as error:
        msg = f"there is no system {error} in {key}"
        raise Http404(msg) from error
    page = or_404(page, f"there is no analysis {kind} of {key}")
    return render(request, "ranking/analysis.html", _frame(results) | {"page": page})


@results_page
def history(request: HttpRequest, results: Results) -> HttpResponse:
    """Show how the ratings moved of the pool and the contexts that the address names."""
    chosen = filters_or_404(request, results)
    moved = pages.history_page(results, *chosen.selected)
    parts = {"filters": chosen, "history": moved, "has_fits": chosen.has_any}
    return render(request, "ranking/history.html", _frame(results) | parts)


@results_page
def verdicts(request: HttpRequest, results: Results) -> HttpResponse:
    """Show what became of every call to a judge and of every pair handed to people."""
    accounts = pages.accounts_of(results)
    parts = _frame(results) | {
        "accounts": accounts,
        "labels": CLASSES.values(),
        "is_simulated": any(row.is_simulated for row in accounts),
    }
    return render(request, "ranking/verdicts.html", parts)


def _frame(results: Results) -> dict[str, object]:
    """Return what all pages of results show around what is their own."""
    return {"study": results.study, "results": results}


@results_page
def ratings_csv(request: HttpRequest, results: Results, key: str) -> StreamingHttpResponse:
    """Download the table of one fit."""
    fit = fit_or_404(results, key)
    board = board_of(fit)
    what = "implied-ratings" if board.is_implied else "ratings"
    return csv_answer(request, tables.rating_rows(board), tables.name_of_fit_file(fit, what))


@results_page
def ratings_json(_request: HttpRequest, results: Results, key: str) -> JsonResponse:
    """Download the ratings of one fit with their conditions."""
    fit = fit_or_404(results, key)
    board = BoardOut(pages.board_with_analyses(fit, results))  # as the API tells of it
    return json_answer(dict(board.data), tables.name_of_fit_file(fit, "ratings"))


@results_page
def table_csv(
    request: HttpRequest, results: Results, key: str, kind: str, table: str
) -> StreamingHttpResponse:
    """Download one table of an analysis."""
    fit = fit_or_404(results, key)
    findings = _findings_or_404(results, fit, kind)
    found = or_404(pages.table_by_key(findings, table), f"there is no table {table}")
    terms = pages.terms_of(fit) | {"is_exploratory": findings.is_exploratory}
    rows = tables.finding_rows(found, terms=terms)
    return csv_answer(request, rows, tables.name_of_fit_file(fit, f"{kind}-{table}"))


@results_page
def analysis_json(_request: HttpRequest, results: Results, key: str, kind: str) -> JsonResponse:
    """Download all that one analysis found."""
    fit = fit_or_404(results, key)
    found = _findings_or_404(results, fit, kind)
    content = pages.as_json(found, fit=fit, kind=kind)
    return json_answer(content, tables.name_of_fit_file(fit, kind))


@results_page
def history_csv(request: HttpRequest, results: Results) -> StreamingHttpResponse:
    """Download how the ratings moved of the pool and the contexts that the address names."""
    pool, context_set = filters_or_404(request, results).selected
    points = analysis_queries.history(results, pool, context_set)
    parts = (results.study.slug, "history", pool.lower(), context_set.lower())
    is_embargoed = results.is_team and results.is_embargoed
    name = tables.file_name(
        *parts,
        is_simulated=any(point.is_simulated for point in points),
        is_embargoed=is_embargoed,
    )
    return csv_answer(request, tables.history_rows(points), name)


@results_page
def verdicts_csv(request: HttpRequest, results: Results) -> StreamingHttpResponse:
    """Download what became of every call to a judge and of every pair handed to people."""
    if not results.has_all:
        msg = "what became of the calls is kept back until the study is closed"
        raise Http404(msg)
    accounts = pages.accounts_of(results)
    name = tables.file_name(
        *(results.study.slug, "verdicts"),
        is_simulated=holds_simulated(results.study),
        is_embargoed=results.is_embargoed,
    )
    return csv_answer(request, tables.account_rows(accounts), name)


@results_page
def release_zip(_request: HttpRequest, results: Results, key: str) -> StreamingHttpResponse:
    """Download a release that is published; members find the others in the console."""
    release = queries.release_by_key(results.study, key)
    if release is None or release.published_at is None:
        msg = f"there is no release {key} for everybody"
        raise Http404(msg)
    return zip_answer(release)


@require_safe
@members_only()
def ensemble_csv(request: HttpRequest, study: str) -> StreamingHttpResponse:
    """Download what the LLM judges of a study say together, comparison by comparison."""
    simulated = ExpressionWrapper(HOLDS_SIMULATED, BooleanField())
    studies = Study.objects.annotate(holds_simulated=simulated)
    found = or_404(studies.filter(slug=study).first(), f"there is no study {study}")
    name = tables.file_name(
        *(found.slug, "ensemble"),
        is_simulated=found.holds_simulated,
        is_embargoed=Results(found, is_team=True).is_embargoed,
    )
    return csv_answer(request, tables.ensemble_rows(found), name)


def _findings_or_404(results: Results, fit: Fit, kind: str) -> Findings:
    found = pages.analysis_findings(fit, kind, shows_people=results.is_team)
    return or_404(found, f"there is no analysis {kind} of {fit.key}")


KEPT_S = 3600  # names of systems may be mended, and an analysis be computed anew
RETRY_S = 30


@results_page
def ratings_figure(_request: HttpRequest, results: Results, key: str, form: str) -> HttpResponse:
    """Download the ratings of one fit, with their intervals, as a figure."""
    chosen = _form_or_404(form)
    fit = fit_or_404(results, key)
    groups, caption, sign = report_figures.ratings_to_draw(fit)
    name = tables.name_of_fit_file(fit, "ratings", is_simulated=sign.is_simulated)
    return _answer(lambda: figures.board_drawing(groups, caption, sign), chosen, name)


@results_page
def table_figure(
    request: HttpRequest, results: Results, key: str, kind: str, table: str, form: str
) -> HttpResponse:
    """Download one table of an analysis as a figure."""
    chosen = _form_or_404(form)
    rows = read_names(request.GET.getlist("systems"))
    fit = fit_or_404(results, key)
    try:
        found = report_figures.table_to_draw(fit, kind, table, rows)
    except UnknownRowError as error:
        msg = f"there is no system {error} in {key}"
        raise Http404(msg) from error
    found = or_404(found, f"there is no table {table} of {kind}")
    name = tables.name_of_fit_file(fit, f"{kind}-{table}", is_simulated=found[1].is_simulated)
    return _answer(lambda: figures.table_drawing(*found), chosen, name)


def _form_or_404(form: str) -> FigureFormat:
    try:
        return FigureFormat(form)
    except ValueError as error:
        msg = f"there are no figures in the format {form}"
        raise Http404(msg) from error


def _answer(draw: Callable[[], Drawing], form: FigureFormat, name: str) -> HttpResponse:
    """Return the file, or in words why there is none."""
    try:
        content = figures.rendered(draw(), form)
    except FigureRefusedError as error:
        return _words(str(error), status=422)
    except FiguresBusyError:
        text = gettext("Other figures are being drawn. Please try again in a minute.")
        response = _words(text, status=503)
        response["Retry-After"] = str(RETRY_S)
        return response
    headers = {
        "Cache-Control": f"public, max-age={KEPT_S}",
        "Content-Disposition": f'attachment; filename="{name}.{form}"',
    }
    return HttpResponse(content, content_type=form.content_type, headers=headers)


def _words(text: str, *, status: int) -> HttpResponse:
    headers = {"Cache-Control": "no-store"}
    content_type = "text/plain; charset=utf-8"
    return HttpResponse(text, status=status, content_type=content_type, headers=headers)
