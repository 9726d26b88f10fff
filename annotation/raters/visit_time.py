"""When a visit happens, and whether a program makes it in a simulation (ADR-0033).

A simulation calls the site's own views in its own process and puts the time that it imagines into
the request's environment, under ``heart.now``. Nobody outside can: a server builds the environment,
and whatever a client sends arrives there in upper case as ``HTTP_...``, never with a dot.
"""

import datetime as dt

from django.http import HttpRequest
from django.utils import timezone

IMAGINED = "heart.now"


def visit_time(request: HttpRequest) -> dt.datetime:
    """Return the time that a simulation imagines, or the time that it is."""
    imagined = request.META.get(IMAGINED)
    return imagined if isinstance(imagined, dt.datetime) else timezone.now()


def is_simulated_visit(request: HttpRequest) -> bool:
    """Say whether the visitor is a program of a simulation in this process."""
    return isinstance(request.META.get(IMAGINED), dt.datetime)
