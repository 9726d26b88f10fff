"""Downloads of figures for print."""

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext

from ranking import figures
from ranking.downloads import tables
from ranking.figures import FigureRefusedError, FiguresBusyError, Form
from ranking.figures.marks import Drawing
from ranking.fits.selectors import Results
from ranking.plots.chosen import Chosen, UnknownRowError
from ranking.report import figures as report_figures
from ranking.results.http import fit_or_404, results_page

KEPT_S = 3600  # names of systems may be mended, and an analysis be computed anew
RETRY_S = 30


@results_page
def ratings_figure(_request: HttpRequest, results: Results, key: str, form: str) -> HttpResponse:
    """Download the ratings of one fit, with their intervals, as a figure."""
    chosen = _form_or_404(form)
    fit = fit_or_404(results, key)
    board, sign = report_figures.ratings_to_draw(fit)
    name = tables.name_of_fit_file(fit, "ratings", is_simulated=sign.is_simulated)
    return _answer(lambda: figures.board_drawing(board, sign), chosen, name)


@results_page
def table_figure(
    request: HttpRequest, results: Results, key: str, kind: str, table: str, form: str
) -> HttpResponse:
    """Download one table of an analysis as a figure."""
    chosen = _form_or_404(form)
    chosen_rows = Chosen.read(request.GET.getlist("systems"))
    fit = fit_or_404(results, key)
    try:
        found = report_figures.table_to_draw(fit, kind, table, chosen_rows)
    except UnknownRowError as error:
        msg = f"there is no system {error} in {key}"
        raise Http404(msg) from error
    if found is None:
        msg = f"there is no table {table} of {kind}"
        raise Http404(msg)
    name = tables.name_of_fit_file(fit, f"{kind}-{table}", is_simulated=found.sign.is_simulated)
    return _answer(lambda: figures.table_drawing(found.table, found.sign), chosen, name)


def _form_or_404(form: str) -> Form:
    try:
        return Form(form)
    except ValueError as error:
        msg = f"there are no figures in the format {form}"
        raise Http404(msg) from error


def _answer(draw: Callable[[], Drawing], form: Form, name: str) -> HttpResponse:
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
