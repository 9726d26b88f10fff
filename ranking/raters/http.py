"""Who asks for a page of the console on raters and their judgments, and about which study."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache

from access.roles import StaffRequest, members_only
from annotation.models import Study
from annotation.studies import selectors as annotation_selectors

P = ParamSpec("P")


def staff_page(
    view: Callable[Concatenate[StaffRequest, Study, P], HttpResponse | StreamingHttpResponse],
) -> Callable[..., HttpResponseBase]:
    """Let staff in, find the study of the address, and answer what does not exist with 404."""

    @wraps(view)
    def wrapper(
        request: StaffRequest, /, study: str, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse | StreamingHttpResponse:
        found = annotation_selectors.study_by_slug(study)
        if found is None:
            raise Http404
        return view(request, found, *args, **kwargs)

    return never_cache(members_only()(wrapper))
