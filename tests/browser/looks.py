"""Looking at one page as it is on a phone in the dark, and on a desktop in the light.

With ``HEART_PICTURES`` set to a folder, each page that is looked at is drawn there.
"""

import os
import re
from itertools import product
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize, expect

PHONE: ViewportSize = {"width": 360, "height": 740}
LAPTOP: ViewportSize = {"width": 1280, "height": 800}
DESKTOP: ViewportSize = {"width": 1280, "height": 900}
LOOKS = (("phone", PHONE, "dark"), ("desktop", DESKTOP, "light"))
"""Each size and each scheme once: what depends on both together has not been seen here."""
SEEN = ["tbody > tr:nth-child(n+9)", ":is(ul, ol) > li:nth-child(n+9)"]
"""Rows that are made as those before them: contrast takes milliseconds for every text."""
_ASK_AXE = """seen => axe.run({exclude: seen}, {resultTypes: ["violations"]})
    .then(({violations}) => violations.map(one => `${one.id} ${one.nodes[0].html}`))"""
BEING_SWAPPED = ".htmx-request, .htmx-swapping, .htmx-added, .htmx-settling"
_SCRIPT = Axe().axe_script


def overflow(page: Page) -> int:
    """Return by how many pixels the page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def violations(page: Page) -> list[str]:
    """Return what axe finds wrong with a page as it is shown now."""
    page.wait_for_load_state()
    expect(page.locator(BEING_SWAPPED)).to_have_count(0)
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(_SCRIPT)
    return list(page.evaluate(_ASK_AXE, SEEN))


def draw(page: Page, name: str, folder: Path) -> None:
    """Draw a page as a telephone and a laptop show it, light and dark."""
    stem = re.sub(r"\W+", "-", f"{os.environ['PYTEST_CURRENT_TEST'].split('::')[-1]} {name}")
    for size, scheme in product((PHONE, LAPTOP), ("light", "dark")):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        file = folder / f"{size['width']}-{scheme}" / f"{stem}.png"
        page.screenshot(path=file, caret="initial")  # hiding the caret would break our policy


def faults_of(page: Page, name: str = "") -> list[str]:
    """Return what axe finds wrong with a page, and by how much it is too wide, look by look.

    The page is left as a desktop in the light shows it.
    """
    found = []
    if folder := os.environ.get("HEART_PICTURES"):
        draw(page, name or page.url, Path(folder))
    for look, size, scheme in LOOKS:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        said = violations(page)
        if (wide := overflow(page)) > 0:
            said.append(f"{wide} px too wide")
        found += [f"{name or page.url}, {look}: {fault}" for fault in said]
    return found
