"""Give each request an id, answer with it, and log one line about it without personal data."""

import logging
import re
import time
import uuid
from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from heart_site.monitoring import tracing
from heart_site.monitoring.logs import working_on
from heart_site.monitoring.metrics import seconds_of_requests

HEADER = "X-Request-ID"
KNOWN = re.compile(r"[A-Za-z0-9-]{8,64}")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
QUIET = ("alive", "ready", "metrics")  # asked every few seconds by machines

logger = logging.getLogger("heart.requests")


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
    """Name the page and not its address, which may hold a link that lets a person in."""
    match = request.resolver_match
    page = (match.view_name if match else None) or "-"
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
    logger.info("%s %s %s in %s ms", *(facts[name] for name in facts), extra={"facts": facts})
