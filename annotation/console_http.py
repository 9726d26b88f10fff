"""Who asks for a study's page of the console: staff, and about a study that exists."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib.admin.views.decorators import staff_member_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache

from annotation.http import study_or_404
from annotation.models import Study

P = ParamSpec("P")


class StaffRequest(HttpRequest):
    """A request of a signed-in member of staff."""

    user: User


def study_page(
    view: Callable[Concatenate[StaffRequest, Study, P], HttpResponse],
) -> Callable[..., HttpResponse]:
    """Let staff in, find the study of the address, and keep the page out of every cache."""

    @wraps(view)
    def wrapper(
        request: StaffRequest, /, study: str, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        return view(request, study_or_404(study), *args, **kwargs)

    return never_cache(staff_member_required(wrapper))
