"""Who gets a page of the console: members of the team whose role is enough."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast

from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django_htmx.http import HttpResponseClientRefresh

from access.choices import Role, is_at_least
from access.selectors import lacks_second_factor, role_of

P = ParamSpec("P")
R = TypeVar("R", bound=HttpResponseBase)
SAFE = ("GET", "HEAD", "OPTIONS")


class StaffRequest(HttpRequest):
    """A request of a signed-in member of the team."""

    user: User


@dataclass(frozen=True)
class Needs:
    """The least roles that may look at a page and that may act on it."""

    reads: Role = Role.ANALYST
    acts: Role = Role.MANAGER

    def of(self, method: str) -> Role:
        """Return the least role for a request of that method."""
        return self.reads if method in SAFE else self.acts


class Guarded(Protocol):
    """A view that says whom it answers."""

    needs: Needs


def may(request: HttpRequest, least: Role) -> bool:
    """Say whether whoever asks is a member with at least that role, and signed in well enough."""
    return _has_role(request, least) and not lacks_second_factor(request.user)


def _has_role(request: HttpRequest, least: Role) -> bool:
    role = role_of(request.user)
    return role is not None and is_at_least(role, least)


def members_only(
    needs: Needs = Needs(), *, is_part: bool = False
) -> Callable[
    [Callable[Concatenate[StaffRequest, P], R]],
    Callable[Concatenate[HttpRequest, P], R | HttpResponseBase],
]:
    """Lead strangers to the sign-in page, and refuse members whose role is not enough.

    Where a second factor is required, members without one are led to the page that adds it.

    A part of a page (``is_part``) has the page around it load anew instead, to do the same.

    Raises
    ------
    PermissionDenied
        When the page is asked for, if the role is not enough.
    """

    def decorate(
        view: Callable[Concatenate[StaffRequest, P], R],
    ) -> Callable[Concatenate[HttpRequest, P], R | HttpResponseBase]:
        @wraps(view)
        def wrapper(
            request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs
        ) -> R | HttpResponseBase:
            least = needs.of(request.method or "")
            if is_part and not may(request, least):
                return HttpResponseClientRefresh()
            if not request.user.is_authenticated:
                return redirect_to_login(request.get_full_path())
            if not _has_role(request, least):
                raise PermissionDenied
            if lacks_second_factor(request.user):
                return redirect("mfa_activate_totp")
            return view(cast("StaffRequest", request), *args, **kwargs)

        cast("Guarded", wrapper).needs = needs
        return wrapper

    return decorate
