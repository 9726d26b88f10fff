"""Pages of results."""

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from ranking.boards.queries import board_of
from ranking.fits import selectors, stale_queries
from ranking.fits.selectors import Results
from ranking.plots.radar import ChosenRows, UnknownRowError
from ranking.released import queries
from ranking.report import queries as report_queries
from ranking.report.rendered.board_charts import figures_of_board
from ranking.results import history as result_history
from ranking.results import pages as result_pages
from ranking.results.http import filters_or_404, fit_or_404, results_page

FITS_A_PAGE = 50


@results_page
def leaderboard(request: HttpRequest, results: Results) -> HttpResponse:
    """Show the newest ratings of the pool and the contexts that the address names."""
    chosen = filters_or_404(request, results)
    fit = results.latest(*chosen.selected)
    board = board_of(fit) if fit else None
    parts = _frame(results) | {
        "filters": chosen,
        "fit": fit,
        "board": board,
        "charts": figures_of_board(board),
        "scores": result_pages.scores_beside(fit, results) if fit else None,
        "analyses": result_pages.analyses_beside(fit, results) if fit else None,
        "has_fits": chosen.has_any,
        "is_out_of_date": results.has_all and selectors.is_out_of_date(fit),
        "release": queries.published_release(results.study),
    }
    return render(request, "ranking/results.html", parts)


@results_page
def fit_page(request: HttpRequest, results: Results, key: str) -> HttpResponse:
    """Show the ratings of one fit: the address under which they can be cited."""
    fit = fit_or_404(results, key)
    board = board_of(fit)
    earlier = report_queries.earlier_fits(fit, results.fits)
    parts = _frame(results) | {
        "fit": fit,
        "board": board,
        "charts": figures_of_board(board),
        "scores": result_pages.scores_beside(fit, results),
        "analyses": result_pages.analyses_beside(fit, results),
        "is_withdrawn_from": results.has_all and stale_queries.has_withdrawn_data(fit),
        "earlier": [result_pages.fit_line(one) for one in earlier],
    }
    return render(request, "ranking/fit.html", parts)


@results_page
def fits(request: HttpRequest, results: Results) -> HttpResponse:
    """List the fits of a study, newest first, each under its permanent address."""
    pages = Paginator(report_queries.newest_first(results.fits), FITS_A_PAGE)
    page = pages.get_page(request.GET.get("page"))
    parts = _frame(results) | {
        "page": page,
        "fits": [result_pages.fit_line(one) for one in page.object_list],
    }
    return render(request, "ranking/fits.html", parts)


@results_page
def analysis(request: HttpRequest, results: Results, key: str, kind: str) -> HttpResponse:
    """Show what one analysis of one fit found."""
    fit = fit_or_404(results, key)
    chosen = ChosenRows.read(request.GET.getlist("systems"))
    try:
        page = result_pages.analysis_page(fit, kind, shows_people=results.is_team, chosen=chosen)
    except UnknownRowError as error:
        msg = f"there is no system {error} in {key}"
        raise Http404(msg) from error
    if page is None:
        msg = f"there is no analysis {kind} of {key}"
        raise Http404(msg)
    return render(request, "ranking/analysis.html", _frame(results) | {"page": page})


@results_page
def history(request: HttpRequest, results: Results) -> HttpResponse:
    """Show how the ratings moved of the pool and the contexts that the address names."""
    chosen = filters_or_404(request, results)
    page = result_history.history_page(results, *chosen.selected)
    parts = {"filters": chosen, "history": page, "has_fits": chosen.has_any}
    return render(request, "ranking/history.html", _frame(results) | parts)


@results_page
def verdicts(request: HttpRequest, results: Results) -> HttpResponse:
    """Show what became of every call to a judge and of every pair handed to people."""
    accounts = result_pages.accounts_of(results)
    return render(request, "ranking/verdicts.html", _frame(results) | {"accounts": accounts})


def _frame(results: Results) -> dict[str, object]:
    """Return what all pages of results show around what is their own."""
    return {"study": results.study, "results": results}
