"""A supporter's work in a real browser: invited, writing, interrupted, sent back, accepted."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from completions.dialogues.wording import count_words
from tests.browser import writing
from tests.browser.conftest import Site, sign_in
from tests.browser.looks import DESKTOP, PHONE, overflow

HASTY = "You should sell the house and find a hobby, it will pass before the winter comes."
MENDED = "Two cups on the table, every evening. What do you say to her when you put one back?"
BEGUN = "The radio on all night sounds like company that asks"
GONE_ON = f"{BEGUN} nothing back."
ELSEWHERE = "What I typed on my telephone in the evening train."
SCRIPTS = [GONE_ON, "मैं आपकी बात समझ रहा हूँ", "می\u200cشود گفت", "それは2 days大変。ฉันเข้าใจ"]
REACHABLE = "Write to me at ada@example.org when the house gets loud again."


@pytest.fixture(scope="module")
def admin(browser: Browser, site: Site) -> Iterator[Page]:
    with browser.new_context(viewport=DESKTOP) as context:
        page = context.new_page()
        sign_in(page, site)
        yield page


@pytest.fixture
def link(admin: Page, site: Site) -> str:
    """A newcomer's personal link."""
    return writing.make_link(admin, site)


def test_an_invited_person_comes_to_a_first_accepted_message(visit, site, admin, link):
    page = visit()
    writing.come_in(page, link)
    writing.open_dialogue(page)
    writing.send(page, HASTY)
    dialogue = page.url

    writing.decide(admin, site, HASTY, "Send back", "Stay with the cups first.")
    page.goto(f"{site.address}/w/")
    expect(page.get_by_role("article")).to_contain_text("Stay with the cups first.")
    page.get_by_role("link", name="Change this reply").click()
    expect(writing.ready_box(page)).to_have_value(HASTY)
    writing.send(page, MENDED)
    writing.decide(admin, site, MENDED, "Accept")

    page.goto(dialogue)
    writing.see_heading(page, "Accepted, thank you")
    expect(page.locator(".yours")).to_contain_text(MENDED)
    page.get_by_role("link", name="To your desk").click()
    expect(page.get_by_role("listitem").filter(has_text=MENDED[:20])).to_contain_text("accepted")


def test_a_draft_survives_a_reload_and_a_dropped_connection(visit, link):
    page = visit()
    writing.come_in(page, link)
    box = writing.open_dialogue(page)
    box.fill(BEGUN)
    writing.see_draft(page, "Draft saved")
    page.reload()
    expect(writing.ready_box(page)).to_have_value(BEGUN)

    page.context.set_offline(True)
    box.fill(BEGUN)
    box.press_sequentially(GONE_ON.removeprefix(BEGUN))
    writing.see_draft(page, "Not saved yet")
    typing_ms = signal(page, "typing_ms")
    page.close()
    page.context.set_offline(False)

    again = page.context.new_page()
    again.goto(page.url)
    expect(writing.ready_box(again)).to_have_value(GONE_ON)
    writing.see_draft(again, "Draft saved")
    assert signal(again, "typing_ms") >= typing_ms > 0


def test_the_page_counts_the_words_of_any_script_as_the_site_does(visit, link):
    page = visit()
    writing.come_in(page, link)
    box = writing.open_dialogue(page)

    for text in SCRIPTS:
        box.fill(text)
        expect(page.locator("[data-words]")).to_have_text(str(count_words(text)))


def test_what_was_typed_on_another_device_is_shown_and_ours_is_kept(visit, link):
    page, other = visit(), visit()
    writing.come_in(page, link)
    box = writing.open_dialogue(page)
    box.fill(BEGUN)
    writing.see_draft(page, "Draft saved")
    page.context.set_offline(True)
    box.fill(GONE_ON)
    writing.see_draft(page, "Not saved yet")
    page.close()

    writing.come_in(other, link)
    writing.open_dialogue(other).fill(ELSEWHERE)
    writing.see_draft(other, "Draft saved")
    page.context.set_offline(False)
    again = page.context.new_page()
    again.goto(other.url)

    expect(writing.ready_box(again)).to_have_value(ELSEWHERE)
    again.get_by_role("button", name="Use that text").click()
    expect(writing.ready_box(again)).to_have_value(GONE_ON)
    writing.see_draft(again, "Draft saved")


def test_a_message_is_written_and_looked_at_again_by_keyboard_alone(visit, link):
    page = visit()
    writing.come_in(page, link)
    writing.open_dialogue(page)
    tab_to(page, "textarea")
    page.keyboard.type(REACHABLE)
    for key in ("Control+A", "Control+X", "Control+V"):
        page.keyboard.press(key)
    expect(page.get_by_role("textbox", name="Your reply")).to_have_value(REACHABLE)
    assert signal(page, "pastes") == 1
    assert signal(page, "pasted_characters") == len(REACHABLE)
    assert signal(page, "typing_ms") > 0

    tab_to(page, "[type=checkbox]")
    page.keyboard.press("Space")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#again")).to_be_focused()
    expect(page.locator("#again q")).to_have_text("ada@example.org")
    tab_to(page, "[name=has_looked_again]")
    page.keyboard.press("Enter")
    writing.see_heading(page, "Sent, thank you")


def test_nothing_scrolls_sideways_on_a_phone(visit, link):
    page = visit(viewport=PHONE, has_touch=True)
    writing.come_in(page, link)
    assert overflow(page) <= 0
    box = writing.open_dialogue(page)
    box.fill(f"{REACHABLE} {'Hm' * 100}.")
    page.get_by_role("button", name="Send").tap()
    expect(page.locator("#errors")).to_be_focused()
    assert overflow(page) <= 0

    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Send").tap()
    expect(page.locator("#again")).to_be_focused()
    assert overflow(page) <= 0
    page.get_by_role("button", name="Send anyway").tap()
    writing.see_heading(page, "Sent, thank you")
    assert overflow(page) <= 0


def tab_to(page: Page, selector: str) -> None:
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    pytest.fail(f"Tab never reached {selector} on {page.url}")


def signal(page: Page, name: str) -> int:
    return int(page.locator(f"#message [name={name}]").input_value())
