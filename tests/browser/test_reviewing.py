"""The reviewer's pages as people use them: by keyboard from first to last, and without scripts."""

import re
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from completions.dialogues.demo import DIALOGUES
from tests.browser.conftest import Site, follow, sign_in
from tests.browser.looks import faults_of

N = 4
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="package")
def read_only(site: Site) -> str:
    """A dataset with all that the pages can show; no test decides anything in it."""
    site.manage("contexts", "screen", "--dataset", "demo", "--opinions")
    return "demo"


def test_one_box_ticks_all_that_may_be_ticked_together(page):
    boxes = "".join(
        f'<input type="checkbox" name="one" value="{value}" {more}>'
        for value, more in (("paid", ""), ("partly", "data-by-hand"), ("paid, too", ""))
    )
    all_of_them = '<label hidden data-ticks><input type="checkbox">All</label>'
    page.set_content(f"<form>{all_of_them}{boxes}</form>")
    page.add_script_tag(path=ROOT / "static/js/ticking.js")
    ticked = "boxes => boxes.filter(box => box.checked).map(box => box.value)"

    page.get_by_text("All").check()
    assert page.locator("[name]").evaluate_all(ticked) == ["paid", "paid, too"]
    page.get_by_text("All").uncheck()
    assert page.locator("[name]").evaluate_all(ticked) == []


@pytest.fixture(scope="module")
def names() -> Iterator[str]:
    return (f"review-{n}" for n in count(1))


@pytest.fixture
def dataset(site: Site, names: Iterator[str]) -> str:
    """A few contexts that nobody has read."""
    name = next(names)
    site.manage("contexts", "import", str(DIALOGUES), "--dataset", name)
    site.manage("contexts", "build", "--dataset", name, "--regular", str(N))
    return name


@pytest.fixture
def reviewer(visit, site: Site):
    """Open the list of a dataset's contexts as a member of staff."""

    def open_list(dataset: str, **options: Any) -> Page:
        page = visit(**options)
        sign_in(page, site)
        page.goto(f"{site.console}contexts/{dataset}/list/")
        return page

    return open_list


def begin(page: Page) -> None:
    page.get_by_role("link", name="Continue reviewing").click()
    wait_for_context(page, reviewed=0)


def wait_for_context(page: Page, *, reviewed: int, of: int = N) -> None:
    """Wait until the page is there, and its script, which hears the keys, with the focus."""
    expect(page.locator("#reviewed")).to_have_text(f"{reviewed} of {of} reviewed")
    expect(page.get_by_role("heading", level=1)).to_be_focused()


def key_shown(page: Page) -> str:
    return page.get_by_role("heading", level=1).locator(".key").inner_text()


class TestKeys:
    def test_lead_from_the_first_context_to_the_last(self, reviewer, dataset):
        page = reviewer(dataset)
        page.get_by_role("link", name="Continue reviewing").focus()
        page.keyboard.press("Enter")

        seen = []
        for n, key in enumerate("kdk"):
            wait_for_context(page, reviewed=n)
            seen.append(key_shown(page))
            page.keyboard.press(key)
        wait_for_context(page, reviewed=N - 1)
        page.keyboard.press("k")

        expect(page.get_by_text("Everything here is reviewed.")).to_be_visible()
        assert len(set(seen)) == N - 1
        states = page.locator(".tag.review").all_inner_texts()
        assert [text.partition(":")[0] for text in states] == ["Kept", "Dropped", "Kept", "Kept"]
        expect(page.get_by_role("link", name="Continue reviewing")).to_have_count(0)

    def test_go_on_within_what_the_list_showed(self, reviewer, dataset):
        page = reviewer(dataset)
        last = page.locator(".rows .key").last.inner_text()
        page.get_by_label("Key", exact=True).fill(last[:12])
        page.get_by_role("button", name="Show").click()
        page.get_by_role("link", name="Continue reviewing").click()
        wait_for_context(page, reviewed=0, of=1)

        page.keyboard.press("k")

        expect(page.get_by_text("Everything here is reviewed.")).to_be_visible()
        assert page.locator(".rows .key").all_inner_texts() == [last]

    def test_in_the_note_are_only_text(self, reviewer, dataset):
        page = reviewer(dataset)
        begin(page)
        first = key_shown(page)

        page.keyboard.press("e")
        expect(page.get_by_label("Note")).to_be_focused()
        page.keyboard.type("kept? done jpn")
        expect(page.get_by_label("Note")).to_have_value("kept? done jpn")
        expect(page.locator("#keys")).not_to_be_visible()
        page.keyboard.press("Escape")
        page.keyboard.press("d")
        wait_for_context(page, reviewed=1)

        page.get_by_role("status").get_by_role("link", name=first).click()
        expect(page.get_by_label("Note")).to_have_value("kept? done jpn")
        expect(page.locator(".history")).to_contain_text("kept? done jpn")

    def test_save_the_note_alone_and_stay(self, reviewer, dataset):
        page = reviewer(dataset)
        begin(page)
        first = key_shown(page)
        page.keyboard.press("e")
        page.keyboard.type("ask a second reader")

        page.keyboard.press("Control+Enter")

        expect(page.get_by_text("The note is saved.")).to_be_visible()
        wait_for_context(page, reviewed=0)
        assert key_shown(page) == first

    def test_move_without_deciding(self, reviewer, dataset):
        page = reviewer(dataset)
        keys = page.locator(".rows .key").all_inner_texts()
        begin(page)

        for key, shown in (("j", 1), ("n", 2), ("p", 1), ("p", 0), ("p", 0)):
            page.keyboard.press(key)
            expect(page.locator("h1 .key")).to_have_text(keys[shown])
        wait_for_context(page, reviewed=0)

    def test_held_down_decide_one_context_only(self, reviewer, dataset):
        page = reviewer(dataset)
        begin(page)

        page.keyboard.down("k")
        wait_for_context(page, reviewed=1)
        page.keyboard.down("k")
        page.keyboard.up("k")
        page.keyboard.press("j")

        wait_for_context(page, reviewed=1)

    def test_are_listed_and_can_be_switched_off(self, reviewer, dataset):
        page = reviewer(dataset)
        begin(page)
        first = key_shown(page)

        page.keyboard.press("?")
        expect(page.locator("#keys")).to_be_visible()
        page.get_by_label("Single-key shortcuts on").uncheck()
        page.keyboard.press("Escape")
        page.keyboard.press("k")
        page.reload()
        page.keyboard.press("j")
        page.get_by_role("button", name="Keys").click()
        page.get_by_label("Single-key shortcuts on").check()
        page.keyboard.press("Escape")
        assert key_shown(page) == first
        expect(page.locator("#reviewed")).to_have_text(f"0 of {N} reviewed")

        page.keyboard.press("k")

        wait_for_context(page, reviewed=1)


class TestWithoutScripts:
    def test_keeps_drops_notes_and_takes_back(self, reviewer, dataset):
        page = reviewer(dataset, java_script_enabled=False)
        page.get_by_role("link", name="Continue reviewing").click()
        first = page.locator("h1 .key").inner_text()
        expect(page.get_by_role("button", name="Keys")).to_have_count(0)
        expect(page.locator(".decide kbd").first).to_be_hidden()

        page.get_by_label("Note").fill("names a street")
        page.get_by_role("button", name="Drop").click()
        expect(page.locator("#reviewed")).to_have_text(f"1 of {N} reviewed")
        page.get_by_role("status").get_by_role("link", name=first).click()
        page.get_by_role("button", name="Take the decision back").click()

        expect(page.locator("#reviewed")).to_have_text(f"0 of {N} reviewed")
        expect(page.get_by_label("Note")).to_have_value("names a street")


def pages_of_a_reviewer(page: Page, address: str) -> dict[str, Callable[[], object]]:
    """Name each page and state with the way to it, in the order of a visit."""
    first = page.locator(".rows a").first
    return {
        "datasets": lambda: page.goto(f"{address}../"),
        "funnel": lambda: page.goto(address),
        "cells": page.get_by_text(re.compile(r"All \d+ cells")).click,
        "nothing found": lambda: page.goto(f"{address}list/?q=nothing"),
        "adversarial contexts": lambda: page.goto(f"{address}list/?stratum=ADVERSARIAL"),
        "adversarial": lambda: follow(first),
        "contexts": lambda: page.goto(f"{address}list/"),
        "regular": lambda: follow(first),
        "keys": lambda: page.keyboard.press("?"),
        "candidates": lambda: page.goto(f"{address}candidates/?outcome=removed"),
        "candidate": lambda: follow(first),
    }


def test_axe_finds_nothing(reviewer, site, read_only):
    page = reviewer(read_only, reduced_motion="reduce")

    found = []
    for name, go in pages_of_a_reviewer(page, f"{site.console}contexts/{read_only}/").items():
        go()
        found += faults_of(page, name)

    assert found == []
