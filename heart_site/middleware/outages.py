"""What is answered while the database or the broker is away: a calm 503 (ADR-0064).

Nobody has to mend anything afterwards: Django closes the broken connection at the end of the
request and opens another with the next one, and pages and programs come back by themselves.
"""

import logging
import sqlite3
from collections.abc import Callable, Iterator

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template import loader
from kombu.exceptions import LimitExceeded
from kombu.exceptions import OperationalError as NoBrokerError

from access.api.errors import answer_problem

API = "/api/v1/"
RETRY_AFTER_S = 5
DETAIL = "The database or the broker does not answer. Nothing was lost: send the same again later."
UNKNOWN_TO_SQLITE = sqlite3.SQLITE_ERROR
"""Its one code for statements that make no sense, which waiting does not change."""
WRITES_REFUSED = ("MISCONF", "NOREPLICAS", "BUSY")
"""How Redis begins to say that it takes no writes now, where its client has no error of its own."""

logger = logging.getLogger("heart.outages")


class OutageMiddleware:
    """Answer 503 where a view found the database or the broker away."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Answer an outage with one line in the log; anything else is a fault of ours."""
        if not is_outage(error):
            return None
        logger.warning("%s: %s", type(error).__qualname__, str(error).partition("\n")[0])
        return answer_outage(request)


def is_outage(error: BaseException | None) -> bool:
    """Say whether an error means that a service is away, and not that the request is wrong."""
    return any(_is_away(one) for one in _causes(error))


def answer_outage(request: HttpRequest) -> HttpResponse:
    """Ask to be asked again: in words for people, as a problem for programs."""
    if request.path_info.startswith(API):
        answer: HttpResponse = answer_problem(request, 503, detail=DETAIL)
    else:
        part = "_unavailable.html" if getattr(request, "htmx", False) else "503.html"
        is_safe = request.method in ("GET", "HEAD")
        answer = HttpResponse(loader.render_to_string(part, {"is_safe": is_safe}), status=503)
    answer.headers["Retry-After"] = str(RETRY_AFTER_S)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _is_away(error: BaseException) -> bool:
    if isinstance(error, OperationalError) and isinstance(error.__cause__, sqlite3.Error):
        return getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF != UNKNOWN_TO_SQLITE
    if isinstance(error, (OperationalError, InterfaceError, NoBrokerError, LimitExceeded)):
        return True
    from redis import exceptions as redis  # noqa: PLC0415 (only where something failed)

    away = (redis.ConnectionError, redis.TimeoutError, redis.ClusterDownError)
    full = (redis.OutOfMemoryError, redis.ReadOnlyError)
    says = str(error) if isinstance(error, redis.ResponseError) else ""
    return isinstance(error, away + full) or says.startswith(WRITES_REFUSED)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it was raised from: templates and libraries wrap what they meet."""
    while error is not None:
        yield error
        error = error.__cause__
