"""Who asks, what they may do and how often: tokens, their scopes, and limits."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from access.choices import Role, Scope, is_at_least, least_role
from access.limits import address_of, seconds_to_wait, wait_for_room
from access.models import ApiToken
from access.roles import SAFE, may, role_of
from access.tokens.queries import token_of
from access.tokens.services import note_use

if TYPE_CHECKING:
    from rest_framework.views import APIView


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
        if is_reading and getattr(view, "is_public", False):
            return True
        return is_reading and may(request, least_role(scope))


def _covers(token: ApiToken, scope: Scope, view: "APIView") -> bool:
    """Say whether a token is for this; one of a single study is for nothing outside it."""
    is_inside = not token.study or view.kwargs.get("study") == token.study
    return is_inside and scope in token.granted


def _suffices(request: Request, scope: Scope) -> bool:
    role = role_of(request.user)
    return role is not None and is_at_least(role, least_role(scope))


SCHEME = "bearer"


class TokenAuthentication(BaseAuthentication):
    """Read ``Authorization: Bearer heart_...``."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return the owner and the token; None if the request carries no token at all.

        Raises
        ------
        AuthenticationFailed
            If it is no valid token, or its owner is no member any more.
        Throttled
            If there were more of those from the same address than a mistake makes.
        """
        scheme, _, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        if scheme.lower() != SCHEME:
            return None
        now = timezone.now()
        token = token_of(secret.strip(), now=now)
        if token is None or role_of(token.owner) is None:
            _count(request)
            msg = "the token is unknown, expired or revoked, or its owner is no member any more"
            raise AuthenticationFailed(msg)
        note_use(token, now=now)
        return token.owner, token

    def authenticate_header(self, _request: Request) -> str:
        """Return what a refusal asks for."""
        return 'Bearer realm="heart"'


def _count(request: Request) -> None:
    """Count a wrong token; a right one is let in however many wrong ones came before it."""
    most = settings.HEART_API_RATES["anonymous"]
    if (wait := seconds_to_wait(request, "wrong-token", most=most)) is not None:
        raise Throttled(wait=wait)


class ScopeThrottle(BaseThrottle):
    """So many requests a minute: for each token and scope, each member, each strange address.

    The counts are in the cache that all processes share. A window begins with each full minute.
    """

    _wait: int | None = None

    def allow_request(self, request: Request, view: "APIView") -> bool:
        """Count the request, and say whether it is within the limit."""
        who, most = self._limit(request, view)
        self._wait = wait_for_room("api", who, most=most)
        return self._wait is None

    def wait(self) -> float | None:
        """Return the seconds until the next window."""
        return self._wait

    def _limit(self, request: Request, view: "APIView") -> tuple[str, int]:
        method = request.method or ""
        kind = "read" if method in SAFE else "write"
        rates: dict[str, int] = settings.HEART_API_RATES
        if isinstance(request.auth, ApiToken):
            return f"token:{request.auth.pk}:{scope_of(view, method) or kind}", rates[kind]
        if request.user.is_authenticated:
            return f"member:{request.user.pk}:{kind}", rates[kind]
        return f"address:{address_of(request)}", rates["anonymous"]
