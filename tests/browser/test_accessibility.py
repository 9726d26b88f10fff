"""Axe finds nothing, and nothing scrolls sideways, on the pages that are not a rater's."""

import re
from itertools import product

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.browser import writing
from tests.browser.conftest import DESKTOP, PATIENCE_MS, PHONE, Site, sign_in

MESSAGE = "Nobody hears the kettle but you now. What would you tell her about it?"


SHOWN = list(product([PHONE, DESKTOP], ["light", "dark"]))


@pytest.fixture(params=[PHONE, DESKTOP], ids=["phone", "desktop"])
def size(request: pytest.FixtureRequest):
    return request.param


@pytest.fixture(params=["light", "dark"])
def visitor(request: pytest.FixtureRequest, browser: Browser, size):
    with browser.new_context(viewport=size, color_scheme=request.param) as context:
        context.set_default_timeout(PATIENCE_MS)
        yield context.new_page()


@pytest.fixture
def admin(visit, site: Site) -> Page:
    page: Page = visit()
    sign_in(page, site)
    return page


def assert_accessible(page: Page) -> None:
    page.wait_for_load_state()
    faults = [fault["id"] for fault in Axe().run(page).response["violations"]]
    assert faults == [], page.url
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"{page.url} is {wide} px too wide"


def open_folds(page: Page) -> None:
    for fold in page.locator("main details").all():
        fold.evaluate("fold => { fold.open = true }")


def test_what_readers_see(visitor, site):
    around = [f"{site.results}{name}/" for name in ("history", "verdicts", "fits")]
    for path in (site.address, site.results, f"{site.address}/no/such/page", *around):
        visitor.goto(path)
        open_folds(visitor)
        assert_accessible(visitor)
    visitor.locator("tbody a").first.click()
    assert_accessible(visitor)


def test_what_readers_see_of_analyses(visitor, site, request):
    visitor.goto(site.results)
    links = visitor.locator("ul.closer a")
    links.first.wait_for()
    found = [link.get_attribute("href") for link in links.all()]
    # All are drawn by the same few templates: each page is looked at in one size and scheme.
    shown = request.node.callspec.params
    chosen = SHOWN.index((shown["size"], shown["visitor"]))
    for path in found[chosen :: len(SHOWN)]:
        visitor.goto(site.address + path)
        open_folds(visitor)
        assert_accessible(visitor)


def test_what_writers_see(visitor, admin, site):
    visitor.goto(writing.make_link(admin, site))
    assert_accessible(visitor)
    visitor.get_by_role("button", name="Yes, I agree").click()
    assert_accessible(visitor)
    visitor.get_by_role("radio").first.check()
    visitor.get_by_role("button", name="Go on").click()
    for path in ("", "help/", "leave/", "withdraw/", "sent/"):
        visitor.goto(f"{site.address}/w/{path}")
        assert_accessible(visitor)
    visitor.goto(f"{site.address}/w/")
    writing.open_talk(visitor)
    assert_accessible(visitor)
    writing.send(visitor, MESSAGE)
    assert_accessible(visitor)


def test_what_reviewers_of_messages_see(visitor, visit, site):
    sign_in(visitor, site)
    link = writing.make_link(visitor, site)
    assert_accessible(visitor)
    writer = visit()
    writing.come_in(writer, link)
    writing.open_talk(writer)
    writing.send(writer, MESSAGE)

    for path in ("", "demo/", "demo/import/", "demo/messages/"):
        visitor.goto(f"{site.console}writing/{path}")
        assert_accessible(visitor)
    visitor.get_by_role("listitem").filter(has_text=MESSAGE[:20]).get_by_role("link").first.click()
    assert_accessible(visitor)


def test_what_admins_see(visitor, site):
    sign_in(visitor, site)
    assert_accessible(visitor)
    study = site.results.rstrip("/").rpartition("/")[2]
    for page in (
        "",
        "plan/",
        "raters/",
        "review/",
        "checks/",
        "judges/",
        "reports/",
        "ratings/",
    ):
        visitor.goto(f"{site.console}{study}/{page}")
        for fold in visitor.locator("main details").all()[:3]:
            fold.evaluate("fold => { fold.open = true }")
        assert_accessible(visitor)


def test_what_admins_see_of_models(visitor, site):
    sign_in(visitor, site)
    study = site.results.rstrip("/").rpartition("/")[2]
    for path in (
        "models/",
        "models/add/",
        "models/runs/",
        "models/runs/new/",
        "judges/",
        f"{study}/judge-runs/",
        f"{study}/judge-runs/new/",
        "strategies/",
    ):
        visitor.goto(f"{site.console}{path}")
        assert_accessible(visitor)
    visitor.goto(f"{site.console}models/runs/")
    visitor.get_by_role("link", name=re.compile(r"^#\d+$")).first.click()
    assert_accessible(visitor)


def test_what_a_rater_sees_on_the_way_out(visitor, site):
    visitor.goto(site.rate)
    visitor.get_by_role("button", name="Yes, I agree").click()
    for path in ("stop/", "withdraw/"):
        visitor.goto(site.rate + path)
        assert_accessible(visitor)
    visitor.get_by_role("button", name="Withdraw and delete").click()
    assert_accessible(visitor)
