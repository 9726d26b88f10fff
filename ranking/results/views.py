"""Pages of results."""

from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from ranking.boards.queries import board_of
from ranking.fits import selectors, stale_queries
from ranking.fits.selectors import ENDED, Results
from ranking.models import Fit
from ranking.plots.radar import ChosenRows, UnknownRowError
from ranking.raters.accounting import CLASSES
from ranking.released import queries
from ranking.report.charts import figures_of_board
from ranking.results import pages
from ranking.results.http import filters_or_404, fit_or_404, results_page

FITS_A_PAGE = 50


@results_page
def leaderboard(request: HttpRequest, results: Results) -> HttpResponse:
    """Show the newest ratings of the pool and the contexts that the address names."""
    chosen = filters_or_404(request, results)
    fit = results.latest(*chosen.selected)
    parts = _frame(results) | {
        "filters": chosen,
        **(_with_board(fit, results) if fit else {}),
        "has_fits": chosen.has_any,
        "is_out_of_date": results.has_all and selectors.is_out_of_date(fit),
        "release": queries.published_release(results.study),
    }
    return render(request, "ranking/results.html", parts)


@results_page
def fit_page(request: HttpRequest, results: Results, key: str) -> HttpResponse:
    """Show the ratings of one fit: the address under which they can be cited."""
    fit = fit_or_404(results, key)
    parts = _frame(results) | {
        **_with_board(fit, results),
        "is_withdrawn_from": results.has_all and stale_queries.has_withdrawn_data(fit),
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
    chosen = ChosenRows.read(request.GET.getlist("systems"))
    try:
        page = pages.analysis_page(fit, kind, shows_people=results.is_team, chosen=chosen)
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
