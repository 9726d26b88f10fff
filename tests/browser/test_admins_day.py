"""The day of an admin in one browser: from signing in to a release that verifies elsewhere.

And a whole study from the published ESConv to a judged pair, on the pages of the console alone.
"""

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import ROOT, Site, come_in, follow, load_until, sign_in
from tests.browser.looks import DESKTOP, PHONE, overflow, violations
from tests.helpers.datasets import shared_file
from tests.helpers.observed import code_of

NAME, PASSWORD = "ada", "four unconnected plain words"
SLUG = "days-work"
N_RATERS, SESSION = 6, 5
TWIN = f"simulated-{SLUG}-{N_RATERS}-1"
MESSAGES = (
    "You kept the shop going on your own all winter. What would a quiet Sunday look like now?",
    "That sounds like a heavy week to carry. Who else knows how the evenings are for you?",
)
REHEARSE = """
import sys
from django.core.management import call_command
from django.utils import timezone
from annotation.models import Study
from annotation.studies.services.shadow_studies import Rehearsal, make_shadow_study
from heart_site.demo.rehearsal.reporting import BEGAN

study = Study.objects.get(slug={slug!r})
make_shadow_study(study=study, rehearsal=Rehearsal({n}, 1), now=timezone.now() - BEGAN)
print("made", flush=True)
sys.stdin.readline()  # until somebody watches
call_command("study", "simulate", "--study", study.slug, "--raters", "{n}", "--seed", "1")
"""


def look(page: Page, name: str) -> None:
    """See that nobody is shut out of the page, and that it fits its window and a phone's."""
    assert violations(page) == [], name
    assert overflow(page) <= 0, name
    page.set_viewport_size(PHONE)
    assert overflow(page) <= 0, f"{name} on a phone"
    page.set_viewport_size(DESKTOP)


def press(page: Page, name: str | re.Pattern[str]) -> None:
    page.get_by_role("button", name=name).click()


def go_to(page: Page, name: str) -> None:
    follow(page.get_by_role("link", name=name, exact=True).first)


def unfold(page: Page, name: str) -> None:
    page.locator("summary", has_text=name).click()


def see(page: Page, words: str | re.Pattern[str]) -> None:
    expect(page.get_by_text(words).first).to_be_visible()


def number_of(page: Page, name: str) -> Locator:
    """Return the count that stands under a name."""
    named = page.locator("dl.counts > div").filter(has=page.get_by_text(name, exact=True))
    return named.locator("dd").first


def test_goes_from_signing_in_to_a_release_that_verifies(visit, site: Site, tmp_path):
    page: Page = visit()
    sign_in_with_a_code(page, visit(), site)
    make_a_study(page)
    import_messages(page, site, tmp_path)
    plan_lock_and_open(page)
    with rehearsing(site) as process:  # it takes seconds to start: time to look around
        look_around(page)
        watch_raters_come_in(page, site, process)
    leave_one_out_and_take_them_back(page, site)
    refit_and_read_the_report(page, site)
    verify_elsewhere(build_a_release(page, site, tmp_path))


def sign_in_with_a_code(page: Page, owner: Page, site: Site) -> None:
    """Set a password by an owner's link, add an app, and come in with both."""
    sign_in(owner, site)
    go_to(owner, "Team")
    owner.get_by_label("Username").fill(NAME)
    owner.get_by_role("radio", name="owner").check()
    press(owner, "Add them")
    page.goto(owner.locator("code.key").inner_text())
    for label in ("New password", "New password again"):
        page.get_by_label(label, exact=True).fill(PASSWORD)
    press(page, "Set it")
    page.goto(f"{site.address}/accounts/second-factor/add/")
    give_password(page)
    secret = page.locator("#secret").inner_text()
    page.get_by_label("Code").fill(code_of(secret))
    press(page, "Add it")
    see(page, "Recovery codes")
    page.goto(site.console)
    unfold(page, NAME)
    press(page, "Sign out")

    page.goto(site.console)
    give_password(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Second factor")
    page.get_by_label("Code").fill(code_of(secret, steps=1))  # one is taken once
    press(page, "Sign in")
    page.wait_for_url(site.console)


def give_password(page: Page) -> None:
    page.get_by_label("Username").fill(NAME)
    page.get_by_label("Password").fill(PASSWORD)
    press(page, "Sign in")


def make_a_study(page: Page) -> None:
    """Store a draft from the template; what is wrong is said beside its field first."""
    go_to(page, "New study")
    look(page, "start")
    go_to(page, "demo")
    page.get_by_label("Dataset").select_option("demo")
    page.get_by_label("Address").fill(SLUG)
    page.get_by_role("link", name="Next: How many").click()
    page.get_by_label("Session length").fill(str(SESSION))
    page.get_by_label("Judgments per pair").fill("0")
    press(page, "Store as a draft")
    expect(page.get_by_label("Judgments per pair")).to_have_attribute("aria-invalid", "true")
    look(page, "form")
    page.get_by_label("Judgments per pair").fill("2")
    press(page, "Store as a draft")
    expect(page.get_by_role("heading", name="Dry run and plan")).to_be_visible()


def import_messages(page: Page, site: Site, folder: Path) -> None:
    """Import messages that people wrote elsewhere; those without a flag are completions at once."""
    planned = int(number_of(page, "Would be added").inner_text())
    page.goto(f"{site.console}contexts/demo/list/?stratum=REGULAR")
    keys = page.locator(".rows .name a").all_inner_texts()
    pairs = enumerate(zip(keys, MESSAGES, strict=False))
    rows = [f"{key},{text},{SLUG}-{n}" for n, (key, text) in pairs]
    file = folder / "messages.csv"
    file.write_text("\n".join(["context,text,author", *rows]), "utf-8")

    page.goto(f"{site.console}writing/demo/import/")
    page.get_by_label("File: a table, JSON or Parquet").set_input_files(file)
    page.get_by_label("People read and accepted these messages").check()
    press(page, "Check the file")
    expect(number_of(page, "accepted at once")).to_have_text("2")
    look(page, "import")
    press(page, "Store 2 messages")
    see(page, "2 messages are stored: 0 to review, 2 accepted")

    page.goto(f"{site.console}{SLUG}/plan/")
    assert int(number_of(page, "Would be added").inner_text()) > planned


def plan_lock_and_open(page: Page) -> None:
    look(page, "dry run")
    press(page, re.compile("^Add [1-9]"))
    see(page, "added to the plan")
    unfold(page, "Lock")
    press(page, "Lock the study")
    see(page, "from now on only its state changes")
    unfold(page, "Open")
    look(page, "overview")
    press(page, "Open the study")
    see(page, "raters can come in now")


def look_around(page: Page) -> None:
    go_to(page, "Completions")
    look(page, "coverage")
    go_to(page, "Protocol")
    look(page, "protocol")


@contextmanager
def rehearsing(site: Site) -> Iterator["subprocess.Popen[str]"]:
    """Make the study's shadow study; a line to the process lets the simulated raters come."""
    script = REHEARSE.format(slug=SLUG, n=N_RATERS)
    with site.start("shell", "--no-imports", "-c", script) as process:
        yield process
        printed, _errors = process.communicate()
    assert process.returncode == 0
    assert "Over quota 0" in printed


def watch_raters_come_in(page: Page, site: Site, process: "subprocess.Popen[str]") -> None:
    """Watch the numbers move without touching the page."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "made\n"
    page.goto(f"{site.console}{TWIN}/")
    judged = number_of(page, "Judgments by people")
    expect(judged).to_have_text("0")
    process.stdin.write("\n")
    process.stdin.flush()
    expect(judged).not_to_have_text("0")


def leave_one_out_and_take_them_back(page: Page, site: Site) -> None:
    page.goto(f"{site.console}{TWIN}/raters/?standing=in")
    page.locator("table.raters tbody a.key").first.click()
    for act, reason in (("Leave out", "Answers in one breath."), ("Take back", "A fast reader.")):
        page.get_by_role("textbox", name="Reason").fill(reason)
        press(page, act)
        expect(page.locator("ol.history > li").first).to_contain_text(f"“{reason}”")
    expect(page.locator("ol.history > li")).to_have_count(2)
    look(page, "rater")


def refit_and_read_the_report(page: Page, site: Site) -> None:
    page.goto(f"{site.console}{TWIN}/ratings/")

    def is_asked() -> bool:
        """Ask again where ratings were under way: perhaps of the rater's absence."""
        press(page, "Refit now")
        see(page, re.compile("A worker computes now|under way already"))
        return page.get_by_text("A worker computes now").count() > 0

    load_until(page, is_asked)
    results = f"{site.address}/results/{TWIN}/"

    def has_ratings() -> bool:
        """Whether the newest ratings are there: those without one rater are of too few."""
        page.goto(results)
        return page.get_by_text(re.compile(r"\d+ judgments on")).count() > 0

    load_until(page, has_ratings)
    see(page, "Leaderboard")
    agreement = page.locator("ul.closer").get_by_role("link", name="Do evaluators agree?")

    def has_agreement() -> bool:
        """Whether the newest ratings have it: those without one rater are refused for too few."""
        page.goto(results)
        if not agreement.count():
            return False
        follow(agreement)
        return page.get_by_role("table").count() > 0

    load_until(page, has_agreement)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Do evaluators agree?")
    expect(page.get_by_role("table").first).to_be_visible()


def build_a_release(page: Page, site: Site, folder: Path) -> Path:
    """Build it by the button once the ratings are there, and return its files."""
    page.goto(f"{site.console}{TWIN}/release/")
    build = page.get_by_role("button", name="Build a release")
    load_until(page, build.count)
    look(page, "release")
    follow(build)
    load_until(page, page.get_by_role("link", name="Download").count)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    with zipfile.ZipFile(download.value.path()) as files:
        files.extractall(folder)
    (release,) = folder.glob(f"simulated-{TWIN}-rel-*")
    return release


def verify_elsewhere(release: Path) -> None:
    """Check the release as a machine would that has nothing but its files and the software."""
    done = subprocess.run(
        [sys.executable, "manage.py", "release", "verify", str(release)],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "HEART_SECRET_KEY": "of-another-machine",
            "DATABASE_URL": "postgres://nobody@127.0.0.1:1/nothing",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "numbers computed again are the same" in done.stdout


WITHOUT_A_SHELL = "without-a-shell"
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
    page.goto(f"{site.console}{WITHOUT_A_SHELL}/")
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
    see(page, "The run has ended. Its answers are kept.")
    look(page, "run")


def make_the_study(page: Page) -> None:
    go_to(page, "Studies")
    go_to(page, "New study")
    go_to(page, "demo")
    page.get_by_label("Dataset").select_option("esconv-as-published")
    page.get_by_label("Address").fill(WITHOUT_A_SHELL)
    press(page, "Store as a draft")
    plan_lock_and_open(page)


def judge_a_pair(page: Page, site: Site) -> None:
    come_in(page, f"{site.address}/s/{WITHOUT_A_SHELL}/")
    page.get_by_text("A slightly better").click()
    page.get_by_role("textbox", name="What made the difference?").fill("It asks what helps.")
    press(page, "Submit")
    see(page, "Your answer is saved.")
