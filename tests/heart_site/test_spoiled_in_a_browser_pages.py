"""Markup that strangers wrote, opened in a browser: it is read as text, and nothing of it runs.

The pages are those of the site with their headers, handed to the browser by its router: what asks
for another host, or for an address that only the markup names, is seen and answered with nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Dialog, Page, Route, sync_playwright

from annotation.models import Rater, Study
from annotation.session import blinded
from annotation.studies import selectors
from completions.models import Context, WritingLease
from tests.browser.conftest import CHROMIUM, PATIENCE_MS, QUIET
from tests.completions.writers import desk
from tests.conftest import missing
from tests.helpers.factories import make_context, make_dialogue, make_writer
from tests.helpers.factories_written_once import make_member
from tests.helpers.spoiled import make_everything, spoil
from tests.helpers.visits import enrol, open_study, url

pytestmark = [pytest.mark.django_db, pytest.mark.full]

HOST = "testserver"
SITE = f"https://{HOST}"
MARKUP = (
    "\"'><script>xq()</script><img src=/xq onerror=xq()><svg/onload=xq()></svg>"
    "<x-q hx-get=/xq hx-trigger=load></x-q></textarea></title></script><script>xq()</script>"
    "<script src=//evil.example/xq.js></script><a href=javascript:xq()>x</a>"
    "[x](javascript:xq())<iframe srcdoc='<script>parent.xq()</script>'></iframe>"
    "<style>@import '/xq'</style><body onpageshow=xq()>"
)
SEEN = "<script>xq()"
"""As much of the text as stands even where little of it fits in."""
RAN = "a script of the text ran"
WATCH = """
window.ran = [];
window.xq = () => ran.push("{RAN}");
addEventListener("securitypolicyviolation", event =>
  ran.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
""".replace("{RAN}", RAN)
ENTER = """
async () => {
  document.querySelectorAll("details").forEach(one => { one.open = true; });
  await new Promise(done => setTimeout(done));  // what opening brought about has happened
  const made = document.querySelectorAll(
    "x-q, [onerror], [onload], [onpageshow], [srcdoc], a[href^='javascript:']");
  return [...ran, ...[...made].map(one => one.outerHTML.slice(0, 80))];
}
"""
CONSOLE = (
    *("console:overview", "console:study", "console:protocol", "console:contexts"),
    *("console:reports", "console:external", "console:judge_runs", "console:judges"),
    *("raters:list", "raters:rater", "raters:comparisons", "raters:judgments", "raters:coverage"),
    *("raters:log", "writing:pool", "models:systems", "contexts:context", "personal"),
)


class Sight(NamedTuple):
    """What a browser made of one page."""

    text: str
    faults: list[str]


class Watched:
    """A page of a browser that is handed answers of the site, and is watched."""

    def __init__(self, page: Page, answers: dict[str, Any]) -> None:
        self.page, self.faults, self.answers = page, list[str](), answers
        page.set_default_timeout(PATIENCE_MS)
        page.add_init_script(WATCH)
        page.route("**/*", self._answer)
        page.on("dialog", self._close)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda said: self._hear(said.type, said.text))
        page.on("popup", lambda other: self.faults.append(f"opened {other.url}"))

    def look(self, address: str) -> Sight:
        """Open an address; return its text, and what should not have happened there."""
        self.faults.clear()
        self.page.goto(SITE + address)
        found = self.page.evaluate(ENTER)
        return Sight(self.page.locator("body").inner_text(), [*self.faults, *found])

    def _close(self, dialog: Dialog) -> None:
        self.faults.append(dialog.message)
        dialog.dismiss()

    def _hear(self, kind: str, text: str) -> None:
        if kind == "error" or "Policy" in text:
            self.faults.append(text)

    def _answer(self, route: Route) -> None:
        """Answer without the database, which does not stand an event loop."""
        asked = urlsplit(route.request.url)
        if asked.netloc != HOST or "xq" in asked.path or route.request.method != "GET":
            self.faults.append(f"asked for {route.request.url}")
        if asked.path.startswith("/static/"):
            _hand_over(route, Client().get(asked.path, secure=True))
        elif asked.netloc == HOST and asked.path in self.answers:
            _hand_over(route, self.answers[asked.path])
        else:  # a page that looks after its state, on a slow machine
            route.fulfill(status=204)


def _hand_over(route: Route, answer: Any) -> None:
    body = answer.getvalue() if answer.streaming else answer.content
    route.fulfill(status=answer.status_code, headers=dict(answer.headers), body=body)


@contextmanager
def watching(answers: dict[str, Any], *, under_the_policy: bool) -> Iterator[Watched]:
    """Start a browser; the site's policy would hide that markup came through, if it is kept."""
    if CHROMIUM is None:
        missing("Chromium", "on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        with browser.new_context(bypass_csp=not under_the_policy) as context:
            yield Watched(context.new_page(), answers)
        browser.close()


@pytest.fixture
def study() -> Study:
    return make_everything()


@pytest.fixture
def console(study: Study) -> tuple[Client, list[str]]:
    client = Client()
    client.force_login(make_member())
    return client, [_in_the_console(name, study) for name in CONSOLE]


@pytest.fixture
def asked() -> Study:
    """A study as raters meet it, with all that a study file says to them."""
    return open_study()


@pytest.fixture
def rater(asked: Study) -> tuple[Client, list[str]]:
    client, study = Client(), asked
    enrol(client, study, pid="77")
    client.get(url(study, "judge"))
    return client, [url(study, "judge")]


@pytest.fixture
def writer() -> tuple[Client, list[str]]:
    client, writer = Client(), make_writer()
    make_context(dialogue=make_dialogue(dataset=writer.dataset), slots_left=3)
    desk.sign_in(client, writer)
    client.get(desk.url("next"))
    lease = WritingLease.objects.get(writer=writer, closed_at=None)
    return client, [desk.url("dialogue", lease.token)]


@pytest.fixture
def reader(study: Study, asked: Study) -> tuple[Client, list[str]]:
    results = f"/results/{study.slug}/"
    return Client(), ["/", url(asked, "entry"), results, f"{results}verdicts/"]


def _in_the_console(name: str, study: Study) -> str:
    if name == "personal":
        return reverse("console:personal_data", args=[study.slug])
    if name == "raters:rater":
        code = Rater.objects.filter(study=study).values_list("code", flat=True)[:1].get()
        return reverse(name, args=[study.slug, code])
    if name == "contexts:context":
        context = Context.objects.filter(dataset=study.dataset)[:1].get()
        return reverse(name, args=[study.dataset.slug, context.key])
    if name == "writing:pool":
        return reverse(name, args=[study.dataset.slug])
    is_of_all = name in {"console:overview", "models:systems"}
    return reverse(name, args=[] if is_of_all else [study.slug])


def test_what_strangers_wrote_is_text_on_the_main_pages(console, rater, writer, reader):
    spoil(MARKUP)
    selectors.forget_contents()
    blinded.forget_pages()
    answers = {
        address: visitor.get(address, secure=True)
        for visitor, addresses in (console, rater, writer, reader)
        for address in addresses
    }
    assert {address for address, answer in answers.items() if answer.status_code != 200} == set()

    for policy in (True, False):
        with watching(answers, under_the_policy=policy) as watched:
            seen = {address: watched.look(address) for address in answers}
        assert {address: sight.faults for address, sight in seen.items() if sight.faults} == {}
        assert [address for address, sight in seen.items() if SEEN not in sight.text] == []


def test_the_watch_would_see_it():
    answer = Client().get("/", secure=True)
    answer.content = answer.content.replace(b"</main>", MARKUP.encode() + b"</main>")

    with watching({"/": answer}, under_the_policy=True) as watched:
        held = watched.look("/").faults
    with watching({"/": answer}, under_the_policy=False) as watched:
        free = watched.look("/").faults

    assert RAN not in held
    assert any(one.startswith("script-src") for one in held)
    assert free.count(RAN) > 1
    assert "asked for https://evil.example/xq.js" in free
    for faults in (held, free):
        assert any("<x-q" in one for one in faults)
