"""The WSGI application."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.core.wsgi import get_wsgi_application

import access.background  # noqa: F401 (so that the first nudge of a process need not load Celery)

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

CHARSET = re.compile(r";\s*charset=[^;]*", re.IGNORECASE)
site = get_wsgi_application()


def application(asked: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
    """Answer a request as UTF-8: a charset that is sent could name a decoder that is none."""
    asked["CONTENT_TYPE"] = CHARSET.sub("", asked.get("CONTENT_TYPE", ""))
    return site(asked, start_response)
