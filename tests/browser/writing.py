"""A supporter's steps in the browser, and an admin's around them."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Site

POOL = "console/writing/demo/"


def make_link(admin: Page, site: Site) -> str:
    """Invite somebody without an address, and return their personal link."""
    admin.goto(f"{site.address}/{POOL}")
    admin.get_by_role("button", name="Make a link without an address").click()
    return admin.get_by_label("Personal link", exact=True).input_value()


def come_in(page: Page, link: str) -> None:
    """Open the personal link, answer what it asks first, and arrive at the desk."""
    page.goto(link)
    if (agree := page.get_by_role("button", name="Yes, I agree")).count():
        agree.click()
        page.get_by_role("radio").first.check()
        page.get_by_role("button", name="Continue").click()
    see_heading(page, "Your desk")


def open_dialogue(page: Page) -> Locator:
    """Go to the dialogue that waits, wait for its script, and return the text box."""
    page.get_by_role("link", name=re.compile("^Write the|^Continue your draft")).click()
    return ready_box(page)


def ready_box(page: Page) -> Locator:
    expect(page.locator("html.js")).to_be_attached()
    return page.get_by_role("textbox", name="Your reply")


def see_draft(page: Page, state: str) -> None:
    """Wait until the page says that of the draft."""
    expect(page.locator("#draft-state")).to_contain_text(state)


def see_heading(page: Page, heading: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)


def send(page: Page, text: str) -> None:
    ready_box(page).fill(text)
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name=re.compile("^Send( the new version)?$")).click()
    see_heading(page, "Sent, thank you")


def decide(admin: Page, site: Site, text: str, verdict: str, note: str = "") -> None:
    """Find the message that waits by its text, and decide on it in the console."""
    admin.goto(f"{site.address}/{POOL}messages/")
    row = admin.get_by_role("listitem").filter(has_text=text)
    row.get_by_role("link", name=re.compile("^Message")).click()
    admin.get_by_label("Note to the writer").fill(note)
    with admin.expect_response(lambda answer: answer.request.method == "POST") as decided:
        admin.get_by_role("button", name=verdict).click()
    assert decided.value.status < 400
