"""The least that a judging loop can cost: bare Django, a signed cookie, as many statements.

A WSGI application, told its database by DATABASE_URL. Each request stores the answer to the last
pair and claims the next one, in one transaction of statements that Django's own engine prepares,
and answers with a page of the same length. It checks nothing, draws no sides, and shows no text.
"""

import os
from typing import Final

import environ
from django.conf import settings

from benchmarks.load import floor_sql

PAGE: Final = (
    '<form action="/{lease}/"><p>A</p><p>B</p><textarea name="rationale"></textarea></form>'
)
PAGE_BYTES: Final = 8_000
"""About as long as what the site answers with, before it is compressed."""

if not settings.configured:
    DATABASE: Final = environ.Env().db("DATABASE_URL")
    PREPARED: Final = {"server_side_binding": True, "prepare_threshold": 0}
    settings.configure(
        SECRET_KEY=os.environ.get("HEART_SECRET_KEY", "floor"),
        ALLOWED_HOSTS=["127.0.0.1"],
        ROOT_URLCONF=__name__,
        MIDDLEWARE=[],
        DATABASES={"default": DATABASE | {"OPTIONS": DATABASE["OPTIONS"] | PREPARED}},
    )

from django.core.wsgi import get_wsgi_application  # noqa: E402 (after the settings)
from django.db import connection, transaction  # noqa: E402
from django.http import HttpRequest, HttpResponse  # noqa: E402
from django.urls import path  # noqa: E402


@transaction.atomic
def loop(request: HttpRequest, lease: int) -> HttpResponse:
    """Store an answer and claim the next pair."""
    rater = request.get_signed_cookie(floor_sql.SALT)
    answer = (lease, lease, rater, int(request.POST["verdict"]), request.POST["rationale"])
    start = hash((rater, lease)) % int(os.environ[floor_sql.N_PAIRS])
    with connection.cursor() as cursor:
        cursor.execute(floor_sql.FIND, [lease])
        cursor.execute(floor_sql.STORE, answer)
        cursor.execute(floor_sql.CLAIM, [start])
        (pair,) = cursor.fetchone() or (1,)
        cursor.execute(floor_sql.LEASE, [pair, pair, rater])
        (lease,) = cursor.fetchone()
    page = PAGE.format(lease=lease).ljust(PAGE_BYTES)
    return HttpResponse(page, headers={"Content-Length": str(len(page))})


urlpatterns = [path("<int:lease>/", loop)]
application = get_wsgi_application()
