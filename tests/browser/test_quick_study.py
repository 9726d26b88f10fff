"""From a spreadsheet of texts to a judged pair, as somebody does it who has nothing else."""

from playwright.sync_api import expect

from tests.browser.looks import faults_of

SHEET = """\
item;our model;the old one;context
1;We open at nine, and on Sundays at ten.;Nine.;When do you open?
2;Yes, within a month, with the receipt.;Returns are possible.;Can I return this?
3;We do not ship abroad.;No.;
"""
QUESTION = "Which answer is clearer?"


def test_a_spreadsheet_is_judged_by_its_link(visit, site, tmp_path):
    file = tmp_path / "answers.csv"
    file.write_text(SHEET, encoding="utf-8")
    site.manage("study", "quick", str(file), "--question", QUESTION, "--judgments", "2")
    page = visit(reduced_motion="reduce")

    page.goto(f"{site.address}/s/answers/")
    page.get_by_role("button", name="Yes, I agree").click()
    page.get_by_role("link", name="Skip the practice").click()
    seen, faults = set(), list[str]()
    for number in (1, 2, 3):
        expect(page.locator("#progress")).to_contain_text(f"Pair {number} of 3")
        expect(page.get_by_role("heading", name=QUESTION)).to_be_visible()
        expect(page.get_by_role("heading", name="Text A")).to_be_visible()
        seen.add("asked" if page.locator(".context").count() else "alone")
        faults += faults_of(page, f"pair {number}")
        page.get_by_text("A slightly better").click()
        page.get_by_role("textbox", name="What made the difference?").fill("It says when.")
        page.get_by_role("button", name="Submit").click()

    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert seen == {"asked", "alone"}
    assert faults == []
