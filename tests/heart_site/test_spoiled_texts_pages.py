"""What anybody wrote is text on every page, and in every CSV a cell that runs nowhere."""

import csv
import io
import re
from html.parser import HTMLParser

import pytest
from django.apps import apps
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from access.console.csv_cells import FORMULA_STARTS, NEGATIVE_NUMBER
from annotation.external.serializers import ExternalBatchIn
from annotation.models import Study
from annotation.studies.protocol import files
from tests.helpers.console_pages import console_pages
from tests.helpers.factories_written_once import make_member
from tests.helpers.spoiled import APPS, make_everything, pages_of_readers, spoil
from tests.helpers.visits import enrol, url

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
    """Collects what a browser would run, or take for markup, of a text of ours."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "x-q" or "onx" in given:
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
    for model in (model for label in APPS for model in apps.get_app_config(label).get_models()):
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
def test_no_page_takes_it_for_markup(study, owner, addresses, n_shown):
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
