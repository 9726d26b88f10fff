"""Who asks: a program with a token."""

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request

from access.limits import Window, address_of, is_within
from access.models import ApiToken
from access.roles import role_of
from access.tokens.queries import token_of
from access.tokens.services import note_use

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
            _count(request, Window.at(now.timestamp()))
            msg = "the token is unknown, expired or revoked, or its owner is no member any more"
            raise AuthenticationFailed(msg)
        note_use(token, now=now)
        return token.owner, token

    def authenticate_header(self, _request: Request) -> str:
        """Return what a refusal asks for."""
        return 'Bearer realm="heart"'


def _count(request: Request, window: Window) -> None:
    """Count a wrong token; a right one is let in however many wrong ones came before it."""
    most = settings.HEART_API_RATES["anonymous"]
    if not is_within("wrong-token", address_of(request), most=most, window=window):
        raise Throttled(wait=window.wait)
