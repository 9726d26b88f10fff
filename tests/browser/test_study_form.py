"""The form of a study: one step after another, with figures and the rater's page beside it."""

from playwright.sync_api import expect

from tests.browser.conftest import sign_in
from tests.browser.looks import faults_of


def test_a_study_is_asked_for_in_steps_beside_what_it_comes_to(visit, site):
    page = visit(reduced_motion="reduce")
    sign_in(page, site)
    page.goto(f"{site.console}new/from/heart-preference/")
    beside = page.get_by_role("complementary")
    expect(beside).to_contain_text("Choose a dataset")
    expect(beside.get_by_text("Reply A")).to_be_visible()

    page.get_by_label("Dataset").select_option("demo")
    expect(beside).to_contain_text("Finds differences of")
    page.get_by_label("Question", exact=True).fill("Which one is kinder?")
    expect(beside).to_contain_text("Which one is kinder?")

    page.get_by_role("link", name="Next: How many").click()
    expect(page.get_by_label("Judgments per pair")).to_be_visible()
    expect(page.get_by_label("Dataset")).to_be_hidden()
    before = beside.locator("dl").inner_text()
    page.get_by_label("Judgments per pair").fill("77")
    expect(beside.locator("dl")).not_to_have_text(before, use_inner_text=True)
    page.get_by_label("Pay per hour").fill("12")
    expect(beside).to_contain_text("Pay in all")

    assert faults_of(page, "form of a study") == []
