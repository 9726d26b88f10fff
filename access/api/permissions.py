"""What whoever asks may do: scopes of tokens, within the present role of their owner."""

from typing import TYPE_CHECKING, Protocol, cast

from django.core.exceptions import ImproperlyConfigured
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from access.choices import Role, Scope, is_at_least, least_role
from access.models import ApiToken
from access.roles import SAFE, may, role_of

if TYPE_CHECKING:
    from rest_framework.views import APIView


class Scopes(Protocol):
    """A view that says what each method takes."""

    reads: Scope | None
    acts: Scope | None
    is_public: bool


def scope_of(view: "APIView", method: str) -> Scope | None:
    """Return the scope that a method of a view takes; None if the view lacks the method."""
    scope: Scope | None = getattr(view, "reads" if method in SAFE else "acts", None)
    if scope is None and hasattr(view, method.lower()) and method != "OPTIONS":
        msg = f"{type(view).__name__} does not say which scope {method} takes"
        raise ImproperlyConfigured(msg)
    return scope if hasattr(view, method.lower()) else None


def is_member(request: Request) -> bool:
    """Say whether somebody of the team asks, in person or with a token that may be used here."""
    if isinstance(request.auth, ApiToken):
        return role_of(request.user) is not None
    return may(request, Role.ANALYST)


class Scoped(BasePermission):
    """Tokens with the scope; members who read; and anybody who reads what is public."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Decide; a method that the view lacks is answered by 405 and not here."""
        scope = scope_of(view, request.method or "")
        if scope is None:
            return True
        if isinstance(request.auth, ApiToken):
            return _covers(request.auth, scope, view) and _suffices(request, scope)
        is_reading = request.method in SAFE
        if is_reading and cast("Scopes", view).is_public:
            return True
        return is_reading and may(request, least_role(scope))


def _covers(token: ApiToken, scope: Scope, view: "APIView") -> bool:
    """Say whether a token is for this; one of a single study is for nothing outside it."""
    is_inside = not token.study or view.kwargs.get("study") == token.study
    return is_inside and scope in token.granted


def _suffices(request: Request, scope: Scope) -> bool:
    role = role_of(request.user)
    return role is not None and is_at_least(role, least_role(scope))
