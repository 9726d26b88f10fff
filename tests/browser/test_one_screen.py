"""A pair and all that it asks for is on one screen of a laptop, and is short on a telephone.

The pairs are of ESConv: a conversation so far, the supporter's reply, and another supporter's.
The table in docs/raters.md is made of their rows, which `--junit-xml` writes down.

Texts that begin in one script and go on in another are laid out in the direction of their language.
"""

import mimetypes
import statistics
import uuid
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.test import Client
from playwright.sync_api import Browser, Page, Route, ViewportSize

from annotation.models import Study
from annotation.session.blinded import ComparisonPage, SessionProgress, StudyPage
from annotation.studies.protocol.files import STUDIES, load_protocol
from annotation.studies.rubric import load_rubric
from annotation.studies.services.drafts import fields_of
from completions.dialogues.couplets import couplets
from completions.dialogues.display import DialogueView
from completions.dialogues.ingest.dialogue import ParsedDialogue
from completions.dialogues.ingest.files import read_dialogues
from tests.annotation.session.test_languages_pages import (
    ENGLISH,
    HEBREW,
    MIXED_HEBREW,
    study_in,
)
from tests.browser.conftest import PROTOCOLS
from tests.browser.looks import LAPTOP, PHONE
from tests.browser.test_rater_pages import enrol as stand_before_a_pair
from tests.browser.test_rater_pages import pass_the_questions
from tests.helpers.datasets import shared_file
from tests.helpers.visits import enrol, url

SITE = "http://pairs.example"
MIXED_ENGLISH = "She said \u05e9\u05dc\u05d5\u05dd to you."
N_PAIRS = 60
ON_ONE_SCREEN = 0.9
MOST_SCREENS = 1.6
PLACES = """() => {
    const bottom = part => document.querySelector(part)?.getBoundingClientRect().bottom ?? 0;
    const all = [...document.querySelectorAll(".message, .side fieldset, .reason, #submit")];
    return {
        lowest: Math.max(...all.map(one => one.getBoundingClientRect().bottom)),
        submit: bottom("#submit"),
        scale: bottom(".docked"),
        latest: bottom(".turn.latest"),
        length: document.documentElement.scrollHeight,
    };
}"""


class RealPair(NamedTuple):
    """A conversation and two replies to it; both were written by people."""

    turns: list[dict[str, str]]
    reply: str
    other: str


@pytest.fixture(scope="module")
def pairs() -> list[RealPair]:
    """Draw real pairs, each from another dialogue."""
    dialogues = [
        [{"role": turn.role, "text": turn.text} for turn in one.turns]
        for one in read_dialogues(shared_file("esconv/ESConv.json"))
        if isinstance(one, ParsedDialogue)
    ]
    draw = np.random.default_rng(25)
    chosen = [dialogues[at] for at in draw.choice(len(dialogues), 2 * N_PAIRS, replace=False)]
    ends = [int(draw.choice(couplets(one))) for one in chosen]
    replies = [one[end + 1]["text"] for one, end in zip(chosen, ends, strict=True)]
    return [
        RealPair(one[: end + 1], reply, other)
        for one, end, reply, other in zip(
            chosen[:N_PAIRS], ends[:N_PAIRS], replies[:N_PAIRS], replies[N_PAIRS:], strict=True
        )
    ]


def study_page(kind: str) -> StudyPage:
    """Return what raters of the study that ships for a protocol read."""
    protocol = load_protocol(STUDIES / f"heart-{kind}.toml")
    study = Study(**fields_of(protocol, load_rubric(protocol.rubric)))
    return StudyPage.from_study(study)


def page_of(pair: RealPair, study: StudyPage) -> str:
    """Return the page of a pair in the middle of a session, as the site sends it."""
    texts = [pair.reply] if study.is_likert else [pair.reply, pair.other]
    comparison = ComparisonPage(
        uuid.UUID(int=1), DialogueView.of(pair.turns, language="en"), *texts
    )
    context = {
        "study": study,
        "progress": SessionProgress(done=3, total=40, minutes_left=30),
        "comparison": comparison,
        "is_pair": not study.is_likert,
        "heading": "Pair 4 of 40",
        "fragment": "annotation/_judge.html",
        "chip_order": 0,
        "csrf_token": "x" * 64,
    }
    return render_to_string("annotation/page.html", context)


class Screen:
    """A window that shows pages which no server has."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.html = ""
        page.route("**/*", self._answer)

    def _answer(self, route: Route) -> None:
        name = route.request.url.removeprefix(f"{SITE}/static/")
        if name == route.request.url:
            route.fulfill(body=self.html, content_type="text/html; charset=utf-8")
            return
        file = finders.find(name)
        route.fulfill(path=file, content_type=mimetypes.guess_type(name)[0])

    def show(self, html: str) -> dict[str, float]:
        """Show a page, and return where its parts end, in pixels from the top of the window."""
        self.html = html
        self.page.goto(f"{SITE}/")
        return dict(self.page.evaluate(PLACES))


@pytest.fixture
def screen(browser: Browser, request: pytest.FixtureRequest):
    size, options = request.param
    with browser.new_context(viewport=size, **options) as context:
        yield Screen(context.new_page())


def row(kind: str, size: ViewportSize, places: list[dict[str, float]]) -> str:
    """Return a line of the table in the documents: where submit ends, and how long pages are."""
    submit = [one["submit"] for one in places]
    screens = [one["length"] / size["height"] for one in places]
    ends = f"{statistics.median(submit):.0f} | {max(submit):.0f}"
    return (
        f"| {kind} | {size['width']} x {size['height']} | {ends} "
        f"| {statistics.median(screens):.2f} | {max(screens):.2f} |"
    )


@pytest.mark.parametrize("screen", [(LAPTOP, {})], indirect=True, ids=["laptop"])
@pytest.mark.parametrize("kind", PROTOCOLS)
def test_a_laptop_shows_the_whole_pair_at_once(screen, pairs, kind, record_property):
    study = study_page(kind)

    places = [screen.show(page_of(pair, study)) for pair in pairs]

    record_property("row", row(kind, LAPTOP, places))
    fit = [one["lowest"] <= LAPTOP["height"] for one in places]
    assert sum(fit) >= ON_ONE_SCREEN * len(pairs)
    assert all(one["latest"] <= LAPTOP["height"] for one in places)  # the newest turn is in sight


@pytest.mark.parametrize(
    "screen", [(PHONE, {"has_touch": True, "is_mobile": True})], indirect=True, ids=["phone"]
)
@pytest.mark.parametrize("kind", PROTOCOLS)
def test_a_phone_keeps_the_scale_at_the_thumb_and_the_pair_short(
    screen, pairs, kind, record_property
):
    study = study_page(kind)

    places = [screen.show(page_of(pair, study)) for pair in pairs]

    record_property("row", row(kind, PHONE, places))
    assert statistics.median(one["length"] for one in places) <= MOST_SCREENS * PHONE["height"]
    assert all(one["submit"] <= PHONE["height"] for one in places)
    assert kind == "likert" or all(one["scale"] <= PHONE["height"] for one in places)


@pytest.mark.parametrize(
    "screen", [(PHONE, {"has_touch": True, "is_mobile": True})], indirect=True, ids=["phone"]
)
@pytest.mark.parametrize("kind", ["preference", "rubric"])
def test_large_letters_do_not_overlap_and_the_scale_does_not_fill_a_low_screen(screen, pairs, kind):
    screen.show(page_of(pairs[0], study_page(kind)))
    screen.page.add_style_tag(content=":root { font-size: 200% }")

    tiles = screen.page.locator(".tile")
    assert all(tiles.evaluate_all("all => all.map(one => one.scrollWidth <= one.clientWidth)"))
    screen.page.set_viewport_size({"width": PHONE["height"], "height": PHONE["width"]})
    docked = screen.page.locator(".docked")
    assert docked.evaluate("one => getComputedStyle(one).position") == "static"


CSS = Path(__file__).resolve().parents[2] / "static" / "css" / "heart.css"
MEASURED = """
() => [...document.querySelectorAll("[translate=no]")].map(shown => {
  const letter = document.createRange();
  letter.setStart(shown.firstChild, 0);
  letter.setEnd(shown.firstChild, 1);
  const [first, all] = [letter.getBoundingClientRect(), shown.getBoundingClientRect()];
  const begins = first.left - all.left < all.right - first.right ? "left" : "right";
  return [shown.textContent, getComputedStyle(shown).direction, begins];
})
"""


CLIPPED = "one => getComputedStyle(one).clipPath"


def page_in(language: str, texts: tuple[str, str]) -> str:
    client, study = Client(), study_in(language, texts)
    enrol(client, study)
    return client.get(url(study, "judge")).content.decode()


@pytest.mark.django_db
def test_a_text_begins_on_the_side_of_its_language(browser):
    pages = [
        page_in("he", (HEBREW, MIXED_HEBREW)),
        page_in("en", (ENGLISH, MIXED_ENGLISH)),
        page_in("en", (HEBREW, MIXED_ENGLISH)),
    ]
    measured = []
    with browser.new_context() as context:
        page = context.new_page()
        for content in pages:
            page.set_content(content, wait_until="domcontentloaded")
            page.add_style_tag(path=CSS)
            measured.append({text: tuple(rest) for text, *rest in page.evaluate(MEASURED)})

    right, left = ("rtl", "right"), ("ltr", "left")
    assert set(measured[0].values()) == {right}
    assert set(measured[1].values()) == {left}
    assert (measured[2][HEBREW], measured[2][MIXED_ENGLISH]) == (right, left)


@pytest.mark.django_db
def test_a_phone_says_that_practice_is_practice_and_spares_the_heading_of_a_pair(browser):
    client, study = Client(), study_in("en", (ENGLISH, MIXED_ENGLISH))
    enrol(client, study)
    shown = []
    with browser.new_context(viewport=PHONE) as context:
        page = context.new_page()
        for name in ("how", "judge"):
            content = client.get(url(study, name)).content.decode()
            page.set_content(content, wait_until="domcontentloaded")
            page.add_style_tag(path=CSS)
            shown.append(page.locator(".overline").first.evaluate(CLIPPED))

    assert shown == ["none", "inset(50%)"]


PRESSED = """all => all.filter(one => one.checkVisibility()).flatMap(one => {
    const around = getComputedStyle(one, "::before");
    const { width, height } = one.getBoundingClientRect();
    const sides = [Math.max(width, parseFloat(around.width) || 0),
                   Math.max(height, parseFloat(around.height) || 0)];
    return Math.round(Math.min(...sides)) < 44 ? [[one.textContent.trim(), ...sides]] : [];
})"""
"""What a finger finds smaller than 44 pixels, with the area around it that counts as it."""


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_on_a_phone_a_finger_finds_every_control(visit, studies, kind):
    page = visit(viewport=PHONE, has_touch=True, is_mobile=True)
    pass_the_questions(page, studies[kind])
    controls = page.locator("nav :is(a, button), main :is(a, button, summary, label:has(input))")

    assert controls.evaluate_all(PRESSED) == []


def test_on_a_phone_messages_stack_and_everything_is_in_reach(visit, site):
    page = visit(viewport=PHONE, has_touch=True, is_mobile=True)
    stand_before_a_pair(page, site.rate)

    a, b = (box.bounding_box() for box in page.locator(".message").all())
    assert a["x"] == b["x"]
    assert a["width"] == b["width"]
    assert b["y"] > a["y"] + a["height"]
    choices = [box.bounding_box() for box in page.locator(".tile").all()]
    assert min(box["height"] for box in choices) >= 44
    assert page.locator("#submit").bounding_box()["width"] > 300
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_both_messages_have_one_size_on_a_desktop(page, site):
    stand_before_a_pair(page, site.rate)

    a, b = (box.bounding_box() for box in page.locator(".message").all())

    assert (a["y"], a["width"], a["height"]) == (b["y"], b["width"], b["height"])
