"""Axe finds nothing, and nothing scrolls sideways, on the pages that are not a rater's."""

import re

import pytest
from playwright.sync_api import Page

from tests.browser import writing
from tests.browser.conftest import Site, follow, load_until, sign_in
from tests.browser.looks import faults_of

MESSAGE = "Nobody hears the kettle but you now. What would you tell her about it?"


@pytest.fixture
def visitor(visit) -> Page:
    page: Page = visit(reduced_motion="reduce")  # no colour is caught on its way to another
    return page


@pytest.fixture
def admin(visit, site: Site) -> Page:
    page: Page = visit(reduced_motion="reduce")
    sign_in(page, site)
    return page


def assert_accessible(page: Page) -> None:
    assert faults_of(page) == []


def open_folds(page: Page) -> None:
    for fold in page.locator("main details").all():
        fold.evaluate("fold => { fold.open = true }")


def test_what_readers_see(visitor, site):
    around = [f"{site.results}{name}/" for name in ("history", "verdicts", "fits")]
    for path in (site.address, site.results, f"{site.address}/no/such/page", *around):
        visitor.goto(path)
        open_folds(visitor)
        assert_accessible(visitor)
    follow(visitor.locator("tbody a").first)
    assert_accessible(visitor)


def test_what_readers_see_of_analyses(visitor, site):
    visitor.goto(site.results)
    links = visitor.locator("ul.closer a")
    load_until(visitor, links.count)
    found = [link.get_attribute("href") for link in links.all()]
    for path in found:
        visitor.goto(site.address + path)
        open_folds(visitor)
        assert_accessible(visitor)


def test_what_writers_see(visitor, admin, site):
    visitor.goto(writing.make_link(admin, site))
    assert_accessible(visitor)
    follow(visitor.get_by_role("button", name="Yes, I agree"))
    assert_accessible(visitor)
    visitor.get_by_role("radio").first.check()
    follow(visitor.get_by_role("button", name="Continue"))
    for path in ("", "help/", "leave/", "withdraw/", "sent/"):
        visitor.goto(f"{site.address}/w/{path}")
        assert_accessible(visitor)
    visitor.goto(f"{site.address}/w/")
    writing.open_dialogue(visitor)
    assert_accessible(visitor)
    writing.send(visitor, MESSAGE)
    assert_accessible(visitor)


def test_what_reviewers_of_messages_see(visitor, admin, site):
    link = writing.make_link(admin, site)
    assert_accessible(admin)
    writing.come_in(visitor, link)
    writing.open_dialogue(visitor)
    writing.send(visitor, MESSAGE)

    for path in ("", "demo/", "demo/import/", "demo/messages/"):
        admin.goto(f"{site.console}writing/{path}")
        assert_accessible(admin)
    row = admin.get_by_role("listitem").filter(has_text=MESSAGE[:20])
    follow(row.get_by_role("link").first)
    assert_accessible(admin)


OF_ADMINS = {
    "study": (
        *("{study}/", "{study}/plan/", "{study}/raters/", "{study}/review/", "{study}/checks/"),
        *("{study}/judges/", "{study}/reports/", "{study}/ratings/", "{study}/blinding/"),
    ),
    "what follows": (
        *("{study}/comparisons/", "{study}/contexts/", "{study}/exports/", "{study}/judgments/"),
        *("{study}/external/compare/", "{study}/payments/", "{study}/theme-checks/"),
        *("{study}/personal-data/", "{study}/planner/", "{study}/protocol/version/"),
    ),
    "site": (
        *("", "log/", "members/", "people/", "people/retention/", "tokens/", "webhooks/"),
        *("backups/", "new/texts/", "search/?q=demo"),
    ),
    "models and data": (
        *("models/", "models/add/", "models/import/", "models/runs/", "models/runs/new/"),
        *("judges/", "{study}/judge-runs/", "{study}/judge-runs/new/", "strategies/"),
        *("strategies/demo/", "data/import/", "data/jobs/", "data/demo/build/"),
        "data/demo/rewrite/",
    ),
}


@pytest.mark.parametrize("part", OF_ADMINS)
def test_what_admins_see(admin, site, part):
    study = site.results.rstrip("/").rpartition("/")[2]
    for path in OF_ADMINS[part]:
        admin.goto(site.console + path.format(study=study))
        open_folds(admin)
        assert_accessible(admin)


def test_what_admins_see_of_one_model_and_one_run(admin, site):
    admin.goto(f"{site.console}models/")
    follow(admin.locator("table.endpoints tbody th a").first)
    assert_accessible(admin)
    admin.goto(f"{site.console}models/runs/")
    follow(admin.get_by_role("link", name=re.compile(r"#\d+$")).first)
    assert_accessible(admin)


def test_what_a_rater_sees_on_the_way_out(visitor, site):
    visitor.goto(site.rate)
    follow(visitor.get_by_role("button", name="Yes, I agree"))
    for path in ("stop/", "withdraw/"):
        visitor.goto(site.rate + path)
        assert_accessible(visitor)
    follow(visitor.get_by_role("button", name="Withdraw and delete"))
    assert_accessible(visitor)
