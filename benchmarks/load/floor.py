"""The least that a judging loop can cost: bare Django, a signed cookie, the same kind of SQL.

A WSGI application for gunicorn, told its database by DATABASE_URL. Each request stores the answer
to the last pair and claims the next one, in one transaction. It checks nothing, draws no sides.
"""

import os
from typing import Final

import environ
from django.conf import settings

from benchmarks.load.floor_sql import CLAIM, N_PAIRS, SALT, STORE

PAGE: Final = (
    '<form action="/{pair}/"><p>A</p><p>B</p><textarea name="rationale"></textarea></form>'
)

if not settings.configured:
    settings.configure(
        SECRET_KEY=os.environ.get("HEART_SECRET_KEY", "floor"),
        ALLOWED_HOSTS=["127.0.0.1"],
        ROOT_URLCONF=__name__,
        MIDDLEWARE=[],
        DATABASES={
            "default": {**environ.Env().db("DATABASE_URL"), "CONN_MAX_AGE": 60},
        },
    )

from django.core.wsgi import get_wsgi_application  # noqa: E402 (after the settings)
from django.db import connection, transaction  # noqa: E402
from django.http import HttpRequest, HttpResponse  # noqa: E402
from django.urls import path  # noqa: E402


@transaction.atomic
def loop(request: HttpRequest, pair: int) -> HttpResponse:
    """Store an answer and claim the next pair."""
    rater = request.get_signed_cookie(SALT)
    answer = (pair, rater, int(request.POST["verdict"]), request.POST["rationale"])
    with connection.cursor() as cursor:
        cursor.execute(STORE, answer)
        cursor.execute(CLAIM, [hash((rater, pair)) % int(os.environ[N_PAIRS])])
        row = cursor.fetchone()
    page = PAGE.format(pair=row[0] if row else pair)
    return HttpResponse(page, headers={"Content-Length": str(len(page))})


urlpatterns = [path("<int:pair>/", loop)]
application = get_wsgi_application()
