"""What every request passes, what an answer carries, and whether the process can serve."""

import logging
import re
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import IO

from django.conf import settings
from django.core.cache import caches
from django.core.exceptions import BadRequest, RequestDataTooBig
from django.core.files.uploadhandler import MemoryFileUploadHandler
from django.db import DatabaseError, DataError, InterfaceError, OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.template import loader
from django.urls import resolve
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu.exceptions import LimitExceeded
from kombu.exceptions import OperationalError as NoBrokerError

from access.api.errors import answer_problem
from heart_site.monitoring import tracing
from heart_site.monitoring.logs import page_of, working_on
from heart_site.monitoring.metrics import seconds_of_requests

HEADER = "X-Request-ID"
KNOWN = re.compile(r"[A-Za-z0-9-]{8,64}")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
QUIET = ("alive", "ready", "metrics")  # asked every few seconds by machines

request_log = logging.getLogger("heart.requests")


class RequestIdMiddleware:
    """Take the id of the proxy in front if it has a plain form, and make one otherwise."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, and say how long it took."""
        begun = time.perf_counter()
        given = request.headers.get(HEADER, "")
        name = given if KNOWN.fullmatch(given) else uuid.uuid4().hex
        request.META["HEART_REQUEST_ID"] = name  # for the API's errors
        with working_on(name):
            response = self.get_response(request)
            response[HEADER] = name
            _tell(request, response, seconds=time.perf_counter() - begun)
        return response


def _tell(request: HttpRequest, response: HttpResponseBase, *, seconds: float) -> None:
    page = page_of(request)
    if page in QUIET:
        return
    method = request.method if request.method in METHODS else "other"
    seconds_of_requests.labels(page, method, str(response.status_code)).observe(seconds)
    tracing.of_request(page, method, response.status_code, seconds=seconds)
    facts = {
        "method": method,
        "page": page,
        "status": response.status_code,
        "ms": round(seconds * 1000, 1),
    }
    request_log.info("%s %s %s in %s ms", *(facts[name] for name in facts), extra={"facts": facts})


NEVER_USED = (
    "accelerometer",
    "autoplay",
    "browsing-topics",
    "camera",
    "clipboard-read",
    "display-capture",
    "encrypted-media",
    "fullscreen",
    "geolocation",
    "gyroscope",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "publickey-credentials-get",
    "screen-wake-lock",
    "usb",
    "xr-spatial-tracking",
)
"""What no page here asks a browser for; copying to the clipboard is what one does."""
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
"""Where a page may load from, send to, and be shown; nothing in a page's own text runs."""
FIXED = {
    "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in POLICY.items()),
    "Permissions-Policy": ", ".join(f"{name}=()" for name in NEVER_USED),
    # Nothing here is meant to be part of another site's page.
    "Cross-Origin-Resource-Policy": "same-origin",
}


OF_DEBUG_PAGES = FIXED["Content-Security-Policy"].replace(
    "style-src 'self'", "style-src 'self' 'unsafe-inline'"
)
"""For Django's own pages about errors, which are shown with HEART_DEBUG alone."""


class FixedHeadersMiddleware:
    """Add the headers that are the same on every answer and that Django has no setting for."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer with them."""
        response = self.get_response(request)
        for name, value in FIXED.items():
            response[name] = value
        if settings.DEBUG and response.status_code >= HTTPStatus.BAD_REQUEST:
            response["Content-Security-Policy"] = OF_DEBUG_PAGES
        return response


MOST_BYTES = 4_000_000
"""More than any form here takes, but one."""
MOST_DIALOGUES = 31_000_000
"""What the form takes on which members of the team import dialogues."""


def most_bytes(request: HttpRequest) -> int:
    """Return how long a request with files may be."""
    page = request.resolver_match
    if page is None or page.view_name != "data:import":
        return MOST_BYTES
    return MOST_DIALOGUES if request.user.is_authenticated else MOST_BYTES


class BoundedUploadHandler(MemoryFileUploadHandler):
    """Refuse a request that is longer than any page sends."""

    def handle_raw_input(
        self,
        input_data: IO[bytes],
        META: dict[str, str],  # noqa: N803 (Django's name)
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> None:
        """Look at the length before anything is read.

        Raises
        ------
        RequestDataTooBig
            If it is more than ``most_bytes`` says.
        """
        most = MOST_BYTES if self.request is None else most_bytes(self.request)
        if content_length > most:
            msg = f"a request with files has at most {most} bytes"
            raise RequestDataTooBig(msg)
        super().handle_raw_input(input_data, META, content_length, boundary, encoding)
        self.activated = True  # no file is spooled to a disk


API = "/api/v1/"
RETRY_AFTER_S = 5
DETAIL = "The database or the broker does not answer. Nothing was lost: send the same again later."
UNKNOWN_TO_SQLITE = sqlite3.SQLITE_ERROR
"""Its one code for statements that make no sense, which waiting does not change."""
WRITES_REFUSED = ("MISCONF", "NOREPLICAS", "BUSY")
"""How Redis begins to say that it takes no writes now, where its client has no error of its own."""

outage_log = logging.getLogger("heart.outages")


OF_NUL = ("NUL (0x00)", "\\u0000")
"""What tells the errors of PostgreSQL that are about the character NUL, in a text or in JSON."""
NUL = "What was sent holds the character NUL, which cannot be kept or looked for."


class UnstorableError(BadRequest):
    """What was sent holds a character that no text of the database has."""


class OutageMiddleware:
    """Answer a calm 503 where a view found the database or the broker away (ADR-0064).

    Nobody has to mend anything afterwards: Django closes the broken connection at the end of the
    request and opens another with the next one, and pages and programs come back by themselves.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Answer an outage with one line in the log; anything else is a fault of ours.

        Raises
        ------
        UnstorableError
            If what was sent holds what PostgreSQL neither keeps nor compares with.
        """
        if isinstance(error, DataError) and any(one in str(error) for one in OF_NUL):
            raise UnstorableError(NUL) from error
        if not is_outage(error):
            return None
        outage_log.warning("%s: %s", type(error).__qualname__, str(error).partition("\n")[0])
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


class WrongMethodMiddleware:
    """Answer with a page what is sent to an address that does not take it.

    A browser looks at the address of a form by itself after a sign-in that the form met.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, and say what to do."""
        response = self.get_response(request)
        if isinstance(response, HttpResponseNotAllowed) and not response.content:
            parts = {"is_for_forms": request.method == "GET"}
            response.content = loader.render_to_string("404.html", parts, request)
        return response


HEALTH_ADDRESSES = ("/healthz", "/readyz")


@require_safe
@never_cache
def alive(_request: HttpRequest) -> HttpResponse:
    """Answer that the process runs."""
    return HttpResponse("alive\n", content_type="text/plain")


@require_safe
@never_cache
def ready(_request: HttpRequest) -> HttpResponse:
    """Answer 200 if the database does and has every table that this code expects, else 503.

    Redis is not asked: people judge without it, and it would take all web processes out at once.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        is_migrated = _is_migrated()
    except DatabaseError:
        return HttpResponse("the database does not answer\n", "text/plain", status=503)
    if not is_migrated:
        return HttpResponse("migrations are missing\n", "text/plain", status=503)
    return HttpResponse("ready\n", content_type="text/plain")


class HealthMiddleware:
    """Answer machines that ask by an address of their own, before the host's name is checked."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer at once, or pass the request on."""
        if request.path_info not in HEALTH_ADDRESSES:
            return self.get_response(request)
        request.resolver_match = resolve(request.path_info)
        answer: HttpResponseBase = request.resolver_match.func(request)
        return answer


def _is_migrated() -> bool:
    """Once this code's migrations have run they stay: later code only adds to them."""
    own = caches["own"]
    if own.get("migrated"):
        return True
    loader = MigrationLoader(connection)
    is_migrated = all(node in loader.applied_migrations for node in loader.graph.leaf_nodes())
    own.set("migrated", is_migrated, timeout=None)
    return is_migrated
