"""The whole line in one browser: a supporter writes, a rater judges, an admin sees what follows.

And how a study comes about: by its form, or from a spreadsheet, by somebody who has nothing else.
"""

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import writing
from tests.browser.conftest import come_in, load_until, sign_in, wait_for_keys
from tests.browser.looks import BEING_SWAPPED, faults_of
from tests.browser.test_journeys import Keyboard

COUNT = re.compile(r"\d+ judgments on")
REPLY = "Reading the postcards aloud sounds like a way to keep her close. Which one do you pick?"
REASON = "It answers what she said about the evenings."


def enter_by_keyboard(page: Page, address: str) -> None:
    keyboard = Keyboard(page)
    page.goto(address)
    keyboard.tab_to("Yes, I agree")
    expect(page.get_by_role("button", name="Shortcuts")).to_be_visible()  # the script is there
    keyboard.press("5")
    keyboard.tab_to("Compare with an example")
    expect(page.locator(BEING_SWAPPED)).to_have_count(0)
    expect(page.locator("#worked")).to_be_focused()  # moved by the swap
    keyboard.tab_to("Start")


def judge_by_keyboard(page: Page, number: int) -> None:
    expect(page.get_by_text(f"Pair {number} of 12", exact=True)).to_be_visible()
    wait_for_keys(page)
    if number > 1:  # after a swap, a screen reader goes on from the new heading
        expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.keyboard.press(str(number % 5 + 1))
    page.keyboard.press("Tab")
    page.keyboard.type(REASON)
    page.keyboard.press("Control+Enter")


@pytest.fixture
def admin(browsing: BrowserContext, site) -> Page:
    page = browsing.new_page()
    sign_in(page, site)
    return page


def test_from_a_written_reply_to_the_refitted_leaderboard(site, browsing, admin):
    page = browsing.new_page()
    page.goto(site.results)
    before = page.get_by_text(COUNT).first.inner_text()

    writing.come_in(page, site.write)
    writing.open_dialogue(page)
    writing.send(page, REPLY)
    writing.decide(admin, site, REPLY, "Accept")
    admin.goto(site.console)
    study = admin.get_by_role("article").filter(has=admin.locator("#study-demo"))
    study.get_by_role("link", name=re.compile("^Plan")).click()
    admin.get_by_role("button", name=re.compile("^Add [1-9]")).click()
    enter_by_keyboard(page, site.rate)
    for number in range(1, 11):
        judge_by_keyboard(page, number)
    expect(page.get_by_text("Pair 11 of 12", exact=True)).to_be_visible()

    admin.goto(f"{site.console}demo/judgments/")
    expect(admin.get_by_text(REASON).first).to_be_visible()
    admin.goto(site.console)
    with admin.expect_download() as download:
        study.get_by_role("link", name=re.compile("CSV")).click()
    assert download.value.path().read_text("utf-8-sig").count(REASON) == 10
    n_before = int(re.findall(r"(\d+) judgments", before)[0])
    # Of ten pairs at most two are planted and one comes again: those answers do not count.
    wait_for_judgments(page, site.results, at_least=n_before + 7)


def wait_for_judgments(page: Page, address: str, *, at_least: int) -> None:
    """Reload until the periodic refit has come round; other visitors may judge meanwhile."""

    def reached() -> bool:
        found = page.get_by_text(COUNT).first.inner_text()
        return int(re.findall(r"(\d+) judgments", found)[0]) >= at_least

    page.goto(address)
    load_until(page, reached)


SHEET = """\
item;our model;the old one;context
1;We open at nine, and on Sundays at ten.;Nine.;When do you open?
2;Yes, within a month, with the receipt.;Returns are possible.;Can I return this?
3;We do not ship abroad.;No.;
"""
QUESTION = "Which answer is clearer?"


def test_a_spreadsheet_is_judged_by_its_link(visit, site, tmp_path):
    file = tmp_path / "answers.csv"
    file.write_text(SHEET, encoding="utf-8")
    site.manage("study", "quick", str(file), "--question", QUESTION, "--judgments", "2")
    page = visit(reduced_motion="reduce")

    come_in(page, f"{site.address}/s/answers/")
    seen, faults = set(), list[str]()
    for number in (1, 2, 3):
        expect(page.locator("#progress")).to_contain_text(f"Pair {number} of 3")
        expect(page.get_by_role("heading", name=QUESTION)).to_be_visible()
        expect(page.get_by_role("heading", name="Text A")).to_be_visible()
        seen.add("asked" if page.locator(".context").count() else "alone")
        faults += faults_of(page, f"pair {number}")
        page.get_by_text("A slightly better").click()
        page.get_by_role("textbox", name="What made the difference?").fill("It says when.")
        page.get_by_role("button", name="Submit").click()

    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert seen == {"asked", "alone"}
    assert faults == []


def test_a_study_is_asked_for_in_steps_beside_what_it_comes_to(visit, site):
    page = visit(reduced_motion="reduce")
    sign_in(page, site)
    page.goto(f"{site.console}new/from/heart-preference/")
    beside = page.get_by_role("complementary")
    expect(beside).to_contain_text("Choose a dataset")
    expect(beside.get_by_text("Reply A")).to_be_visible()

    page.get_by_label("Dataset").select_option("demo")
    expect(beside).to_contain_text("Finds differences of")
    page.get_by_label("Question", exact=True).fill("Which one is kinder?")
    expect(beside).to_contain_text("Which one is kinder?")

    page.get_by_role("link", name="Next: How many").click()
    expect(page.get_by_label("Judgments per pair")).to_be_visible()
    expect(page.get_by_label("Dataset")).to_be_hidden()
    before = beside.locator("dl").inner_text()
    page.get_by_label("Judgments per pair").fill("77")
    expect(beside.locator("dl")).not_to_have_text(before, use_inner_text=True)
    page.get_by_label("Pay per hour").fill("12")
    expect(beside).to_contain_text("Pay in all")

    assert faults_of(page, "form of a study") == []
