"""Who asks for a dataset's page of the console: staff, and about a dataset that exists."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from django.contrib.admin.views.decorators import staff_member_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache

from completions import console_selectors, selectors
from completions.models import Dataset

P = ParamSpec("P")
Found = TypeVar("Found")


class StaffRequest(HttpRequest):
    """A request of a signed-in member of staff."""

    user: User


def staff_page(
    view: Callable[Concatenate[StaffRequest, Dataset, P], HttpResponse],
) -> Callable[..., HttpResponse]:
    """Let staff in, find the dataset of the address, and answer what does not exist with 404."""

    @wraps(view)
    def wrapper(
        request: StaffRequest, /, dataset: str, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        found = selectors.dataset_by_slug(dataset)
        if found is None:
            raise Http404
        try:
            return view(request, found, *args, **kwargs)
        except console_selectors.UnknownFilterError as error:
            raise Http404 from error

    return never_cache(staff_member_required(wrapper))


def or_404(found: Found | None) -> Found:
    """Return what was found, or answer that it does not exist."""
    if found is None:
        raise Http404
    return found
