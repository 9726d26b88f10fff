"""Axe finds nothing, and nothing scrolls sideways, on any page that somebody can see."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import writing
from tests.browser.conftest import (
    PROTOCOLS,
    Site,
    TriedStudy,
    follow,
    has_next_pair,
    load_until,
    sign_in,
    wait_for_keys,
)
from tests.browser.looks import DESKTOP, LAPTOP, PHONE, faults_of, overflow

MESSAGE = "Nobody hears the kettle but you now. What would you tell her about it?"


CUT_TABLES = """() => [...document.querySelectorAll(".scroll")]
    .filter(one => one.scrollWidth > one.clientWidth).map(one => one.innerText.slice(0, 80))"""


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


def test_a_phone_shows_whole_intervals_and_paper_every_column(visitor, site):
    visitor.set_viewport_size(PHONE)
    visitor.goto(site.results)

    ends = "all => all.map(one => one.getBoundingClientRect().right)"
    assert max(visitor.locator("tbody svg.whisker").evaluate_all(ends)) < PHONE["width"]
    visitor.set_viewport_size({"width": 794, "height": 1123})  # A4
    visitor.emulate_media(media="print")
    assert visitor.evaluate(CUT_TABLES) == []


def test_what_readers_see_of_analyses(visitor, site):
    visitor.goto(site.results)
    links = visitor.locator("ul.closer a")
    load_until(visitor, links.count)
    found = [link.get_attribute("href") for link in links.all()]
    for path in found:
        visitor.goto(site.address + path)
        open_folds(visitor)
        assert_accessible(visitor)
        assert visitor.evaluate(CUT_TABLES) == [], path  # as a desktop shows them


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


WIDE = ("demo/comparisons/", "demo/judges/", "demo/ratings/", "models/", "judges/", "members/")
SHORT = ("demo/", "demo/protocol/", "models/add/")

ROWS_WITHOUT_NAMES = """() => [...document.querySelectorAll(".table.scroll tbody tr")].filter(
    row => {
    const [box, first] = [row.closest(".scroll"), row.firstElementChild];
    box.scrollLeft = box.scrollWidth;
    const [outer, cell] = [box, first].map(one => one.getBoundingClientRect());
    return cell.left < outer.left || cell.right > outer.left + outer.width * 0.6;
}).map(row => row.innerText.slice(0, 80))"""


@pytest.mark.parametrize("part", OF_ADMINS)
def test_what_admins_see(admin, site, part):
    study = site.results.rstrip("/").rpartition("/")[2]
    for path in OF_ADMINS[part]:
        admin.goto(site.console + path.format(study=study))
        open_folds(admin)
        assert_accessible(admin)


def test_on_a_phone_the_pages_of_a_study_are_a_menu_and_what_is_asked_for_comes_first(admin, site):
    admin.set_viewport_size(PHONE)
    admin.goto(f"{site.console}demo/judgments/")

    heading = admin.get_by_role("heading", name="Judgments").bounding_box()
    assert heading["y"] + heading["height"] < PHONE["height"] / 3
    assert admin.locator(".scroll").evaluate("one => one.scrollWidth - one.clientWidth") <= 0
    for path in (*WIDE, "demo/judgments/"):
        admin.goto(site.console + path)
        assert (admin.evaluate(ROWS_WITHOUT_NAMES), overflow(admin)) == ([], 0), path
    assert not admin.get_by_role("link", name="Planner").is_visible()
    admin.locator("summary", has_text="Overview").click()
    follow(admin.get_by_role("link", name="Planner"))
    admin.set_viewport_size(DESKTOP)
    assert admin.get_by_role("link", name="Planner").is_visible()
    for path in SHORT:
        admin.goto(site.console + path)
        length = admin.evaluate("document.documentElement.scrollHeight")
        assert length < 2 * LAPTOP["height"], path
        titles = admin.locator("h1, .crumbs > p > a:last-child")
        titles.evaluate_all("all => all.forEach(one => { one.textContent = 'W'.repeat(120) })")
        assert overflow(admin) == 0, path


def test_the_boxes_of_a_row_stand_in_line_however_long_their_labels(admin, site):
    admin.set_viewport_size(DESKTOP)
    admin.goto(f"{site.console}models/add/")

    boxes = admin.get_by_role("group", name="Where a call goes").get_by_role("textbox")
    assert boxes.count() == 3
    assert len({box.bounding_box()["y"] for box in boxes.all()}) == 1


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


Step = tuple[str, Callable[[], object], str]
"""What a page or state is called, the way to it, and the selector or text by which it is known."""


class Faults:
    """What is wrong with the pages visited."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.found: list[str] = []

    def visit(self, steps: list[Step]) -> None:
        for name, go, sign in steps:
            go()
            self.page.locator(sign).first.wait_for(state="attached")
            self.found += faults_of(self.page, name)


def button(page: Page, name: str) -> Callable[[], object]:
    return page.get_by_role("button", name=re.compile(name)).first.click


def open_menu(page: Page, name: str) -> Callable[[], object]:
    return page.locator("summary", has_text=name).click


def go(page: Page, address: str) -> Callable[[], object]:
    return lambda: page.goto(address)


def press(page: Page, key: str) -> Callable[[], object]:
    return lambda: page.keyboard.press(key)


def answer_question(page: Page, answer: str) -> Callable[[], object]:
    return page.get_by_role("button", name=answer).click


def way_in(page: Page, study: TriedStudy) -> list[Step]:
    """From the first address to the first pair, with every ending on the way."""
    at, mturk = study.address, "?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=h"
    return [
        ("preview", go(page, at + mturk), "text=This is a preview"),
        ("half a link", go(page, f"{at}?PROLIFIC_PID="), "text=This link is not complete"),
        ("help for anyone", go(page, f"{at}help/"), "text=You may skip anything"),
        ("broken private link", go(page, f"{at}resume/x~y/"), "text=doesn’t work"),
        ("consent", go(page, at), "text=Do you want to take part?"),
        ("declined", button(page, "No, I decline"), "text=You declined"),
        ("consent again", go(page, f"{at}?pid=axe"), "text=Do you want to take part?"),
        ("how", button(page, "Yes, I agree"), "text=How it works"),
        ("how, not yet chosen", button(page, "Compare with"), "#errors"),
        ("questions", go(page, f"{at}questions/"), "text=Quick check"),
        ("second try", answer_question(page, study.wrong), "text=Not quite"),
    ]


def first_pair(page: Page, study: TriedStudy) -> list[Step]:
    """The judging page in its states, and what can be opened on it."""
    at = study.address
    return [
        ("pair", answer_question(page, study.right), "#answer"),
        ("pair with errors", button(page, "Submit"), "#errors"),
        ("skip menu", open_menu(page, "Skip"), "[open] .panel"),
        ("report menu", open_menu(page, "Report"), "#report_text"),
        ("keys", press(page, "?"), "#keys[open]"),
        ("rubric", go_and_press(page, f"{at}judge/", "r"), "#answer"),
        ("whole rubric", go(page, f"{at}rubric/"), "h1"),
    ]


def go_and_press(page: Page, address: str, key: str) -> Callable[[], object]:
    def act() -> None:
        page.goto(address)
        wait_for_keys(page)
        page.keyboard.press(key)

    return act


def way_out(page: Page, study: TriedStudy) -> list[Step]:
    """The pages beside the judging, and the last ones."""
    at = study.address

    def open_skip() -> None:
        page.goto(f"{at}judge/")
        open_menu(page, "Skip")()

    return [
        ("help", go(page, f"{at}help/"), "text=Back to the study"),
        ("somebody else's pair", go(page, f"{at}judge/nothing/"), "text=nothing at this address"),
        ("pair to skip", open_skip, "[open] .panel"),
        ("upset", button(page, "It upsets me"), "text=Thank you for telling us"),
        ("break", button(page, "Take a break"), "text=Take all the time you need"),
        ("stop", go(page, f"{at}stop/"), "text=Stop here?"),
        ("end", button(page, "Stop for good"), "text=Thank you"),
        ("withdraw", go(page, f"{at}withdraw/"), "text=Withdraw from the study?"),
        ("withdrawn", button(page, "Withdraw and delete"), "text=You have withdrawn"),
    ]


@pytest.fixture
def faults(visit):
    return Faults(visit(reduced_motion="reduce"))  # no colour is caught on its way to another


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_pairs_have_no_faults(faults, studies, kind):
    study, page = studies[kind], faults.page
    page.goto(study.address)
    follow(page.get_by_role("button", name="Yes, I agree"))
    page.goto(f"{study.address}questions/")

    faults.visit(first_pair(page, study))

    assert faults.found == []


def test_ways_in_and_out_have_no_faults(faults, studies):
    study, page = studies["preference"], faults.page

    faults.visit(way_in(page, study))
    answer_question(page, study.right)()
    expect(page.locator("#answer")).to_be_visible()
    faults.visit(way_out(page, study))

    assert faults.found == []


def test_being_screened_out_has_no_faults(faults, studies):
    study, page = studies["rubric"], faults.page
    page.goto(f"{study.address}?PROLIFIC_PID=unclear&STUDY_ID=s&SESSION_ID=x")
    follow(page.get_by_role("button", name="Yes, I agree"))
    page.goto(f"{study.address}questions/")
    answer_question(page, study.wrong)()
    expect(page.get_by_role("heading", level=1)).to_have_text("Not quite")

    faults.visit(
        [("screened out", answer_question(page, study.wrong), "text=this task isn’t for everyone")]
    )

    assert faults.found == []


def test_guesses_and_a_whole_session_have_no_faults(faults, site: Site, studies):
    study, page = studies["likert"], faults.page
    page.goto(study.address)
    follow(page.get_by_role("button", name="Yes, I agree"))
    page.goto(f"{study.address}questions/")
    answer_question(page, study.right)()
    while has_next_pair(page):
        wait_for_keys(page)
        token = page.locator("#answer").get_attribute("action")
        for key in "34343":
            page.keyboard.press(key)
        page.keyboard.press("Control+Enter")
        expect(page.locator(f'#answer[action="{token}"]')).to_have_count(0)

    faults.visit(
        [
            ("guesses", lambda: None, "text=One last question"),
            ("code", button(page, "Send and finish"), "#completion-code"),
        ]
    )

    assert faults.found == []


def test_a_study_that_rests_has_no_faults(faults, site: Site, studies):
    study, page = studies["preference"], faults.page
    page.goto(study.address)
    follow(page.get_by_role("button", name="Yes, I agree"))
    page.goto(f"{study.address}questions/")
    answer_question(page, study.right)()
    expect(page.locator("#answer")).to_be_visible()
    site.manage("study", "pause", "tried-preference")
    try:
        open_menu(page, "Skip")()
        page.get_by_role("button", name="I can’t decide").click()
        faults.visit([("paused", lambda: None, "text=This study is paused")])
    finally:
        site.manage("study", "open", "tried-preference")

    assert faults.found == []
