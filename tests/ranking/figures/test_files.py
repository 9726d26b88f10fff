"""Figures as files: every picture in every format, the same each time, with all names in it."""

import io
from importlib import import_module

import pytest
from PIL import Image

from ranking.figures import (
    FigureFormat,
    FiguresBusyError,
    rendered,
    rendering,
    table_drawing,
)
from tests.ranking.figures.drawn import (
    NAMES,
    around,
    calibration,
    draw_board,
    funnel,
    heat_map,
    intervals,
    make_sign,
    over_time,
    speeds,
    text_of,
)

FEW = NAMES[:2]
DRAWINGS = {
    "heat map": lambda sign: table_drawing(heat_map(FEW), sign),
    "intervals": lambda sign: table_drawing(intervals(FEW), sign),
    "points": lambda sign: table_drawing(speeds(FEW), sign),
    "calibration": lambda sign: table_drawing(calibration(), sign),
    "lines": lambda sign: table_drawing(over_time(FEW), sign),
    "radar": lambda sign: table_drawing(around(), sign),
    "funnel": lambda sign: table_drawing(funnel(), sign),
    "ratings": lambda sign: draw_board(sign, FEW),
}
STARTS = {FigureFormat.SVG: b"<?xml", FigureFormat.PDF: b"%PDF", FigureFormat.PNG: b"\x89PNG"}
full = pytest.mark.full
every_drawing = pytest.mark.parametrize("draw", DRAWINGS.values(), ids=DRAWINGS.keys())


def svg_of(drawing):
    return rendered(drawing, FigureFormat.SVG)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        # every picture in one form, and one picture in every form; the others at full size
        pytest.param(name, form, marks=() if form is FigureFormat.SVG or name == "radar" else full)
        for name in DRAWINGS
        for form in FigureFormat
    ],
)
def test_every_picture_is_the_same_bytes_each_time(name, form):
    once, again = (rendered(DRAWINGS[name](make_sign()), form) for _ in range(2))

    assert once.startswith(STARTS[form])
    assert once == again


@every_drawing
def test_a_picture_says_where_it_comes_from_and_whether_data_are_simulated(draw):
    real = text_of(svg_of(draw(make_sign())))
    simulated = text_of(svg_of(draw(make_sign(is_simulated=True, is_exploratory=True))))

    assert "HEART, spring · fit fit-3f9a2c · as of 2026-05-01 12:00 UTC" in real
    assert "imulated" not in real
    # in the corner, across it and below
    assert " SIMULATED " in simulated
    assert simulated.endswith(" simulated")
    assert "simulated data · exploratory ·" in simulated


@pytest.mark.parametrize("make_table", [heat_map, intervals, speeds, over_time, None])
def test_every_row_is_named_in_the_text_of_the_svg(make_table):
    sign = make_sign()
    drawing = table_drawing(make_table(), sign) if make_table else draw_board(sign)

    shown = text_of(svg_of(drawing))

    assert [name for name in NAMES if name not in shown] == []


def test_a_png_has_300_dots_an_inch():
    drawing = table_drawing(heat_map(FEW), make_sign())
    with Image.open(io.BytesIO(rendered(drawing, FigureFormat.PNG))) as image:
        assert image.width == pytest.approx(drawing.width / 72 * 300, abs=1)
        assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)


def test_fonts_are_embedded_in_pdf_as_journals_take_them():
    content = rendered(table_drawing(heat_map(FEW), make_sign()), FigureFormat.PDF)

    assert b"/FontFile2" in content
    assert b"/Type3" not in content


def test_signs_of_other_languages_of_files_are_only_text():
    names = ("A & B <script>", "costs $5 to $9", "line\x0bfeed\x00")
    svg = svg_of(table_drawing(intervals(names), make_sign()))

    shown = text_of(svg)
    for said in ("A & B <script>", "costs $5 to $9", "line feed"):
        assert said in shown
    assert b"<script" not in svg


def test_settings_of_matplotlib_stay_as_they_were():
    mpl = import_module("matplotlib")  # collecting the tests does not load it
    before = dict(mpl.rcParams)

    svg_of(table_drawing(heat_map(FEW), make_sign()))

    assert dict(mpl.rcParams) == before


def test_a_figure_that_waits_for_others_too_long_is_not_begun(monkeypatch):
    class Taken:
        def acquire(self, timeout):
            return False

    monkeypatch.setattr(rendering, "_ONE_AT_A_TIME", Taken())

    with pytest.raises(FiguresBusyError):
        table_drawing(heat_map(FEW), make_sign())
