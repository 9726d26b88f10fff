"""What the addresses of results have in common: what they name, and who asks."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpRequest, JsonResponse

from access.choices import Role
from access.http import may
from annotation import selectors as annotation_selectors
from annotation.models import Study
from ranking import filters, selectors
from ranking.models import Fit


def study_or_404(slug: str) -> Study:
    """Return the study of that name."""
    found = annotation_selectors.study_by_slug(slug)
    if found is None:
        msg = f"there is no study {slug}"
        raise Http404(msg)
    return found


def fit_or_404(slug: str, key: str) -> Fit:
    """Return the ended fit of that name in that study."""
    fit = selectors.fit_by_key(study=study_or_404(slug), key=key)
    if fit is None:
        msg = f"there is no fit {key}"
        raise Http404(msg)
    return fit


def filters_or_404(request: HttpRequest, study: Study) -> filters.Filters:
    """Return the filters of the address, for whose values that do not exist there is no page."""
    fitted = selectors.fitted_selections(study)
    try:
        return filters.read_filters(request.GET, fitted=fitted)
    except filters.UnknownFilterError as error:
        raise Http404(str(error)) from error


def is_staff(request: HttpRequest) -> bool:
    """Say whether the reader runs the site, and so may see single people's pseudonyms."""
    return may(request, Role.ANALYST)


def json_answer(content: Mapping[str, Any], name: str) -> JsonResponse:
    """Return plain values as a download of that name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.json"'}
    return JsonResponse(content, headers=headers)
