"""What the addresses of results have in common: what they name, and who asks."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.http import Http404, HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from access.choices import Role
from access.roles import may
from annotation.models import Study
from annotation.studies import selectors as annotation_selectors
from ranking.fits.selectors import Results
from ranking.models import Fit
from ranking.results import filters

P = ParamSpec("P")
R = TypeVar("R", bound=HttpResponseBase)


def results_page(
    view: Callable[Concatenate[HttpRequest, Results, P], R],
) -> Callable[..., HttpResponseBase]:
    """Answer who reads, with what they may read of the results of the study in the address.

    As long as the study goes on nobody on the way keeps the answer: it may be for the team alone.
    """

    @require_safe
    @wraps(view)
    def wrapper(
        request: HttpRequest, /, study: str, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponseBase:
        results = Results(study_or_404(study), is_team=is_staff(request))
        response = view(request, results, *args, **kwargs)
        if results.is_embargoed:
            response["Cache-Control"] = "private, no-store"
        return response

    return wrapper


def study_or_404(slug: str) -> Study:
    """Return the study of that name."""
    found = annotation_selectors.study_by_slug(slug)
    if found is None:
        msg = f"there is no study {slug}"
        raise Http404(msg)
    return found


def fit_or_404(results: Results, key: str) -> Fit:
    """Return the fit of that name, if it may be read."""
    fit = results.by_key(key)
    if fit is None:
        msg = f"there is no fit {key}"
        raise Http404(msg)
    return fit


def filters_or_404(request: HttpRequest, results: Results) -> filters.Filters:
    """Return the filters of the address, for whose values that do not exist there is no page."""
    try:
        return filters.read_filters(request.GET, fitted=results.selections())
    except filters.UnknownFilterError as error:
        raise Http404(str(error)) from error


def is_staff(request: HttpRequest) -> bool:
    """Say whether the reader is of the team: sees what is embargoed, and people's pseudonyms."""
    return may(request, Role.ANALYST)


def json_answer(content: Mapping[str, Any], name: str) -> JsonResponse:
    """Return plain values as a download of that name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.json"'}
    return JsonResponse(content, headers=headers)
