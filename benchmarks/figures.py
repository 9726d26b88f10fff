"""Every figure of a report in light and dark, for the documentation: python -m benchmarks.figures.

A simulated study is made inside a PostgreSQL database of its own, which is dropped in the end. Its
pages are drawn by Chromium without a script, on one machine as on another but for its fonts.
Writes docs/figures.md and docs/images/figures/. Needs a server as the tests do.
"""

import io
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Literal

from PIL import Image

from benchmarks.scratch import scratch_site

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, Page, ViewportSize

    from ranking.models import Fit

DOCS = Path(__file__).resolve().parents[1] / "docs"
IMAGES = DOCS / "images" / "figures"
N_JUDGMENTS, N_SYSTEMS = 6_000, 8
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
VIEWPORT: "ViewportSize" = {"width": 1280, "height": 900}
SHADES = 64
MOST_BYTES = 60_000
MARGIN = 6
UNROLL = "e => { if (e.scrollWidth > e.clientWidth) { e.style.width = 'max-content'; } }"
LINE = 100
HEAD = """\
# Figures of a report

Every picture that a report of a study has, in light and in dark, as the server draws it without a
script. `make figures-docs` makes them anew, and this page: it simulates a study of people and LLM
judges inside a database of its own, computes its report, and takes the pages with Chromium. **All
data here are simulated and say nothing about anything real.** Captions are those of the pages;
each figure has its table, its CSV and its files for print beside it ([results.md](results.md)).
"""


@dataclass(frozen=True)
class Figure:
    """One figure: its name here, and the analysis and the table that it is drawn from."""

    name: str
    title: str
    kind: str = ""
    table: str = ""

    @property
    def place(self) -> str:
        """Return where on its page it is drawn."""
        if not self.kind:
            return "figure.board:has(#board-caption) .scroll"
        return f"figure[aria-labelledby='{self.table}'] :is(.scroll, .radar-box)"


FIGURES = (
    Figure("elo", "Elo with intervals"),
    Figure("dimensions", "Heat map of the dimensions", "dimensions", "dimensions"),
    Figure("radar", "Radar", "dimensions", "radar"),
    Figure("head-to-head", "Head to head", "pairs", "win-rate"),
    Figure("latency", "Elo against latency", "latency", "speed"),
    Figure("strategies", "Heat map of the strategies", "strategies", "rates"),
    Figure("agreement", "Agreement of judges", "agreement", "judges"),
    Figure("calibration", "Calibration of the ratings", "checks", "calibration"),
    Figure("calibrated-judge", "Calibration of the calibrated judge", "judge", "calibration"),
    Figure("funnel", "Funnel of pairs", "checks", "funnel"),
)
BOARD_CAPTION = (
    "Ranks are intervals: systems that share a rank are not told apart. The dark line is the "
    "interval of one system by itself, the pale wider one holds for all at once; the dashed "
    "upright is 1500, the mean."
)


def make_report() -> "Fit":
    """Make the study, its ratings, and what figures are drawn from; return the fit."""
    from benchmarks import report_costs  # noqa: PLC0415 (models need the settings)
    from benchmarks.report_rows import fill_report, name_as_simulated  # noqa: PLC0415

    study = fill_report(N_JUDGMENTS, n_systems=N_SYSTEMS)
    name_as_simulated(study)
    (fit, *_) = report_costs.make_fits(study)
    for kind in sorted({figure.kind for figure in FIGURES if figure.kind}):
        report_costs.analysed(fit, kind.upper())
    return fit


def captions(fit: "Fit") -> Iterator[tuple[Figure, str]]:
    """Yield each figure with how to read it.

    Raises
    ------
    RuntimeError
        If an analysis did not find a table.
    """
    from ranking.fits import analysis_queries  # noqa: PLC0415 (models need the settings)

    found = {one.kind.lower(): one.findings for one in analysis_queries.analyses_of(fit)}
    for figure in FIGURES:
        if not figure.kind:
            yield figure, BOARD_CAPTION
            continue
        findings = found[figure.kind]
        tables = {one.key: one for one in findings.tables} if findings else {}
        if figure.table not in tables:
            msg = f"{figure.kind} has no table {figure.table}, only {sorted(tables)}"
            raise RuntimeError(msg)
        yield figure, tables[figure.table].caption


def take(fit: "Fit") -> None:
    """Take every figure in both schemes."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (a dependency of development)

    from benchmarks.figures_site import Site  # noqa: PLC0415 (models need the settings)

    site = Site(fit)
    shutil.rmtree(IMAGES, ignore_errors=True)
    IMAGES.mkdir(parents=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for scheme in SCHEMES:
            context = browser.new_context(
                viewport=VIEWPORT, color_scheme=scheme, java_script_enabled=False
            )
            page = context.new_page()
            page.route("**/*", lambda route: site.answer(route))  # noqa: PLW0108 (it is written to)
            for figure in FIGURES:
                page.goto(site.address(figure.kind))
                keep(shot(page, figure), IMAGES / f"{figure.name}-{scheme}.png")
            context.close()
        browser.close()


def shot(page: "Page", figure: Figure) -> bytes:
    """Return a picture of the whole figure, wide ones too, with a little of the page around it."""
    found = page.locator(figure.place).first
    found.evaluate(UNROLL)
    box = found.bounding_box()
    if box is None:
        msg = f"there is no {figure.name} on {page.url}"
        raise RuntimeError(msg)
    clip: FloatRect = {
        "x": max(box["x"] - MARGIN, 0.0),
        "y": max(box["y"] - MARGIN, 0.0),
        "width": box["width"] + 2 * MARGIN,
        "height": box["height"] + 2 * MARGIN,
    }
    return page.screenshot(clip=clip, full_page=True)


def keep(picture: bytes, file: Path) -> None:
    """Write a picture with few colours, so that it is small.

    Raises
    ------
    RuntimeError
        If it is not.
    """
    with Image.open(io.BytesIO(picture)) as image:
        few = image.convert("RGB").quantize(SHADES, dither=Image.Dither.NONE)
        few.save(file, optimize=True)
    size = file.stat().st_size
    sys.stdout.write(f"{file.name:<32}{size / 1000:6.1f} kB\n")
    if size > MOST_BYTES:
        msg = f"{file.name} has {size} bytes, more than {MOST_BYTES}"
        raise RuntimeError(msg)


def written(fit: "Fit") -> str:
    """Return the page of the documentation."""
    parts = [HEAD]
    for figure, caption in captions(fit):
        file = f"images/figures/{figure.name}"
        images = (f"![{figure.title}, {one}; simulated]({file}-{one}.png)" for one in SCHEMES)
        words = "\n".join(wrap(caption, LINE))
        parts.append(f"## {figure.title}\n\n{words}\n\n" + "\n".join(images) + "\n")
    return "\n".join(parts)


def main() -> None:
    """Make the study, the pictures and the page."""
    # Playwright has a loop of its own.
    with scratch_site(DJANGO_ALLOW_ASYNC_UNSAFE="1"):
        fit = make_report()
        page = written(fit)
        take(fit)
        (DOCS / "figures.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
