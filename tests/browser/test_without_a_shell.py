"""A whole study from the published ESConv to a judged pair, on the pages of the console alone."""

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import Site, sign_in
from tests.browser.test_admins_day import (
    go_to,
    look,
    number_of,
    plan_lock_and_open,
    press,
    see,
)
from tests.helpers.datasets import shared_file

SLUG = "without-a-shell"
DATASET = "ESConv as published"


def test_a_study_is_made_from_a_dataset_without_a_command(visit, site: Site):
    esconv = shared_file("esconv/ESConv.json")
    page: Page = visit()
    sign_in(page, site)

    import_dialogues(page, str(esconv))
    choose_contexts(page)
    have_models_complete_them(page)
    make_the_study(page)
    judge_a_pair(visit(reduced_motion="reduce"), site)
    page.goto(f"{site.console}{SLUG}/")
    expect(number_of(page, "Judgments by people")).to_have_text("1")


def import_dialogues(page: Page, file: str) -> None:
    """Upload the file, see what it holds, confirm, and watch until it is stored."""
    go_to(page, "Data")
    look(page, "datasets")
    go_to(page, "Import dialogues")
    page.get_by_label("File of dialogues").set_input_files(file)
    page.get_by_label("Name of the dataset").fill(DATASET)
    look(page, "import")
    press(page, "Check the file")
    expect(number_of(page, "of them new")).to_have_text("1,300")
    look(page, "checked file")
    press(page, "Import")
    see(page, re.compile(r"1,300 dialogues \(1,300 new\)"))
    look(page, "import that is done")
    go_to(page, "To the dataset")


def choose_contexts(page: Page) -> None:
    go_to(page, "Choose contexts")
    page.get_by_label("Regular contexts in all").fill("4")
    look(page, "choice of contexts")
    press(page, "Start")
    see(page, re.compile(r"4 contexts \(4 new\)"))
    go_to(page, "To the dataset")
    look(page, "funnel")


def have_models_complete_them(page: Page) -> None:
    go_to(page, "Models")
    go_to(page, "Runs")
    go_to(page, "Plan a run of completions")
    page.get_by_label("Dataset").select_option(label=DATASET)
    for number in (0, 1):
        page.get_by_role("checkbox").nth(number).check()
    press(page, "Show the plan")
    press(page, re.compile("^Start: make 8 calls"))
    see(page, "It is over. What was answered is kept.")
    look(page, "run")


def make_the_study(page: Page) -> None:
    go_to(page, "Studies")
    go_to(page, "New study")
    go_to(page, "demo")
    page.get_by_label("Dataset").select_option("esconv-as-published")
    page.get_by_label("Address").fill(SLUG)
    press(page, "Store as a draft")
    plan_lock_and_open(page)


def judge_a_pair(page: Page, site: Site) -> None:
    page.goto(f"{site.address}/s/{SLUG}/")
    press(page, "Yes, I agree")
    page.get_by_role("link", name="Skip the practice").click()
    page.get_by_text("A slightly better").click()
    page.get_by_role("textbox", name="What made the difference?").fill("It asks what helps.")
    press(page, "Submit")
    see(page, "Your answer is saved.")
