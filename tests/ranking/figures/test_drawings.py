"""What is drawn where: nothing on top of each other, nothing off the page, nothing made up."""

from dataclasses import replace
from itertools import combinations

import pytest

from ranking.figures import FigureRefusedError, has_figure, table_drawing
from ranking.figures.heat import PAPER, colour
from ranking.figures.marks import BLUE, BROWN, LINES, Block, Spot, Stroke
from ranking.findings import Column, ColumnKind, Findings, Picture
from ranking.plots.planes import meets
from ranking.plots.tables import Shades
from tests.ranking.figures.drawn import (
    NAMES,
    SYSTEM,
    around,
    boxes_of,
    calibration,
    draw_board,
    funnel,
    heat_map,
    intervals,
    make_sign,
    make_table,
    over_time,
    speeds,
    texts,
    words_of,
)

TABLES = {
    "heat map": heat_map(),
    "negative heat map": heat_map(kind=ColumnKind.NUMBER, value=lambda i, j: (i - j) / 7),
    "heat map of few": heat_map(NAMES[:2]),
    "intervals": intervals(),
    "intervals of shares": intervals(NAMES[:3], ColumnKind.SHARE, lambda i: i / 9, 0.1),
    "times": speeds(),
    "few times": speeds(("Ash", "Beech", "Cedar")),
    "calibration": calibration(),
    "lines": over_time(),
    "radar": around(),
    "radar of many axes": around(NAMES[:4], tuple(f"A dimension of care {n}" for n in range(9))),
    "radar of three axes": around(("Ash",), ("Empathy", "Attunement", "Care")),
    "funnel": funnel(),
    "funnel with all outside": funnel(outside=len(NAMES)),
}


def drawn(table):
    return table_drawing(table, make_sign())


def spots(drawing):
    return [mark for mark in drawing.marks if isinstance(mark, Spot)]


def strokes(drawing):
    return [mark for mark in drawing.marks if isinstance(mark, Stroke)]


@pytest.mark.parametrize("name", [*TABLES, "ratings"])
def test_no_words_meet_and_none_leave_the_page(name):
    drawing = draw_board(make_sign()) if name == "ratings" else drawn(TABLES[name])
    boxes = boxes_of(drawing)

    met = [(a.text, b.text) for a, b in combinations(boxes, 2) if meets(boxes[a], boxes[b])]
    assert met == []
    for words, (left, top, right, bottom) in boxes.items():
        assert 0.0 <= left <= right <= drawing.width, words
        assert 0.0 <= top <= bottom <= drawing.height, words


def test_words_are_large_enough_for_print_and_figures_fill_a_column():
    drawing = drawn(heat_map(NAMES[:2]))

    assert min(words.size for words in words_of(drawing)) >= 5.5
    assert drawing.width >= 252.0


class TestHeatMap:
    def test_is_plain_in_the_middle_and_has_a_colour_on_either_side(self):
        shades = Shades.of([0.0, 0.2, 1.0], ColumnKind.SHARE)

        assert [colour(shades, x) for x in (0.0, 0.5, 1.0)] == [BROWN, PAPER, BLUE]

    def test_runs_from_light_to_dark_where_all_are_on_one_side(self):
        shades = Shades.of([0.1, 0.3], ColumnKind.SHARE)

        assert shades.middle is None
        assert colour(shades, 0.3) == BLUE

    def test_writes_minus_as_minus_and_nothing_as_a_dash(self):
        cells = [Column("a", "A"), Column("b", "B")]

        shown = texts(drawn(make_table(Picture.HEAT, [SYSTEM, *cells], [("Ash", -1.5, None)])))

        assert {"\N{MINUS SIGN}1.50", "\N{EN DASH}"} <= set(shown)

    def test_leaves_out_columns_of_another_kind(self):
        cells = [Column("a", "A", ColumnKind.SHARE), Column("n", "N", ColumnKind.COUNT)]

        shown = texts(drawn(make_table(Picture.HEAT, [SYSTEM, *cells], [("Ash", 0.25, 77)])))

        assert "25" in shown
        assert "77" not in shown

    def test_of_one_value_alone_has_no_key_of_colours(self):
        drawing = drawn(heat_map(("Ash", "Beech"), value=lambda i, j: 0.5))

        assert len([mark for mark in drawing.marks if isinstance(mark, Block)]) == 4


class TestIntervals:
    def test_have_their_figures_beside_them_and_stand_around_no_difference(self):
        drawing = drawn(intervals(("Ash",), middle=lambda i: -10.0))

        assert "\N{MINUS SIGN}10  [\N{MINUS SIGN}40, 20]" in texts(drawing)
        assert len([mark for mark in strokes(drawing) if mark.dashes]) == 1

    def test_have_no_dot_where_nothing_is_known(self):
        table = intervals(NAMES[:3])

        drawing = drawn(replace(table, rows=(*table.rows[:2], ("Ash", None, None, None))))

        assert len(spots(drawing)) == 2
        assert "Ash" in texts(drawing)


class TestPoints:
    def test_stand_at_equal_steps_on_a_logarithmic_axis_with_its_values(self):
        rows = [(name, x, 1500.0 + x / 100) for name, x in zip("abc", (10, 100, 1000), strict=True)]
        columns = [SYSTEM, Column("x", "X", is_logarithmic=True), Column("y", "Y")]

        drawing = drawn(make_table(Picture.POINTS, columns, rows))

        a, b, c = spots(drawing)
        assert b.x - a.x == pytest.approx(c.x - b.x, abs=0.2)
        assert {"10", "100", "1000"} <= set(texts(drawing))

    def test_have_a_line_at_the_mark_even_beyond_them(self):
        assert "500" in texts(drawn(speeds(("Ash", "Beech"))))

    def test_are_held_against_the_diagonal_where_both_axes_tell_of_the_same(self):
        (diagonal,) = (mark for mark in strokes(drawn(calibration())) if mark.dashes)

        (x0, y0), (x1, y1) = diagonal.points
        assert x0 < x1
        assert y0 > y1

    def test_go_without_names_where_they_are_very_many(self):
        assert "System 7" not in texts(drawn(speeds([f"System {n}" for n in range(200)])))


def test_lines_are_broken_where_a_value_is_missing():
    rows = [(1, 5.0), (2, 6.0), (3, None), (4, 7.0), (5, 8.0)]

    drawing = drawn(make_table(Picture.LINES, [Column("x", "X"), Column("a", "Ash")], rows))

    assert len([line for line in strokes(drawing) if line.weight == 1.1]) == 2


class TestRatings:
    def test_stand_in_their_tiers_with_people_below_who_are_marked_as_no_system(self):
        drawing = draw_board(make_sign(), NAMES[:8])

        order = ["Tier 1", "Tier 2", "Made from people's texts", "Average Human"]
        assert [text for text in texts(drawing) if text in order] == order
        assert [spot.is_hollow for spot in spots(drawing)].count(True) == 1

    def test_without_systems_are_refused(self):
        with pytest.raises(FigureRefusedError, match="no ratings"):
            draw_board(make_sign(), ())


class TestRefusals:
    @pytest.mark.parametrize(
        "table",
        [
            make_table(Picture.NONE, [SYSTEM], [("Ash",)]),
            make_table(Picture.HEAT, [SYSTEM], [("Ash",)]),
            make_table(Picture.HEAT, [SYSTEM, Column("a", "A")], []),
            make_table(Picture.HEAT, [SYSTEM, Column("a", "A")], [("Ash", None)]),
            make_table(Picture.WHISKERS, [SYSTEM, Column("value", "A")], [("Ash", 1.0)]),
            make_table(Picture.POINTS, [SYSTEM, Column("x", "A")], [("Ash", 1.0)]),
            make_table(Picture.LINES, [Column("x", "A")], [(1.0,)]),
            around(("Ash",), ("Empathy", "Attunement")),
            funnel(("Ash",)),
        ],
        ids=[
            *("none", "no cells", "no rows", "nothing known", "no ends", "one axis", "no lines"),
            *("two axes around", "one dot in a funnel"),
        ],
    )
    def test_what_cannot_be_drawn_is_refused(self, table):
        assert not has_figure(table)
        with pytest.raises(FigureRefusedError, match="nothing in this table"):
            drawn(table)

    @pytest.mark.parametrize(
        ("table", "size"),
        [
            (heat_map(["A"] * 61), "has 61 rows"),
            (speeds(["A"] * 1001), "has 1001 rows"),
            (heat_map(["A"] * 41), "42 columns"),
        ],
        ids=["heat map", "points", "columns"],
    )
    def test_what_nobody_could_read_is_refused_with_its_size(self, table, size):
        with pytest.raises(FigureRefusedError, match=size):
            drawn(table)


class TestStoredFindings:
    def test_keep_what_an_axis_asks_for(self):
        found = Findings("", (speeds(NAMES[:2]),))

        assert Findings.of(found.as_json()) == found

    def test_of_before_axes_could_ask_are_read(self):
        stored = Findings("", (speeds(NAMES[:2]),)).as_json()
        for column in stored["tables"][0]["columns"]:
            del column["is_logarithmic"], column["mark"]

        x = Findings.of(stored).tables[0].columns[1]
        assert (x.is_logarithmic, x.mark) == (False, None)


class TestRadar:
    def lines(self, drawing):
        return [mark for mark in strokes(drawing) if mark.colour in LINES]

    def test_has_a_closed_line_for_each_system_and_a_sample_beside_its_name(self):
        drawing = drawn(around(("Ash", "Beech")))

        outlines, samples = self.lines(drawing)[:2], self.lines(drawing)[2:]
        assert [one.points[0] == one.points[-1] for one in outlines] == [True, True]
        assert [one.dashes for one in samples] == [one.dashes for one in outlines]
        assert {"Ash", "Beech"} <= set(texts(drawing))

    def test_gives_four_systems_four_kinds_of_line(self):
        assert len({one.dashes for one in self.lines(drawn(around(NAMES[:4])))}) == 4

    def test_of_more_than_can_be_told_apart_draws_the_first(self):
        names = ("Ash", "Beech", "Cedar", "Oak", "Elm")

        shown = texts(drawn(around(names)))

        assert [name for name in names if name in shown] == ["Ash", "Beech", "Cedar"]

    def test_leaves_a_gap_where_a_value_is_missing(self):
        table = around(("Ash",))
        name, _value, *values = table.rows[0]

        outline = self.lines(drawn(replace(table, rows=((name, None, *values),))))[:-1]

        assert [len(one.points) for one in outline] == [2, 2]


class TestFunnel:
    def test_names_and_draws_hollow_only_what_is_beyond_the_limits(self):
        drawing = drawn(funnel(("Ash", "Beech", "Cedar"), outside=1))

        assert "Ash" in texts(drawing)
        assert not {"Beech", "Cedar"} & set(texts(drawing))
        assert [spot.is_hollow for spot in spots(drawing)] == [True, False, False]

    def test_draws_a_centre_and_two_limits_on_each_side(self):
        curves = [mark for mark in strokes(drawn(funnel())) if len(mark.points) > 20]

        assert [one.dashes for one in curves] == [(), *[(4.0, 2.0)] * 2, *[(1.0, 1.5)] * 2]

    def test_needs_two_dots(self):
        assert has_figure(funnel(("Ash", "Beech")))
