"""Say whether the process is alive and whether it can serve."""

from collections.abc import Callable

from django.core.cache import caches
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import resolve
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

ADDRESSES = ("/healthz", "/readyz")


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
        if request.path_info not in ADDRESSES:
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
