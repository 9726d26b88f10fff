"""How often anybody may ask."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from access.api.permissions import scope_of
from access.limits import Window, address_of, is_within
from access.models import ApiToken
from access.roles import SAFE

if TYPE_CHECKING:
    from rest_framework.views import APIView


class ScopeThrottle(BaseThrottle):
    """So many requests a minute: for each token and scope, each member, each strange address.

    The counts are in the cache that all processes share. A window begins with each full minute.
    """

    def __init__(self) -> None:
        self._window = Window.at(timezone.now().timestamp())

    def allow_request(self, request: Request, view: "APIView") -> bool:
        """Count the request, and say whether it is within the limit."""
        who, most = self._limit(request, view)
        return is_within("api", who, most=most, window=self._window)

    def wait(self) -> float:
        """Return the seconds until the next window."""
        return self._window.wait

    def _limit(self, request: Request, view: "APIView") -> tuple[str, int]:
        method = request.method or ""
        kind = "read" if method in SAFE else "write"
        rates: dict[str, int] = settings.HEART_API_RATES
        if isinstance(request.auth, ApiToken):
            return f"token:{request.auth.pk}:{scope_of(view, method) or kind}", rates[kind]
        if request.user.is_authenticated:
            return f"member:{request.user.pk}:{kind}", rates[kind]
        return f"address:{address_of(request)}", rates["anonymous"]
