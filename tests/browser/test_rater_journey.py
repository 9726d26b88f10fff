"""From the link of a platform to the completion code: by keyboard, on a phone, without scripts.

The studies ask questions first, have a screening round, plant checks, repeat pairs, suggest a
break, and ask for guesses in the end; nobody is told which pair is which.
"""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PROTOCOLS, TriedStudy, come_in, has_next_pair, wait_for_keys
from tests.browser.looks import BEING_SWAPPED, PHONE, overflow

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
