"""A real site to browse: the demo in a process of its own."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

from tests.browser.looks import DESKTOP
from tests.conftest import missing

ROOT = Path(__file__).resolve().parents[2]
STUDIES = ROOT / "annotation" / "studies"
PROTOCOLS = ("preference", "rubric", "likert")
MANAGE = """
import json, sys
from django.core.management import call_command
for line in sys.stdin:
    call_command(*json.loads(line), stdout=sys.stderr)
    print("done", flush=True)
"""
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
PATIENCE_MS = 300_000  # a busy machine is slow, not wrong; only what hangs takes as long
NEAR_MS = 20
"""A wait for the site at which nothing is fetched ahead."""
AGAIN_MS = 200
expect.set_options(timeout=PATIENCE_MS)
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass(frozen=True)
class Site:
    """Where the running demo is, and its ways in."""

    address: str
    rate: str
    write: str
    console: str
    results: str
    password: str
    folder: Path
    cookies: list[Any] = field(default_factory=list)
    """Of the admin, once signed in."""

    @cached_property
    def manager(self) -> "subprocess.Popen[str]":
        """A process that runs the site's commands: to start takes longer than they do."""
        return self.start("shell", "--no-imports", "-c", MANAGE)

    def manage(self, *arguments: str) -> None:
        """Run one of the site's commands."""
        assert self.manager.stdin is not None
        assert self.manager.stdout is not None
        self.manager.stdin.write(f"{json.dumps(arguments)}\n")
        self.manager.stdin.flush()
        assert self.manager.stdout.readline() == "done\n", arguments

    def end(self) -> None:
        """End the process of the commands where one was needed."""
        if "manager" in vars(self):
            with self.manager:
                self.manager.communicate()

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start one of the site's commands, to be spoken with while it runs."""
        return subprocess.Popen(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=_environment(self.folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )


@pytest.fixture(scope="package")
def site(
    tmp_path_factory: pytest.TempPathFactory, migrated: Callable[[Path], None]
) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    migrated(folder)
    with (
        (folder / "stderr").open("w") as errors,
        subprocess.Popen(
            [sys.executable, "manage.py", "demo", "--port", "0"],
            cwd=ROOT,
            env=_environment(folder),
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        try:
            site = _read_doors(process, folder)
            yield site
            site.end()
        finally:
            process.terminate()
            try:
                ended = process.wait(PATIENCE_MS / 1000)
            finally:
                process.kill()
        assert ended == 0


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HEART_SECRET_KEY": "only-for-browser-tests",
        "HEART_DATA_DIR": str(folder),
        "HEART_REFIT_SECONDS": "1",
        "HEART_BOOTSTRAP_REPLICATES": "100",
        "HEART_ANALYSIS_PACE_SECONDS": "3600",  # no test looks at those of other selections
        "HEART_ANALYSIS_SECONDS": "3600",  # nor again at what has changed since
        "HEART_LOG_LEVEL": "WARNING",
    }


def _read_doors(process: subprocess.Popen[str], folder: Path) -> Site:
    assert process.stdout is not None
    printed = ""
    for line in process.stdout:
        printed += line
        if line.startswith("Results"):
            break
    found = dict(re.findall(r"^(Judge|Write|Console|Results)\b.*?(http\S+)", printed, re.MULTILINE))
    assert found, f"the demo did not start:\n{printed}\n{(folder / 'stderr').read_text()}"
    password = re.search(r"\(admin, (.+)\)", printed)
    assert password is not None
    return Site(
        address="/".join(found["Results"].split("/")[:3]),
        rate=found["Judge"],
        write=found["Write"],
        console=found["Console"],
        results=found["Results"],
        password=password[1],
        folder=folder,
    )


@dataclass(frozen=True)
class TriedStudy:
    """A short study beside the demo, with all that can come before and after its pairs."""

    address: str
    code: str
    right: str
    wrong: str
    """The answers to its question, as its buttons have them."""


@pytest.fixture(scope="package")
def studies(site: Site) -> dict[str, TriedStudy]:
    """Open a study of each protocol: questions, a screening round, checks, repeats, guesses."""
    for kind in PROTOCOLS:
        site.manage("study", "create", _short_study(kind, site.folder), "--dataset", "demo")
        site.manage("study", "plan", f"tried-{kind}", "--yes")
        site.manage("study", "open", f"tried-{kind}")
    return {kind: _tried(kind, site) for kind in PROTOCOLS}


def _short_study(kind: str, folder: Path) -> str:
    """Write the study file that ships for the protocol, but short and full of checks."""
    text = (STUDIES / f"heart-{kind}.toml").read_text("utf-8")
    for name, value in {
        "slug": f'"tried-{kind}"',
        "protocol": f'"{kind}"',
        "session_length": "3",
        "pairs_per_context": "0",
        "source_guesses": "2",
        "break_every": "2",
        "complete": f'"DONE-{kind.upper()}"',
        "rate": "0.3",
        "repeat_rate": "0.2",
        "pairs": "1",
        "min_passed": "0",
    }.items():
        text, n = re.subn(rf"(?m)^{name} = [^#\n]*", f"{name} = {value}  ", text)
        assert n == 1, name
    file = folder / f"tried-{kind}.toml"
    file.write_text(text, "utf-8")
    return str(file)


def _tried(kind: str, site: Site) -> TriedStudy:
    file = tomllib.loads((site.folder / f"tried-{kind}.toml").read_text("utf-8"))
    [question] = file["comprehension"]
    wrong, right = question["options"]  # the second is right in every file that ships
    assert question["answer"] == len(question["options"])
    return TriedStudy(f"{site.address}/s/tried-{kind}/", f"DONE-{kind.upper()}", right, wrong)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run a browser for the length of the block."""
    if CHROMIUM is None:
        missing("Chromium", "on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


# Not for the session: Playwright's event loop would be in the way of tests that start their own.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


def measured(ms: int) -> str:
    """Return a script that has the page measure so long a wait for the site.

    Chromium's own figures leave out how a test slows a line down, and grow with what else runs.
    """
    return f"""performance.getEntries = () => [
        {{ transferSize: 0, requestStart: 0, responseStart: 1 }},
        {{ transferSize: 300, requestStart: 10, responseStart: {10 + ms} }},
    ]"""


@pytest.fixture
def browsing(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh visitor on a desktop."""
    with browser.new_context(viewport=DESKTOP) as context:
        context.set_default_timeout(PATIENCE_MS)
        context.add_init_script(measured(NEAR_MS))
        yield context


@pytest.fixture
def page(browsing: BrowserContext) -> Page:
    return browsing.new_page()


@pytest.fixture
def visit(browser: Browser):
    """Open fresh visitors' pages, and see that no page broke its own security policy.

    A page takes the site for near unless ``wait_ms`` is above 100, whatever else runs.
    """
    opened: list[BrowserContext] = []
    complaints: list[str] = []

    def open_page(*, wait_ms: int = NEAR_MS, **options: Any) -> Page:
        context = browser.new_context(**{"viewport": DESKTOP} | options)
        context.set_default_timeout(PATIENCE_MS)
        context.add_init_script(measured(wait_ms))
        opened.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console", lambda said: complaints.append(said.text) if "Policy" in said.text else None
        )
        return page

    yield open_page
    for context in opened:
        context.close()
    assert complaints == []


def follow(link: Locator) -> None:
    """Click a link and wait for the page it leads to: nobody looks at the one that is left."""
    with link.page.expect_navigation():
        link.click()


def load_until(page: Page, reached: Callable[[], object]) -> None:
    """Load the page again until a worker has brought about what is wanted."""
    for _ in range(PATIENCE_MS // AGAIN_MS):
        if reached():
            return
        page.wait_for_timeout(AGAIN_MS)
        page.reload()
    pytest.fail(f"what a worker should do never came to {page.url}")


def come_in(page: Page, address: str) -> None:
    """Agree to take part, and pass by the practice."""
    page.goto(address)
    page.get_by_role("button", name="Yes, I agree").click()
    page.get_by_role("link", name="Skip the practice").click()


def has_next_pair(page: Page) -> bool:
    """Wait for the next pair or the question after the last one, and return which it is.

    One look at the page decides: between two, it can change.
    """
    step = page.locator("#progress strong").or_(page.get_by_role("heading", name="One last"))
    return not step.inner_text().startswith("One last")


def wait_for_keys(page: Page) -> None:
    """Wait for the script of the page: before it is there, nobody hears a key."""
    expect(page.locator("html.js")).to_be_attached()


def sign_in(page: Page, site: Site) -> None:
    """Enter the console as the demo's admin, who gives the password once."""
    page.context.add_cookies(site.cookies)
    page.goto(site.console)
    if not site.cookies:
        page.get_by_label("Username").fill("admin")
        page.get_by_label("Password").fill(site.password)
        page.keyboard.press("Enter")
        page.wait_for_url(site.console)
        site.cookies.extend(page.context.cookies())
