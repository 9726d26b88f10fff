"""Whole journeys in a browser: a supporter's to an accepted message, a rater's to the code.

Supporters are invited, interrupted and sent back. Raters come from the link of a platform: by
keyboard, on a phone, without scripts; their studies ask questions first, have a screening round,
plant checks, repeat pairs, suggest a break, and ask for guesses in the end; nobody is told which
pair is which.
"""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from completions.dialogues.wording import count_words
from tests.browser import writing
from tests.browser.conftest import (
    PROTOCOLS,
    Site,
    TriedStudy,
    come_in,
    has_next_pair,
    sign_in,
    wait_for_keys,
)
from tests.browser.looks import BEING_SWAPPED, DESKTOP, PHONE, overflow

REASON = "It takes up what this person said."
MOST_SHOWN = 15  # of three pairs that count, with what is planted between them
MOST_WORDS, MOST_CLICKS = 350, 4
WORDS = "all => all.flatMap(one => one.innerText.match(/\\S+/g) ?? []).length"
FOCUSED = "document.activeElement.matches('a, button') ? document.activeElement.innerText : ''"


def platform_link(study: TriedStudy, person: str) -> str:
    return f"{study.address}?PROLIFIC_PID={person}&STUDY_ID=s&SESSION_ID=x"


def judge_all(page: Page, answer: Callable[[], None]) -> list[str]:
    """Answer whatever is shown until the guesses are asked for; return the steps shown."""
    steps: list[str] = []
    for _ in range(MOST_SHOWN):
        if not has_next_pair(page):
            return steps
        steps.append(page.locator("#progress strong").inner_text())
        address = page.locator("#answer").get_attribute("action")
        answer()
        expect(page.locator(f'#answer[action="{address}"]')).to_have_count(0)
    pytest.fail(f"still judging after {steps}")


def assert_whole_session(steps: list[str], word: str) -> None:
    """See that the screening came first, and that what was planted counted as a pair or not."""
    assert steps[0] == "Warm-up 1 of 1"
    assert list(dict.fromkeys(steps[1:])) == [f"{word} {n} of 3" for n in (1, 2, 3)]


def assert_code(page: Page, study: TriedStudy) -> None:
    expect(page.locator("#completion-code")).to_have_text(study.code)
    back = page.get_by_role("link", name="Go back to your platform")
    expect(back).to_have_attribute(
        "href", f"https://app.prolific.com/submissions/complete?cc={study.code}"
    )


class Keyboard:
    """Somebody who has a keyboard and nothing else."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.press = page.keyboard.press

    def tab_to(self, name: str) -> None:
        """Reach a link or button with the Tab key alone, and press Enter on it."""
        for _ in range(80):
            self.press("Tab")
            if name in self.page.evaluate(FOCUSED):
                self.press("Enter")
                return
        pytest.fail(f"Tab never reached {name!r} on {self.page.url}")

    def answer_pair(self) -> None:
        self.press("2")
        self.press("Tab")
        self.page.keyboard.type(REASON)
        self.press("Control+Enter")


def test_keyboard_alone_leads_from_a_platforms_link_to_the_code(visit, studies):
    study = studies["preference"]
    page = visit()
    keyboard = Keyboard(page)
    page.goto(platform_link(study, "keyboard"))
    keyboard.tab_to("Yes, I agree")
    expect(page.get_by_role("heading", name="How it works")).to_be_visible()
    expect(page.get_by_role("button", name="Shortcuts")).to_be_visible()  # the script is there
    keyboard.press("5")
    keyboard.press("Control+Enter")
    expect(page.locator(BEING_SWAPPED)).to_have_count(0)
    expect(page.locator("#worked")).to_be_focused()
    keyboard.tab_to(study.right)

    def answer() -> None:
        if "Warm-up" not in page.locator("#progress").inner_text():
            expect(page.locator("#stage-title")).to_be_focused()  # moved by the swap
        keyboard.answer_pair()

    assert_whole_session(judge_all(page, answer), "Pair")
    while not page.evaluate("document.activeElement.name === 'guess_0'"):
        keyboard.press("Tab")
    keyboard.press("Space")
    keyboard.tab_to("Send and finish")

    assert_code(page, study)


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_few_words_and_four_clicks_lead_to_the_first_pair(visit, studies, kind, record_property):
    study = studies[kind]
    page = visit()
    page.goto(platform_link(study, "hasty"))
    words, clicks = own_words(page), 0
    page.get_by_role("button", name="Yes, I agree").click()
    expect(page.get_by_role("heading", name="How it works")).to_be_visible()
    words += own_words(page)
    if kind == "likert":
        page.get_by_role("link", name="Skip the practice").click()
        clicks += 1
    else:
        page.locator(".tile").first.click()
        clicks += 1
        page.get_by_role("button", name="Compare with an example").click()
        expect(page.locator("#worked")).to_be_focused()
        words += page.locator("#worked, #worked ~ form").evaluate_all(WORDS)
    page.get_by_role("button", name=study.right).click()
    expect(page.locator("#progress")).to_contain_text("Warm-up 1 of 1")

    record_property("words", words)
    assert words <= MOST_WORDS
    assert clicks + 3 <= MOST_CLICKS


def own_words(page: Page) -> int:
    """Count the words of the page itself, without those of the conversation and the replies."""
    [shown] = page.locator("main").evaluate_all(f"all => [({WORDS})(all)]")
    return int(shown) - int(page.locator(".context, .message").evaluate_all(WORDS))


@pytest.mark.parametrize("wait_ms", [20, 200], ids=["near", "afar"])
def test_thumb_alone_leads_through_on_a_phone(visit, studies, wait_ms):
    study = studies["likert"]
    page = visit(viewport=PHONE, has_touch=True, is_mobile=True, wait_ms=wait_ms)
    page.goto(platform_link(study, f"thumb-{wait_ms}"))
    page.get_by_role("button", name="Yes, I agree").tap()
    page.get_by_role("link", name="Skip the practice").tap()
    expect(page.get_by_role("heading", level=1)).to_have_text("Quick check")
    page.get_by_role("button", name=study.right).tap()

    def answer() -> None:
        assert overflow(page) <= 0
        tiles = [box.bounding_box() for box in page.locator(".segments label").all()]
        assert min(min(box["height"], box["width"]) for box in tiles) >= 44
        for dimension in page.locator(".ratings fieldset").all():
            dimension.locator("label").nth(3).tap()
        page.locator("#submit").tap()

    assert_whole_session(judge_all(page, answer), "Reply")
    page.locator(".segments label").first.tap()
    page.get_by_role("button", name="Send and finish").tap()

    assert_code(page, study)
    assert overflow(page) <= 0


def test_key_held_down_answers_one_row(visit, studies):
    study = studies["likert"]
    page = visit()
    come_in(page, platform_link(study, "held"))
    page.get_by_role("button", name=study.right).click()
    wait_for_keys(page)

    for _ in range(3):  # the browser repeats a key until it is let go
        page.keyboard.down("4")

    expect(page.locator(".ratings :checked")).to_have_count(1)


def test_forms_alone_lead_through_without_scripts(visit, studies):
    study = studies["rubric"]
    page = visit(java_script_enabled=False)
    page.goto(platform_link(study, "forms"))
    page.get_by_role("button", name="Yes, I agree").click()
    page.get_by_text("B is better").click()
    page.get_by_text("+++ clearly", exact=True).click()
    page.get_by_role("button", name="Compare with an example").click()
    page.get_by_role("button", name=study.right).click()

    def answer() -> None:
        page.get_by_text("A is better").click()
        page.get_by_text("++ a little", exact=True).click()
        page.get_by_role("button", name="Submit").click()

    assert_whole_session(judge_all(page, answer), "Pair")
    page.get_by_role("button", name="Skip this").click()

    assert_code(page, study)


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
    page = visit(viewport=PHONE)
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
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator("#trouble")).to_be_in_viewport(ratio=1)
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
