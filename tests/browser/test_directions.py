"""In which direction Chromium lays out texts that begin in one script and go on in another."""

from pathlib import Path

import pytest
from django.test import Client
from playwright.sync_api import sync_playwright

from tests.annotation.session.test_languages_pages import (
    ENGLISH,
    HEBREW,
    MIXED_ENGLISH,
    MIXED_HEBREW,
    study_in,
)
from tests.browser.conftest import CHROMIUM, QUIET
from tests.conftest import missing
from tests.helpers.visits import enrol, url

pytestmark = pytest.mark.django_db

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


def page_in(language: str, texts: tuple[str, str]) -> str:
    client, study = Client(), study_in(language, texts)
    enrol(client, study)
    return client.get(url(study, "judge")).content.decode()


def test_a_text_begins_on_the_side_of_its_language():
    pages = [
        page_in("he", (HEBREW, MIXED_HEBREW)),
        page_in("en", (ENGLISH, MIXED_ENGLISH)),
        page_in("en", (HEBREW, MIXED_ENGLISH)),
    ]
    if CHROMIUM is None:
        missing("Chromium", "on Debian: apt-get install chromium")
    measured = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        page = browser.new_page()
        for content in pages:
            page.set_content(content, wait_until="domcontentloaded")
            page.add_style_tag(path=CSS)
            measured.append({text: tuple(rest) for text, *rest in page.evaluate(MEASURED)})
        browser.close()

    right, left = ("rtl", "right"), ("ltr", "left")
    assert set(measured[0].values()) == {right}
    assert set(measured[1].values()) == {left}
    assert (measured[2][HEBREW], measured[2][MIXED_ENGLISH]) == (right, left)
