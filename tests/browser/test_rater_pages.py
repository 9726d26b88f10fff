"""The rater's pages as people use them: by keyboard, on a phone, without scripts, on a bad line."""

import statistics

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import TriedStudy, come_in, wait_for_keys
from tests.browser.looks import PHONE

REASON = "It takes up what this person said."
ICON = "icon.svg"  # Chromium asks for it when it likes, even after the page has answered a key


def enrol(page: Page, address: str) -> None:
    """Come in, and stand before the first pair."""
    come_in(page, address)
    wait_for_pair(page, 1)
    wait_for_keys(page)


def wait_for_pair(page: Page, number: int) -> None:
    expect(page.locator("#progress")).to_contain_text(f"Pair {number} of ")


def checked(page: Page) -> str:
    """Return the words of the chosen answer."""
    return page.locator("#stage label:has(:checked)").inner_text().splitlines()[0]


def pass_the_questions(page: Page, study: TriedStudy) -> None:
    """Answer what is asked before the first pair, and what the screening round shows."""
    come_in(page, study.address)
    expect(page.get_by_role("heading", level=1)).to_have_text("Quick check")
    page.get_by_role("button", name=study.right).click()
    expect(page.locator("#progress")).to_contain_text("Warm-up 1 of 1")
    wait_for_keys(page)


@pytest.fixture
def page(visit, site) -> Page:
    """A rater before the first pair, on a desktop."""
    page: Page = visit()
    enrol(page, site.rate)
    return page


def answer(page: Page) -> None:
    """Choose an answer and say why, without sending them."""
    page.keyboard.press("2")
    page.get_by_role("textbox").fill(REASON)


SENT_AND_SHOWN = """() => new Promise(done => {
    const answered = document.querySelector("#stage"), began = performance.now();
    const painted = () => requestAnimationFrame(() => done(performance.now() - began));
    new MutationObserver((_seen, one) => {
        if (document.querySelector("#stage") === answered) return;
        one.disconnect();
        requestAnimationFrame(painted);
    }).observe(document.querySelector("main"), {childList: true, subtree: true});
    document.querySelector("#submit").click();
})"""
"""Submits, and tells after how many milliseconds another pair is painted."""

HASTE = """() => {
    const press = (key, ctrlKey = false) => document.querySelector("#stage")
        .dispatchEvent(new KeyboardEvent("keydown", {key, ctrlKey, bubbles: true}));
    new MutationObserver((_seen, one) => {
        one.disconnect();
        [..."34343"].forEach((key) => press(key));
        press("Enter", true);
    }).observe(document.querySelector("main"), {childList: true});
}"""
"""Presses the keys of an answer the moment that what is shown is another."""


def test_the_next_pair_comes_with_the_answer_in_one_request(page, record_property):
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.method} {request.url}"))
    times = []

    for _ in range(5):
        answer(page)
        times.append(page.evaluate(SENT_AND_SHOWN))
        expect(page.locator("#stage-title")).to_be_focused()

    record_property("milliseconds to the next pair", statistics.median(times))
    assert [one.split()[0] for one in asked if ICON not in one] == ["POST"] * 5


def test_ticked_reasons_are_kept_over_a_reload(visit, studies):
    page = visit()
    pass_the_questions(page, studies["rubric"])
    warm, pushy = (page.get_by_role("checkbox", name=name) for name in ("warm", "too pushy"))

    warm.focus()
    page.keyboard.press("Space")
    pushy.focus()
    page.keyboard.press("Space")
    pushy.focus()
    page.keyboard.press("Space")
    page.reload()
    wait_for_keys(page)

    expect(warm).to_be_checked()
    expect(pushy).not_to_be_checked()


TURN = """state => {
    Object.defineProperty(document, 'visibilityState', {value: state, configurable: true});
    document.dispatchEvent(new Event('visibilitychange'));
}"""
PASS_TIME = "new Promise(done => setTimeout(done, 60))"
HELD = "held => [...held.content.querySelectorAll('.message p')].map(one => one.textContent)"
SENT = """() => {
    document.querySelector("#submit").click();
    const texts = document.querySelectorAll("[inert] .message p");
    return [[...texts].map((one) => one.innerText), document.body.innerText];
}"""
"""Submits, and returns the messages and all words that stand there before there is an answer."""


class TestAfar:
    """On a line of a fifth of a second to the site and back."""

    @pytest.fixture
    def page(self, visit, site):
        page = visit(wait_ms=200)
        line = page.context.new_cdp_session(page)
        slow = {"offline": False, "latency": 200, "downloadThroughput": -1, "uploadThroughput": -1}
        line.send("Network.emulateNetworkConditions", slow)
        enrol(page, site.rate)
        yield page
        line.detach()

    def choose(self, page):
        """Choose an answer, wait for what may follow, and return the messages of both pairs.

        What may follow is held aside: the page has one pair, and its controls once.
        """
        page.keyboard.press("2")
        expect(page.locator("[data-foreseen]")).to_be_attached()
        expect(page.locator("#answer, [inert]")).to_have_count(1)
        shown = page.locator(".message p").all_text_contents()
        return [shown, page.locator("[data-foreseen]").evaluate(HELD)]

    def test_the_next_pair_is_there_with_the_press_and_says_saved_with_the_answer(self, page):
        for number in (2, 3):
            _shown, foreseen = self.choose(page)
            page.get_by_role("textbox").fill(REASON)

            texts, words = page.evaluate(SENT)

            assert texts == foreseen
            assert all(text in words for text in texts)
            assert "Saved" not in words
            wait_for_pair(page, number)
            assert page.locator("#stage .message p").all_text_contents() == texts
            expect(page.locator("[data-foreseen]")).to_have_count(0)
            expect(page.locator("#undo")).to_be_visible()

    def test_an_answer_that_is_refused_comes_back_with_its_pair(self, page):
        shown, foreseen = self.choose(page)

        assert page.evaluate(SENT)[0] == foreseen != shown

        expect(page.get_by_role("alert").first).to_contain_text("Not sent yet")
        expect(page.locator("#stage .message p")).to_have_text(shown)
        expect(page.locator("[inert]")).to_have_count(0)

    def test_an_answer_that_does_not_arrive_stays_in_sight_with_its_pair(self, page):
        shown, foreseen = self.choose(page)
        page.get_by_role("textbox").fill(REASON)
        page.route("**/judge/**", lambda route: route.abort())

        assert page.evaluate(SENT)[0] == foreseen

        expect(page.locator("#trouble")).to_be_visible()
        expect(page.locator("#stage .message p")).to_have_text(shown)
        expect(page.locator("[inert]")).to_have_count(0)
        expect(page.get_by_role("textbox")).to_have_value(REASON)
        page.unroute("**/judge/**")
        wait_for_pair(page, 2)


class TestKeys:
    def test_digits_choose_and_tab_leads_on_to_the_reason(self, page):
        for key, words in zip("15", ["A much better", "B much better"], strict=True):
            page.keyboard.press(key)
            assert checked(page) == words
        page.keyboard.press("Tab")

        expect(page.locator("#id_rationale")).to_be_focused()

    def test_arrows_move_the_choice(self, page):
        shown = []
        for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
            page.keyboard.press(key)
            shown.append(checked(page))

        assert shown == ["A much better", "A slightly better", "A much better"]

    def test_digits_in_the_reason_are_only_text(self, page):
        page.get_by_role("textbox").fill("")
        page.keyboard.type("5 of 5?")

        expect(page.get_by_role("textbox")).to_have_value("5 of 5?")
        assert page.locator("#stage :checked").count() == 0
        expect(page.locator("#keys")).not_to_be_visible()

    def test_question_mark_lists_the_keys_and_they_can_be_switched_off(self, page):
        page.keyboard.press("?")
        page.get_by_label("Single-key shortcuts on").uncheck()
        page.keyboard.press("Escape")
        page.keyboard.press("2")
        assert page.locator("#stage :checked").count() == 0
        page.reload()
        page.keyboard.press("2")
        assert page.locator("#stage :checked").count() == 0

        page.get_by_role("button", name="Shortcuts").click()
        page.get_by_label("Single-key shortcuts on").check()
        page.keyboard.press("Escape")
        page.keyboard.press("2")
        assert checked(page) == "A slightly better"

    def test_what_a_key_chooses_comes_into_sight(self, visit, site):
        page = visit(viewport={"width": 1280, "height": 200})
        enrol(page, site.rate)
        expect(page.locator(".tile").first).not_to_be_in_viewport()

        page.keyboard.press("2")

        expect(page.locator(".tile:has(:checked)")).to_be_in_viewport(ratio=1)

    def test_the_rubric_opens_after_an_outage_and_leaves_the_page_where_it_was(
        self, visit, studies
    ):
        page = visit(viewport=PHONE)
        pass_the_questions(page, studies["rubric"])
        page.evaluate("scrollTo(0, 150)")

        page.context.set_offline(True)
        with page.expect_event("requestfailed"):
            page.keyboard.press("r")
        page.keyboard.press("r")
        page.context.set_offline(False)
        page.keyboard.press("r")
        expect(page.get_by_text("Scores high").first).to_be_visible()
        page.keyboard.press("r")

        assert page.evaluate("scrollY") == 150

    def test_u_takes_back_what_was_just_sent_and_the_loop_goes_on(self, page):
        address = page.url
        answer(page)
        page.keyboard.press("Control+Enter")
        wait_for_pair(page, 2)
        expect(page.locator("#stage-title")).to_be_focused()

        page.keyboard.press("u")
        expect(page.get_by_role("textbox")).to_have_value(REASON)
        assert checked(page) == "A slightly better"
        page.keyboard.press("4")
        page.keyboard.press("Control+Enter")

        expect(page.get_by_role("textbox")).to_have_value("")
        wait_for_pair(page, 2)
        assert page.url == address

    def test_ctrl_enter_in_a_report_sends_the_report_and_not_the_answer(self, page):
        answer(page)
        page.locator("summary", has_text="Report").click()
        page.get_by_label("What is wrong?").fill("It names a real person.")

        with page.expect_request(lambda request: request.method == "POST") as sent:
            page.keyboard.press("Control+Enter")

        assert sent.value.url.endswith("/report/")
        expect(page.get_by_role("heading", level=1)).to_have_text("Thank you for telling us")

    def test_rubric_study_has_keys_for_winner_and_strength(self, visit, studies):
        page = visit()
        pass_the_questions(page, studies["rubric"])

        page.keyboard.press("b")
        page.keyboard.press("4")
        page.keyboard.press("Control+Enter")

        wait_for_pair(page, 1)
        expect(page.locator("#stage-title")).to_be_focused()

    def test_digits_rate_one_dimension_after_the_other(self, visit, studies):
        page = visit()
        pass_the_questions(page, studies["likert"])

        for key in "43512":
            page.keyboard.press(key)
        rated = page.locator("#stage :checked").evaluate_all("all => all.map(one => one.value)")
        assert rated == ["4", "3", "5", "1", "2"]
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Control+Enter")

        expect(page.locator("#progress")).to_contain_text("Reply 1 of 3")
        assert page.locator("#stage :checked").count() == 0

    def test_keys_count_from_the_moment_the_next_reply_is_there(self, visit, studies):
        page = visit()
        pass_the_questions(page, studies["likert"])
        for key in "43512":
            page.keyboard.press(key)

        page.evaluate(HASTE)
        page.keyboard.press("Control+Enter")

        expect(page.locator("#progress")).to_contain_text("Reply 2 of 3")


class TestSwap:
    def test_next_pair_starts_at_the_top_with_the_focus_on_its_heading(self, visit, site):
        page = visit(viewport=PHONE)
        enrol(page, site.rate)
        page.get_by_text("About the same").click()
        page.get_by_role("textbox").fill(REASON)

        page.get_by_role("button", name="Submit").click()
        wait_for_pair(page, 2)

        expect(page.locator("#stage-title")).to_be_focused()
        assert page.evaluate("scrollY") == 0
        assert "Pair 2" in page.title()
        expect(page.locator("#status")).to_have_text("Your answer is saved.")

    def test_nothing_beside_the_pair_moves(self, page):
        def places():
            boxes = [page.locator(part).bounding_box() for part in (".bar", "#progress")]
            return [(box["x"], box["y"], box["height"]) for box in boxes]

        answer(page)
        before, place = places(), page.locator("#stage").bounding_box()

        page.keyboard.press("Control+Enter")
        wait_for_pair(page, 2)

        assert places() == before
        following = page.locator("#stage").bounding_box()
        assert (following["x"], following["width"]) == (place["x"], place["width"])

    def test_missing_parts_take_the_focus_and_lead_to_their_controls(self, page):
        page.keyboard.press("4")

        page.keyboard.press("Control+Enter")
        expect(page.locator("#errors")).to_be_focused()
        assert checked(page) == "B slightly better"
        page.get_by_role("link", name="Please say in a few words").click()
        expect(page.get_by_role("textbox")).to_be_focused()

        page.keyboard.type(REASON)
        expect(page.locator(".error-text")).to_have_count(0)


class TestNothingIsLost:
    def test_draft_survives_a_reload_and_goes_with_its_pair(self, page):
        answer(page)
        page.locator("summary", has_text="Report").click()
        page.get_by_label("What is wrong?").fill("It names a real person.")

        page.reload()
        expect(page.get_by_role("textbox")).to_have_value(REASON)
        expect(page.locator("#report_text")).to_have_value("It names a real person.")
        assert checked(page) == "A slightly better"
        page.keyboard.press("Control+Enter")

        wait_for_pair(page, 2)
        expect(page.get_by_role("textbox")).to_have_value("")
        assert page.locator("#stage :checked").count() == 0
        assert REASON not in page.evaluate("JSON.stringify(sessionStorage)")

    def test_double_click_counts_once_and_leaves_the_next_pair_alone(self, page):
        answer(page)

        page.get_by_role("button", name="Submit").dblclick()

        wait_for_pair(page, 2)
        expect(page.locator("#errors")).to_have_count(0)
        page.reload()
        wait_for_pair(page, 2)

    def test_lost_connection_keeps_the_answer_and_sends_it_when_it_is_back(self, page):
        answer(page)

        page.context.set_offline(True)
        page.keyboard.press("Control+Enter")
        expect(page.get_by_text("We could not reach the site.")).to_be_in_viewport()
        page.context.set_offline(False)

        wait_for_pair(page, 2)
        expect(page.get_by_text("We could not reach the site.")).not_to_be_visible()

    def test_undo_without_a_connection_says_so_and_happens_when_it_is_back(self, page):
        answer(page)
        page.keyboard.press("Control+Enter")
        wait_for_pair(page, 2)

        page.context.set_offline(True)
        page.locator("#undo").click()
        expect(page.get_by_text("We could not reach the site.")).to_be_in_viewport()
        page.context.set_offline(False)

        expect(page.get_by_role("textbox")).to_have_value(REASON)
        expect(page.get_by_text("We could not reach the site.")).not_to_be_visible()

    def test_back_after_an_answer_leads_to_the_waiting_pair(self, page):
        answer(page)
        page.keyboard.press("Control+Enter")
        wait_for_pair(page, 2)

        page.go_back()
        page.go_forward()

        wait_for_pair(page, 2)

    def test_time_out_of_sight_is_counted_and_survives_a_reload(self, page):
        page.evaluate(TURN, "hidden")
        page.evaluate(PASS_TIME)
        page.evaluate(TURN, "visible")

        counted = int(page.locator("[name=hidden_ms]").input_value())
        page.reload()

        assert counted >= 50
        assert int(page.locator("[name=hidden_ms]").input_value()) == counted

    def test_time_out_of_sight_counts_for_a_pair_that_comes_meanwhile(self, page):
        answer(page)
        page.evaluate(TURN, "hidden")
        page.keyboard.press("Control+Enter")
        wait_for_pair(page, 2)
        expect(page.locator("#stage-title")).to_be_focused()

        page.evaluate(PASS_TIME)
        page.evaluate(TURN, "visible")

        assert int(page.locator("[name=hidden_ms]").input_value()) >= 50
