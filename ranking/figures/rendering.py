"""Drawings as files."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from threading import RLock
from typing import TYPE_CHECKING, Any

from ranking.figures.marks import Block, Drawing, Mark, Spot, Stroke, Words

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

DPI = 300
POINTS_AN_INCH = 72.0
FONT = "DejaVu Sans"
STAMP_SHARE = 0.7  # of the width of the page
STAMP_ALPHA = 0.1
STAMP_ANGLE = 30.0
STAMP_LINES = 5.0  # slanted, it is this many times as high as its letters
SETTINGS: dict[Any, Any] = {
    "text.parse_math": False,  # a dollar in a name is a dollar
    "svg.fonttype": "none",  # text stays text: it can be searched, and edited for a paper
    "svg.hashsalt": "heart",
    "pdf.fonttype": 42,  # journals refuse outlines of type 3
}
WAITED_S = 20.0
_ONE_AT_A_TIME = RLock()


class FiguresBusyError(Exception):
    """Others have been drawing figures for so long that this one is not begun."""


class FigureFormat(StrEnum):
    """The formats of a file."""

    SVG = "svg"
    PDF = "pdf"
    PNG = "png"

    @property
    def content_type(self) -> str:
        """Return what the file is for browsers."""
        types = {
            FigureFormat.SVG: "image/svg+xml",
            FigureFormat.PDF: "application/pdf",
            FigureFormat.PNG: "image/png",
        }
        return types[self]


@contextmanager
def alone() -> Iterator[None]:
    """Hold everybody else off while something is measured or drawn, with settings of its own.

    Settings and fonts of matplotlib belong to the process; afterwards they are as before.

    Raises
    ------
    FiguresBusyError
        If it is not its turn for a long time.
    """
    import matplotlib as mpl  # noqa: PLC0415 (nothing else of the site needs it)

    if not _ONE_AT_A_TIME.acquire(timeout=WAITED_S):
        raise FiguresBusyError
    try:
        with mpl.rc_context():
            mpl.rcdefaults()
            mpl.rcParams.update(SETTINGS)
            yield
    finally:
        _ONE_AT_A_TIME.release()


def rendered(drawing: Drawing, form: FigureFormat) -> bytes:
    """Return the file; the same drawing gives the same bytes."""
    with alone():
        return _rendered(drawing, form)


def _rendered(drawing: Drawing, form: FigureFormat) -> bytes:
    from matplotlib.figure import Figure  # noqa: PLC0415 (nothing else of the site needs it)

    size = (drawing.width / POINTS_AN_INCH, drawing.height / POINTS_AN_INCH)
    figure = Figure(figsize=size, facecolor="white")
    page = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    page.set_axis_off()
    page.set_xlim(0.0, drawing.width)
    page.set_ylim(drawing.height, 0.0)
    for order, mark in enumerate(drawing.marks):
        _put(page, mark, order)
    if drawing.stamp:
        _stamp(page, drawing)
    file = io.BytesIO()
    figure.savefig(file, format=form.value, dpi=DPI, metadata=_metadata(form, drawing.title))
    return file.getvalue()


def _metadata(form: FigureFormat, title: str) -> dict[str, Any]:
    """Return what the file says of itself; a date would make each file another."""
    dates = {
        FigureFormat.SVG: {"Date": None},
        FigureFormat.PDF: {"CreationDate": None},
        FigureFormat.PNG: {},
    }
    return {"Title": title, **dates[form]}


def _put(page: "Axes", mark: Mark, order: int) -> None:
    if isinstance(mark, Words):
        _write(page, mark, order)
    elif isinstance(mark, Stroke):
        page.add_line(_line(mark, order))
    else:
        page.add_artist(_patch(mark, order))


def _write(page: "Axes", words: Words, order: int) -> None:
    page.text(
        words.x,
        words.y,
        words.text,
        size=words.size,
        color=words.colour,
        family=FONT,
        weight="bold" if words.is_bold else "normal",
        ha=words.anchor,
        va="baseline",
        rotation=90.0 if words.is_turned else 0.0,
        rotation_mode="anchor",
        zorder=order,
    )


def _line(stroke: Stroke, order: int) -> "Line2D":
    from matplotlib.lines import Line2D  # noqa: PLC0415 (nothing else of the site needs it)

    xs, ys = zip(*stroke.points, strict=True)
    style: Any = (0.0, [part / stroke.weight for part in stroke.dashes]) if stroke.dashes else "-"
    return Line2D(
        xs, ys, color=stroke.colour, linewidth=stroke.weight, linestyle=style, zorder=order
    )


def _patch(mark: Block | Spot, order: int) -> "Artist":
    from matplotlib.patches import Circle, Rectangle  # noqa: PLC0415 (nothing else of the site needs it)

    if isinstance(mark, Block):
        corner = (mark.x, mark.y)
        rectangle = Rectangle(corner, mark.width, mark.height, facecolor=mark.colour, zorder=order)
        rectangle.set_linewidth(0.0)
        return rectangle
    fill = "white" if mark.is_hollow else mark.colour
    edge = {"edgecolor": mark.colour, "linewidth": 0.8}
    return Circle((mark.x, mark.y), mark.radius, facecolor=fill, zorder=order, **edge)


def _stamp(page: "Axes", drawing: Drawing) -> None:
    """Write a word across the page, large and so pale that all below it can be read."""
    letters = 0.7 * len(drawing.stamp)
    page.text(
        drawing.width / 2,
        drawing.height / 2,
        drawing.stamp,
        size=min(STAMP_SHARE * drawing.width / letters, drawing.height / STAMP_LINES),
        color="black",
        alpha=STAMP_ALPHA,
        family=FONT,
        weight="bold",
        ha="center",
        va="center",
        rotation=STAMP_ANGLE,
        zorder=len(drawing.marks),
    )
