"""What anybody wrote is text on every page, and in every CSV a cell that runs nowhere.

In a browser it is read as text, and nothing of it runs. The pages are those of the site with their
headers, handed to the browser by its router: what asks for another host, or for an address that
only the markup names, is seen and answered with nothing.
"""

import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Dialog, Page, Route

from access.console.csv_cells import FORMULA_STARTS, NEGATIVE_NUMBER
from annotation.external.serializers import ExternalBatchIn
from annotation.models import Study
from annotation.session import blinded
from annotation.studies import queries as study_queries
from annotation.studies.protocol import files
from completions.models import WritingLease
from tests.browser.conftest import PATIENCE_MS, chromium
from tests.completions.writers import desk
from tests.helpers.factories_written_once import make_member
from tests.helpers.pages import console_pages
from tests.helpers.rows import make_everything, our_models, pages_of_readers, spoil
from tests.helpers.visits import enrol, open_study, url

pytestmark = pytest.mark.django_db

MARKUP = (
    "'\"><x-q onx=1 hx-get=/xq>{{7*7777}}${7*7777}{%xq%}</script></textarea></title>"
    "<svg/onload=xq()>"
    "<script>xq()</script><img src=x onerror=xq()><a href=javascript:xq()>[x](javascript:xq())"
    "\u202e\u2028\uff1cscript\uff1e<!--]]>\\u003cx-q\\u003e&lt;x-q&gt;"
)
FORMULA = "=HYPERLINK(1)"
RUN = ("href", "src", "action", "formaction", "data", "xlink:href", "hx-get", "hx-post")


class Reader(HTMLParser):
    """Collects what a browser would run, style, or take for markup, of a text or of ours."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in {"x-q", "style"} or not given.keys().isdisjoint({"onx", "style"}):
            self.found.append(self.get_starttag_text())
        if tag == "script" and "src" not in given and given.get("type") != "application/json":
            self.found.append(self.get_starttag_text())
        for name, value in given.items():
            runs = name in RUN and re.match(r"\s*(javascript|data|vbscript):", value, re.IGNORECASE)
            if name.startswith("on") or (name in RUN and "/xq" in value) or runs:
                self.found.append(f"{tag} {name}={value}")


def faults_of(body: str) -> list[str]:
    reader = Reader()
    reader.feed(body)
    return reader.found + (["54439"] if "54439" in body else [])


def visit(address: str, client: Client) -> tuple[str, bytes]:
    answer = client.get(address)
    assert answer.status_code < 500, address
    body = answer.getvalue() if answer.streaming else answer.content
    return answer.headers.get("Content-Type", ""), body


def addresses_of_the_site(study: Study):
    yield from (page.address for page in console_pages(study))
    yield from pages_of_readers(study)
    for fit in study.fits.all():
        around = f"/results/{study.slug}/fits/{fit.key}/"
        yield from (around, f"{around}ratings.csv", f"{around}weights/")
        yield from (f"{around}{analysis.kind.lower()}/" for analysis in fit.analyses.all())
    yield from ("/api/v1/studies/", f"/api/v1/studies/{study.slug}/judgments/", "/api/v1/systems/")


def addresses_of_the_admin(_study: Study):
    yield reverse("admin:index")  # tables are found when addresses are read
    for model in our_models():
        if admin.site.is_registered(model):
            name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
            yield reverse(f"{name}_changelist")
            yield from (
                reverse(f"{name}_change", args=[row.pk]) for row in model._default_manager.all()[:1]
            )


@pytest.fixture(scope="module")
def key_of_everything(module_rows):
    return make_everything().pk


@pytest.fixture
def study(key_of_everything):
    return Study.objects.get(pk=key_of_everything)


@pytest.fixture
def owner():
    client = Client()
    client.force_login(make_member())
    return client


@pytest.mark.parametrize(
    ("addresses", "n_shown"),
    [
        (addresses_of_the_site, 30),
        pytest.param(addresses_of_the_admin, 30, marks=pytest.mark.full),  # Django's own templates
    ],
)
def test_no_page_takes_it_for_markup_or_has_anything_inline(study, owner, addresses, n_shown):
    fields = spoil(MARKUP)
    wrong, shown = {}, 0
    for address in addresses(study):
        kind, body = visit(address, owner)
        if kind.startswith("text/html"):
            shown += "&gt;&lt;x-q" in body.decode()
            if found := faults_of(body.decode()):
                wrong[address] = found[:3]

    assert wrong == {}
    assert len(fields) > 40
    assert shown > n_shown


def test_no_page_of_raters_does(study):
    Study.objects.filter(pk=study.pk).update(state="OPEN")
    client = Client()
    enrol(client, study, pid="77")
    spoil(MARKUP)
    names = ("judge", "how", "help", "take_break", "stop", "withdraw", "last")
    bodies = {name: client.get(url(study, name), follow=True) for name in names}

    assert {name: faults_of(page.content.decode()) for name, page in bodies.items()} == {
        name: [] for name in names
    }
    assert "x-q" in bodies["judge"].content.decode()


def test_no_cell_of_any_csv_is_a_formula(study, owner):
    spoil(FORMULA)
    wrong, seen = {}, 0
    for address in {address for address in addresses_of_the_site(study) if ".csv" in address}:
        _kind, body = visit(address, owner)
        cells = [cell for row in csv.reader(io.StringIO(body.decode("utf-8-sig"))) for cell in row]
        seen += f"'{FORMULA}" in cells
        if bad := [cell for cell in cells if runs(cell)]:
            wrong[address] = bad[:3]

    assert wrong == {}
    assert seen > 5


@pytest.mark.parametrize("address", ["javascript:xq()", "data:text/html,xq", "//evil.example/"])
def test_no_address_of_another_kind_is_taken_in(address):
    shipped = (files.STUDIES / "heart-preference.toml").read_text("utf-8")
    led = shipped.replace('return_url = ""', f'return_url = "{address}"')
    batch = ExternalBatchIn(data={"url": address})

    assert led != shipped
    with pytest.raises(files.ProtocolError, match="return_url"):
        files.parse_protocol(led, source="x")
    assert not batch.is_valid()
    assert "url" in batch.errors


def runs(cell: str) -> bool:
    return cell.startswith(FORMULA_STARTS) and not NEGATIVE_NUMBER.fullmatch(cell)


HOST = "testserver"
SITE = f"https://{HOST}"
RUNNING = (
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
    *("raters:log", "writing:pool", "models:systems", "contexts:context"),
    "console:personal_data",
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
    with chromium() as browser, browser.new_context(bypass_csp=not under_the_policy) as context:
        yield Watched(context.new_page(), answers)


@pytest.fixture
def console(study: Study, owner: Client) -> tuple[Client, list[str]]:
    pages = {page.name: page.address for page in console_pages(study)}
    return owner, [pages[name] for name in CONSOLE]


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
    client, writer = Client(), desk.make_pool()
    desk.sign_in(client, writer)
    client.get(desk.url("next"))
    lease = WritingLease.objects.get(writer=writer, closed_at=None)
    return client, [desk.url("dialogue", lease.token)]


@pytest.fixture
def reader(study: Study, asked: Study) -> tuple[Client, list[str]]:
    results = f"/results/{study.slug}/"
    return Client(), ["/", url(asked, "entry"), results, f"{results}verdicts/"]


@pytest.mark.full
def test_what_strangers_wrote_is_text_on_the_main_pages(console, rater, writer, reader):
    spoil(RUNNING)
    study_queries.forget_contents()
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


@pytest.mark.full
def test_the_watch_would_see_it():
    answer = Client().get("/", secure=True)
    answer.content = answer.content.replace(b"</main>", RUNNING.encode() + b"</main>")

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
