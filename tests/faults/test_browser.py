"""What a rater sees of it all: offline for a minute, and without a database."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.browser.conftest import CHROMIUM, PATIENCE_MS, QUIET
from tests.browser.test_rater_pages import REASON, enrol, wait_for_pair
from tests.conftest import missing
from tests.faults.ledger import balance

SAFE = "Your answer is safe"
MINUTE_MS = 60_000


@pytest.fixture
def page() -> Iterator[Page]:
    if CHROMIUM is None:
        missing("Chromium", "on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        page = browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        yield page
        browser.close()


def answer(page: Page) -> None:
    page.keyboard.press("2")
    page.get_by_role("textbox").fill(REASON)
    page.keyboard.press("Control+Enter")


def test_answers_outlive_a_lost_line_and_a_lost_database(stack, web, page, record_property):
    page.clock.install()
    enrol(page, f"{web.address}/s/browser/")

    page.context.set_offline(True)
    answer(page)
    expect(page.get_by_text(SAFE)).to_be_visible()
    page.clock.fast_forward(MINUTE_MS)
    expect(page.get_by_text(SAFE)).to_be_visible()
    page.context.set_offline(False)
    wait_for_pair(page, 2)
    expect(page.get_by_text(SAFE)).not_to_be_visible()

    stack.cluster.crash()
    answer(page)
    expect(page.get_by_text(SAFE)).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_value(REASON)
    stack.cluster.start()
    wait_for_pair(page, 3)

    stack.cluster.crash()
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("One moment, please")
    expect(page.get_by_text("It loads by itself")).to_be_visible()
    stack.cluster.start()
    wait_for_pair(page, 3)

    found = balance(stack.cluster, "browser", [])
    done, seen = "offline a minute, database gone twice", "a calm notice, a calm page"
    record_property("drill", ("browser", done, 2, 2 - found.stored, len(found.twice), seen, ""))
    assert (found.stored, found.twice, found.out_of_order) == (2, [], [])
