"""A real site to browse: the demo as a newcomer starts it, in a process of its own."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, sync_playwright

from tests.conftest import missing

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
PHONE: ViewportSize = {"width": 360, "height": 740}
DESKTOP: ViewportSize = {"width": 1280, "height": 900}
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.hookimpl(tryfirst=True)  # before xdist writes the groups into the names
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep all browser tests on one worker, so that they share one site."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("browser"))


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

    def manage(self, *arguments: str) -> None:
        """Run one of the site's commands in a process of its own."""
        subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env={
                "PATH": os.environ["PATH"],
                "HEART_SECRET_KEY": "only-for-browser-tests",
                "HEART_DATA_DIR": str(self.folder),
            },
            check=True,
        )


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    environment = {
        "PATH": os.environ["PATH"],
        "HEART_SECRET_KEY": "only-for-browser-tests",
        "HEART_DATA_DIR": str(folder),
        "HEART_REFIT_SECONDS": "1",
        "HEART_BOOTSTRAP_REPLICATES": "100",
        "HEART_LOG_LEVEL": "WARNING",
    }
    with (
        (folder / "stderr").open("w") as errors,
        subprocess.Popen(
            [sys.executable, "manage.py", "demo", "--port", "0"],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        try:
            yield _read_doors(process, folder)
        finally:
            process.terminate()
            assert process.wait(30) == 0


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


# Not for the session: Playwright's event loop would be in the way of tests that start their own.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        missing("Chromium", "on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def browsing(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh visitor on a desktop."""
    with browser.new_context(viewport=DESKTOP) as context:
        yield context


@pytest.fixture
def page(browsing: BrowserContext) -> Page:
    return browsing.new_page()


@pytest.fixture
def visit(browser: Browser):
    """Open fresh visitors' pages, and see that no page broke its own security policy."""
    opened: list[BrowserContext] = []
    complaints: list[str] = []

    def open_page(**options: Any) -> Page:
        context = browser.new_context(**{"viewport": DESKTOP} | options)
        opened.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda said: complaints.append(said.text) if "Policy" in said.text else None,
        )
        return page

    yield open_page
    for context in opened:
        context.close()
    assert complaints == []


def sign_in(page: Page, site: Site) -> None:
    """Enter the console as the demo's admin."""
    page.goto(site.console)
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(site.password)
    page.keyboard.press("Enter")
    page.wait_for_url(site.console)
