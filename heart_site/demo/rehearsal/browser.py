"""A browser without a network: Django's client, which reads forms and texts.

Requests pass every middleware, and forms carry the token that the page gave them. What a browser
cannot send goes beside the request: the virtual time, by which the site also knows that the
visitor is simulated (see ``annotation.raters.visit_time``).
"""

import datetime as dt
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.test.client import Client, ClientHandler

from annotation.raters.visit_time import IMAGINED

VOID = frozenset({"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"})


@dataclass
class Form:
    """What a browser would post: the address, the fields as they stand, choices and buttons.

    ``is_swapped`` says that a browser with scripts gets the next piece of the page alone.
    """

    action: str
    is_swapped: bool = False
    fields: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)
    buttons: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Page:
    """An answer of the site: where it came from, and what is on it."""

    path: str
    status: int
    forms: list[Form] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    turns: list[str] = field(default_factory=list)

    def count_words(self, *, known: Collection[str] = ()) -> int:
        """Return how much there is to read: the dialogue without known turns, and the messages."""
        new = [turn for turn in self.turns if turn not in known]
        return sum(len(text.split()) for text in (*new, *self.messages))


def read_page(html: str, *, path: str, status: int) -> Page:
    """Return what is on a page."""
    reader = _Reader(Page(path, status))
    reader.feed(html)
    reader.close()
    return reader.page


class _Reader(HTMLParser):
    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page = page
        self._open: list[tuple[str, str]] = []
        self._form: Form | None = None
        self._textarea = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._form = Form(given.get("action", ""), "hx-post" in given)
            self.page.forms.append(self._form)
        elif given.get("name") and self._form is not None:
            self._take(self._form, tag, given)
        if tag not in VOID:
            self._open.append((tag, given.get("class", "")))
            self._begin(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass
        if tag == "form":
            self._form = None
        elif tag == "textarea":
            self._textarea = ""

    def handle_data(self, data: str) -> None:
        if self._textarea and self._form is not None:
            self._form.fields[self._textarea] += data.removeprefix("\n")
        if (texts := self._texts()) is not None:
            texts[-1] += data

    def _begin(self, tag: str) -> None:
        """Start a new text where a paragraph of the dialogue or of a message begins."""
        if tag == "p" and (texts := self._texts()) is not None:
            texts.append("")

    def _texts(self) -> list[str] | None:
        """Return the list that a paragraph belongs to here, if to any."""
        if not self._open or "p" not in (tag for tag, _classes in self._open):
            return None
        inside = {name for _tag, classes in self._open for name in classes.split()}
        if "message" in inside:
            return self.page.messages
        return self.page.turns if "turn" in inside else None

    def _take(self, form: Form, tag: str, given: dict[str, str]) -> None:
        name, value = given["name"], given.get("value", "")
        if tag == "button":
            form.buttons.append((name, value))
        elif tag == "textarea":
            form.fields[name] = ""
            self._textarea = name
        elif given.get("type") == "radio":
            form.choices.setdefault(name, []).append(value)
        elif given.get("type") != "checkbox":
            form.fields[name] = value


MOST_REDIRECTS = 5
FORM = "application/x-www-form-urlencoded"


class BrokenPageError(Exception):
    """The site answered with an error of its own, or sent the visitor round in circles."""


class Browser:
    """One simulated person's browser: it keeps their cookies and follows redirects.

    With scripts, forms are sent as htmx does; without, as any browser does.
    """

    def __init__(self, handler: ClientHandler, *, has_scripts: bool) -> None:
        host, self._has_scripts = _host(), has_scripts
        scheme = "https" if settings.HEART_HTTPS else "http"
        self._client = Client(
            enforce_csrf_checks=True,
            raise_request_exception=False,
            SERVER_NAME=host,
            HTTP_HOST=host,
            HTTP_REFERER=f"{scheme}://{host}/",
        )
        self._client.handler = handler

    def get(self, url: str, *, now: dt.datetime) -> Page:
        """Open an address."""
        return self._follow(url, None, now=now)

    def submit(self, form: Form, fields: Mapping[str, str], *, now: dt.datetime) -> Page:
        """Send a form with some of its fields filled in, and return the page that follows."""
        is_swapped = self._has_scripts and form.is_swapped
        return self._follow(form.action, {**form.fields, **fields}, now=now, is_swapped=is_swapped)

    def _follow(
        self,
        url: str,
        posted: Mapping[str, str] | None,
        *,
        now: dt.datetime,
        is_swapped: bool = False,
    ) -> Page:
        scripts = {"HTTP_HX_REQUEST": "true"} if is_swapped else {}
        for _hop in range(MOST_REDIRECTS):
            status, headers, body = self._request(url, posted, {IMAGINED: now, **scripts})
            onwards = headers.get("HX-Redirect") or headers.get("Location")
            if onwards is None:
                return read_page(body, path=urlsplit(url).path, status=status)
            url, posted, scripts = onwards, None, {}
        msg = f"redirected more than {MOST_REDIRECTS} times, last to {url}"
        raise BrokenPageError(msg)

    def _request(
        self, url: str, posted: Mapping[str, str] | None, beside: Mapping[str, Any]
    ) -> tuple[int, Mapping[str, str], str]:
        method = "GET" if posted is None else "POST"
        body, is_secure = urlencode(posted or {}), settings.HEART_HTTPS
        answer = self._client.generic(method, url, body, FORM, secure=is_secure, **beside)
        if answer.status_code >= 500:  # noqa: PLR2004 (the site's own fault)
            msg = f"{method} {urlsplit(url).path} answered {answer.status_code}"
            raise BrokenPageError(msg)
        return answer.status_code, answer.headers, answer.content.decode()


def _host() -> str:
    """Return a host name that the site answers to."""
    named = [host for host in settings.ALLOWED_HOSTS if host != "*"]
    return str(named[0]).removeprefix(".") if named else "localhost"
