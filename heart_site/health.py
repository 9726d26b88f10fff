"""Say whether the process is alive and whether it can serve."""

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET


@require_GET
@never_cache
def alive(_request: HttpRequest) -> HttpResponse:
    """Answer that the process runs."""
    return HttpResponse("alive\n", content_type="text/plain")


@require_GET
@never_cache
def ready(_request: HttpRequest) -> HttpResponse:
    """Answer 200 if the database does, else 503."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return HttpResponse("the database does not answer\n", "text/plain", status=503)
    return HttpResponse("ready\n", content_type="text/plain")
