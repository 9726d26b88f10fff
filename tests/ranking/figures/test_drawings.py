"""What is drawn where: nothing on top of each other, nothing off the page, nothing made up."""

from dataclasses import replace
from itertools import combinations

import pytest

from ranking.figures import FigureRefusedError, board_drawing, has_figure, table_drawing
from ranking.figures.colours import BLUE, BROWN, LINES, PAPER, Shades
from ranking.figures.labels import meets
from ranking.figures.marks import Block, Spot, Stroke
from ranking.findings import Column, ColumnKind, Findings, Picture
from tests.ranking.figures.drawn import (
    NAMES,
    SYSTEM,
    around,
    boxes_of,
    calibration,
    funnel,
    heat_map,
    intervals,
    make_board,
    make_sign,
    make_table,
    over_time,
    speeds,
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


def texts(drawing):
    return [words.text for words in words_of(drawing)]


def spots(drawing):
    return [mark for mark in drawing.marks if isinstance(mark, Spot)]


@pytest.mark.parametrize(
    "drawing",
    [
        *(
            pytest.param(lambda table=table: table_drawing(table, make_sign()), id=name)
            for name, table in TABLES.items()
        ),
        pytest.param(lambda: board_drawing(make_board(), make_sign()), id="ratings"),
    ],
)
def test_no_words_meet_and_none_leave_the_page(drawing):
    drawn = drawing()
    boxes = boxes_of(drawn)

    met = [(a.text, b.text) for a, b in combinations(boxes, 2) if meets(boxes[a], boxes[b])]
    assert met == []
    page = (0.0, 0.0, drawn.width, drawn.height)
    for words, (left, top, right, bottom) in boxes.items():
        assert left >= page[0] and top >= page[1], words  # noqa: PT018
        assert right <= page[2] and bottom <= page[3], words  # noqa: PT018


def test_words_are_large_enough_for_print_and_figures_fill_a_column():
    drawn = table_drawing(heat_map(NAMES[:2]), make_sign())

    assert min(words.size for words in words_of(drawn)) >= 5.5
    assert drawn.width >= 252.0


class TestHeatMap:
    def test_is_plain_in_the_middle_and_has_a_colour_on_either_side(self):
        shades = Shades.of([0.0, 0.2, 1.0], ColumnKind.SHARE)

        assert [shades.colour(x) for x in (0.0, 0.5, 1.0)] == [BROWN, PAPER, BLUE]

    def test_runs_from_light_to_dark_where_all_are_on_one_side(self):
        shades = Shades.of([0.1, 0.3], ColumnKind.SHARE)

        assert shades.middle is None
        assert shades.colour(0.3) == BLUE

    def test_writes_minus_as_minus_and_nothing_as_a_dash(self):
        cells = [Column("a", "A"), Column("b", "B")]
        table = make_table(Picture.HEAT, [SYSTEM, *cells], [("Ash", -1.5, None)])

        shown = texts(table_drawing(table, make_sign()))
        assert {"\N{MINUS SIGN}1.50", "\N{EN DASH}"} <= set(shown)

    def test_leaves_out_columns_of_another_kind(self):
        cells = [Column("a", "A", ColumnKind.SHARE), Column("n", "N", ColumnKind.COUNT)]
        table = make_table(Picture.HEAT, [SYSTEM, *cells], [("Ash", 0.25, 77)])

        shown = texts(table_drawing(table, make_sign()))
        assert "25" in shown
        assert "77" not in shown

    def test_of_one_value_alone_has_no_key_of_colours(self):
        drawn = table_drawing(heat_map(("Ash", "Beech"), value=lambda i, j: 0.5), make_sign())

        assert len([mark for mark in drawn.marks if isinstance(mark, Block)]) == 4


class TestIntervals:
    def test_gives_the_figures_beside_them(self):
        shown = texts(table_drawing(intervals(("Ash",), middle=lambda i: -10.0), make_sign()))

        assert "\N{MINUS SIGN}10  [\N{MINUS SIGN}40, 20]" in shown

    def test_stand_around_no_difference(self):
        drawn = table_drawing(intervals(), make_sign())

        dashed = [mark for mark in drawn.marks if isinstance(mark, Stroke) and mark.dashes]
        assert len(dashed) == 1

    def test_has_no_dot_where_nothing_is_known(self):
        table = intervals(NAMES[:3])
        table = replace(table, rows=(*table.rows[:2], ("Ash", None, None, None)))

        drawn = table_drawing(table, make_sign())
        assert len(spots(drawn)) == 2
        assert "Ash" in texts(drawn)


class TestPoints:
    def test_stand_at_equal_steps_of_a_factor_on_a_logarithmic_axis(self):
        rows = [(name, x, 1500.0 + x / 100) for name, x in (("a", 10), ("b", 100), ("c", 1000))]
        columns = [SYSTEM, Column("x", "X", is_logarithmic=True), Column("y", "Y")]

        a, b, c = spots(table_drawing(make_table(Picture.POINTS, columns, rows), make_sign()))
        assert b.x - a.x == pytest.approx(c.x - b.x, abs=0.2)

    def test_has_a_line_at_the_mark_even_beyond_the_points(self):
        table = speeds(("Ash", "Beech"))

        assert "500" in texts(table_drawing(table, make_sign()))

    def test_times_of_nought_have_a_straight_axis(self):
        columns = [SYSTEM, Column("x", "X", is_logarithmic=True), Column("y", "Y")]
        rows = [("a", 0.0, 1.0), ("b", 5.0, 2.0), ("c", 10.0, 3.0)]

        a, b, c = spots(table_drawing(make_table(Picture.POINTS, columns, rows), make_sign()))
        assert b.x - a.x == pytest.approx(c.x - b.x, abs=0.2)

    def test_are_held_against_the_diagonal_where_both_axes_tell_of_the_same(self):
        drawn = table_drawing(calibration(), make_sign())

        (diagonal,) = (mark for mark in drawn.marks if isinstance(mark, Stroke) and mark.dashes)
        (x0, y0), (x1, y1) = diagonal.points
        assert x0 < x1
        assert y0 > y1

    def test_go_without_names_where_they_are_very_many(self):
        names = [f"System {n}" for n in range(200)]

        assert "System 7" not in texts(table_drawing(speeds(names), make_sign()))


class TestLines:
    def test_are_broken_where_a_value_is_missing(self):
        rows = [(1, 5.0), (2, 6.0), (3, None), (4, 7.0), (5, 8.0)]
        table = make_table(Picture.LINES, [Column("x", "X"), Column("a", "Ash")], rows)

        lines = [m for m in table_drawing(table, make_sign()).marks if isinstance(m, Stroke)]
        assert len([line for line in lines if line.weight == 1.1]) == 2


class TestRatings:
    def test_stand_in_their_tiers_with_people_below(self):
        shown = texts(board_drawing(make_board(NAMES[:8]), make_sign()))

        order = ["Tier 1", "Tier 2", "Made from people's texts", "Average person"]
        assert [text for text in shown if text in order] == order

    def test_marks_what_is_no_system(self):
        drawn = board_drawing(make_board(NAMES[:3]), make_sign())

        assert [spot.is_hollow for spot in spots(drawn)].count(True) == 1

    def test_without_systems_are_refused(self):
        with pytest.raises(FigureRefusedError, match="no ratings"):
            board_drawing(make_board(()), make_sign())


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
        ],
        ids=["none", "no cells", "no rows", "nothing known", "no ends", "one axis", "no lines"],
    )
    def test_what_cannot_be_drawn_is_refused(self, table):
        assert not has_figure(table)
        with pytest.raises(FigureRefusedError, match="nothing in this table"):
            table_drawing(table, make_sign())

    @pytest.mark.parametrize("table", [heat_map(["A"] * 61), speeds(["A"] * 1001)])
    def test_what_nobody_could_read_is_refused_with_its_size(self, table):
        with pytest.raises(FigureRefusedError, match=rf"has {len(table.rows)} rows"):
            table_drawing(table, make_sign())

    def test_too_many_columns_are_refused(self):
        columns = [Column(f"c{n}", "C") for n in range(41)]
        table = make_table(Picture.HEAT, [SYSTEM, *columns], [("Ash", *range(41))])

        with pytest.raises(FigureRefusedError, match="42 columns"):
            table_drawing(table, make_sign())


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
    def lines(self, drawn):
        return [m for m in drawn.marks if isinstance(m, Stroke) and m.colour in LINES]

    def test_has_a_closed_line_for_each_system_and_a_sample_beside_its_name(self):
        drawn = table_drawing(around(("Ash", "Beech")), make_sign())

        outlines, samples = self.lines(drawn)[:2], self.lines(drawn)[2:]
        assert [one.points[0] == one.points[-1] for one in outlines] == [True, True]
        assert [one.dashes for one in samples] == [one.dashes for one in outlines]
        assert len({one.dashes for one in outlines}) == 2
        assert {"Ash", "Beech"} <= set(texts(drawn))

    def test_gives_four_systems_four_kinds_of_line(self):
        drawn = table_drawing(around(NAMES[:4]), make_sign())

        assert len({one.dashes for one in self.lines(drawn)}) == 4

    def test_of_more_than_can_be_told_apart_draws_the_first(self):
        shown = texts(table_drawing(around(("Ash", "Beech", "Cedar", "Oak", "Elm")), make_sign()))

        assert {"Ash", "Beech", "Cedar"} <= set(shown)
        assert not {"Oak", "Elm"} & set(shown)

    def test_leaves_a_gap_where_a_value_is_missing(self):
        table = around(("Ash",))
        row = table.rows[0]
        drawn = table_drawing(replace(table, rows=((row[0], None, *row[2:]),)), make_sign())

        outline = self.lines(drawn)[:-1]
        assert [len(one.points) for one in outline] == [2, 2]

    def test_of_two_axes_is_refused(self):
        assert not has_figure(around(("Ash",), ("Empathy", "Attunement")))


class TestFunnel:
    def test_names_only_what_is_beyond_the_limits(self):
        shown = texts(table_drawing(funnel(("Ash", "Beech", "Cedar"), outside=1), make_sign()))

        assert "Ash" in shown
        assert not {"Beech", "Cedar"} & set(shown)

    def test_draws_dots_beyond_the_limits_hollow(self):
        drawn = table_drawing(funnel(("Ash", "Beech", "Cedar"), outside=1), make_sign())

        assert [spot.is_hollow for spot in spots(drawn)] == [True, False, False]

    def test_draws_a_centre_and_two_limits_on_each_side(self):
        drawn = table_drawing(funnel(), make_sign())

        curves = [m for m in drawn.marks if isinstance(m, Stroke) and len(m.points) > 20]
        assert [one.dashes for one in curves] == [(), *[(4.0, 2.0)] * 2, *[(1.0, 1.5)] * 2]

    def test_of_one_dot_is_refused(self):
        assert not has_figure(funnel(("Ash",)))
        assert has_figure(funnel(("Ash", "Beech")))
