"""Pages of results."""

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ranking import (
    released_selectors,
    results_history,
    results_pages,
    results_selectors,
    selectors,
    stale_selectors,
)
from ranking.board_selectors import board_of
from ranking.plots.chosen import Chosen, UnknownRowError
from ranking.results_http import filters_or_404, fit_or_404, is_staff, study_or_404
from ranking.shown.board_charts import figures_of_board

FITS_A_PAGE = 50


@require_safe
def leaderboard(request: HttpRequest, study: str) -> HttpResponse:
    """Show the newest ratings of the pool and the contexts that the address names."""
    found = study_or_404(study)
    chosen = filters_or_404(request, found)
    pool, context_set = chosen.selected
    fit = selectors.latest_fit(study=found, pool=pool, context_set=context_set)
    board = board_of(fit) if fit else None
    parts = {
        "study": found,
        "filters": chosen,
        "board": board,
        "charts": figures_of_board(board),
        "scores": results_pages.scores_beside(fit) if fit else None,
        "analyses": results_pages.analyses_beside(fit) if fit else None,
        "has_fits": chosen.has_any,
        "is_out_of_date": selectors.is_out_of_date(fit),
        "release": released_selectors.published_release(found),
    }
    return render(request, "ranking/results.html", parts)


@require_safe
def fit_page(request: HttpRequest, study: str, key: str) -> HttpResponse:
    """Show the ratings of one fit: the address under which they can be cited."""
    fit = fit_or_404(study, key)
    board = board_of(fit)
    parts = {
        "study": fit.study,
        "board": board,
        "charts": figures_of_board(board),
        "scores": results_pages.scores_beside(fit),
        "analyses": results_pages.analyses_beside(fit),
        "is_withdrawn_from": stale_selectors.has_withdrawn_data(fit),
        "earlier": [results_pages.fit_line(one) for one in results_selectors.earlier_fits(fit)],
    }
    return render(request, "ranking/fit.html", parts)


@require_safe
def fits(request: HttpRequest, study: str) -> HttpResponse:
    """List the fits of a study, newest first, each under its permanent address."""
    found = study_or_404(study)
    pages = Paginator(results_selectors.ended_fits(found), FITS_A_PAGE)
    page = pages.get_page(request.GET.get("page"))
    parts = {
        "study": found,
        "page": page,
        "fits": [results_pages.fit_line(one) for one in page.object_list],
    }
    return render(request, "ranking/fits.html", parts)


@require_safe
def analysis(request: HttpRequest, study: str, key: str, kind: str) -> HttpResponse:
    """Show what one analysis of one fit found."""
    fit = fit_or_404(study, key)
    chosen = Chosen.read(request.GET.getlist("systems"))
    try:
        page = results_pages.analysis_page(fit, kind, shows_people=is_staff(request), chosen=chosen)
    except UnknownRowError as error:
        msg = f"there is no system {error} in {key}"
        raise Http404(msg) from error
    if page is None:
        msg = f"there is no analysis {kind} of {key}"
        raise Http404(msg)
    return render(request, "ranking/analysis.html", {"study": fit.study, "page": page})


@require_safe
def history(request: HttpRequest, study: str) -> HttpResponse:
    """Show how the ratings moved of the pool and the contexts that the address names."""
    found = study_or_404(study)
    chosen = filters_or_404(request, found)
    page = results_history.history_page(found, *chosen.selected)
    parts = {"study": found, "filters": chosen, "history": page, "has_fits": chosen.has_any}
    return render(request, "ranking/history.html", parts)


@require_safe
def verdicts(request: HttpRequest, study: str) -> HttpResponse:
    """Show what became of every call to a judge and of every pair handed to people."""
    found = study_or_404(study)
    accounts = results_pages.accounts_of(found)
    return render(request, "ranking/verdicts.html", {"study": found, "accounts": accounts})
