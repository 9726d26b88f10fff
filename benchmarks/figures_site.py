"""Pages of a site that runs in the same process, for benchmarks.figures."""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from django.contrib.staticfiles import finders
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Route

from ranking.models import Fit

ORIGIN = "http://localhost"
HASH = re.compile(r"\.[0-9a-f]{12}(?=\.\w+$)")


@dataclass(frozen=True)
class Site:
    """The pages of one fit, handed to a browser that asks nobody else."""

    fit: Fit

    def address(self, kind: str) -> str:
        """Return where an analysis is, or the ratings."""
        place = [self.fit.study.slug, self.fit.key]
        name = "analysis" if kind else "fit"
        return ORIGIN + reverse(f"ranking:{name}", args=[*place, kind] if kind else place)

    def answer(self, route: Route) -> None:
        """Answer what a browser asks for, from files or from the views."""
        path = urlsplit(route.request.url).path
        if path.startswith("/static/"):
            route.fulfill(path=_file(path.removeprefix("/static/")))
            return
        answer = Client(SERVER_NAME="localhost").get(path)
        route.fulfill(status=answer.status_code, headers=dict(answer.headers), body=answer.content)


def _file(name: str) -> Path:
    """Return a file of the site's own, whatever its name says of its content."""
    found = finders.find(HASH.sub("", name))
    if found is None:
        msg = f"there is no file {name}"
        raise FileNotFoundError(msg)
    return Path(found)
