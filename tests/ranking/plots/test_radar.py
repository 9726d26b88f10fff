"""Where the lines, the axes and the words of a radar stand."""

import math

import pytest

from ranking.findings import Cell, Column, ColumnKind, Picture, Table
from ranking.plots.radar import (
    BY_DEFAULT,
    MOST,
    RADIUS,
    WIDTH,
    ChosenRows,
    Outline,
    UnknownRowError,
    axes_of,
    radar,
)

AXES = ("Human Alignment", "Empathic Responsiveness", "Attunement", "Resonance", "Task-Following")
EVEN = Outline("Even", (1500.0,) * 5)
UNEVEN = Outline("Uneven", (1550.0, 1500.0, 1450.0, 1525.0, 1475.0))


def drawn(*outlines, axes=AXES, **fields):
    return radar(axes, outlines, **{"least": 5.0, "mark": 1500.0} | fields)


def reaches(picture, shape=0):
    return [math.dist(dot, (picture.x, picture.y)) for dot in picture.shapes[shape].dots]


def corners(path):
    return [tuple(map(float, one.split(","))) for one in path.split()]


class TestRadar:
    def test_draws_equal_values_equally_far_out(self):
        far = reaches(drawn(EVEN, UNEVEN))

        assert far == pytest.approx([far[0]] * 5, abs=0.1)

    def test_draws_more_points_farther_out_in_proportion(self):
        far = reaches(drawn(UNEVEN))
        middle = far[1]

        gained = [one - middle for one in far]
        assert gained[0] == pytest.approx(-gained[2], abs=0.2)
        assert gained[3] == pytest.approx(gained[0] / 2, abs=0.2)

    def test_closes_each_line_and_keeps_inside_the_last_ring(self):
        picture = drawn(EVEN, UNEVEN)

        for shape in picture.shapes:
            (line,) = shape.lines
            places = corners(line)
            assert places[0] == places[-1]
            assert len(places) == len(AXES) + 1
        assert max(reaches(picture, 1)) <= RADIUS + 0.1

    def test_leaves_a_gap_where_a_value_is_missing(self):
        gap = Outline("Gap", (1500.0, None, 1500.0, 1500.0, 1500.0))

        (shape,) = drawn(gap).shapes

        assert len(shape.dots) == 4
        assert len(shape.lines) == 3
        assert all(len(corners(line)) == 2 for line in shape.lines)

    def test_of_no_value_at_all_has_axes_and_no_lines(self):
        (shape,) = drawn(Outline("Nothing", (None,) * 5)).shapes

        assert (shape.lines, shape.dots) == ((), ())

    def test_marks_the_mean_where_it_is_on_the_scale(self):
        picture = drawn(EVEN)
        assert picture.mark is not None
        assert corners(picture.mark.corners) == list(picture.shapes[0].dots)

        far_off = drawn(Outline("Off", (2500.0, 2510.0, 2520.0, 2530.0, 2540.0)))
        assert far_off.mark is None

    @pytest.mark.parametrize("n", [3, 4, 5, 6, 9])
    def test_keeps_all_words_inside_the_picture(self, n):
        axes = tuple(f"Unreasonably long dimension of care {place}" for place in range(n))
        picture = drawn(Outline("One", (1500.0,) * n), axes=axes)

        for spoke in picture.spokes:
            for words in spoke.words:
                wide = 6.0 * len(words.text)
                left = {"start": 0.0, "middle": wide / 2, "end": wide}[words.anchor]
                assert words.x - left >= 0.0
                assert words.x - left + wide <= WIDTH
                assert 8.0 <= words.y <= picture.height

    def test_breaks_names_of_axes_into_two_lines_at_most(self):
        picture = drawn(EVEN)

        assert [one.text for one in picture.spokes[1].words] == ["Empathic", "Responsiveness"]
        assert max(len(spoke.words) for spoke in picture.spokes) == 2

    def test_gives_each_of_four_lines_a_look_of_its_own(self):
        picture = drawn(*(Outline(str(n), EVEN.values) for n in range(MOST)))

        assert len({shape.style for shape in picture.shapes}) == MOST


def table(n_rows=6, n_axes=3):
    axes = (Column(f"a{n}", f"A {n}", ColumnKind.ELO) for n in range(n_axes))
    columns = (Column("system", "System", ColumnKind.SYSTEM), *axes)
    rows: list[tuple[Cell, ...]] = [
        (f"s{row}", *(1500.0 + row for _ in range(n_axes))) for row in range(n_rows)
    ]
    return Table("radar", "Radar", "How.", columns, tuple(rows), Picture.RADAR)


class TestChosen:
    def test_are_the_first_few_where_none_is_asked_for(self):
        assert ChosenRows().rows(table()) == tuple(range(BY_DEFAULT))
        assert ChosenRows().rows(table(n_rows=1)) == (0,)

    @pytest.mark.parametrize("values", [["s4", "s1"], ["s4,s1"], [" s4 ,", "s1,s4"]])
    def test_are_read_from_boxes_and_from_lists_and_keep_the_order_of_the_table(self, values):
        assert ChosenRows.read(values).rows(table()) == (1, 4)

    def test_are_four_at_most(self):
        chosen = ChosenRows.read(["s0,s1,s2,s3,s4"])

        assert chosen.rows(table()) == (0, 1, 2, 3)
        assert chosen.are_too_many()
        assert not ChosenRows.read(["s0,s1,s2,s3"]).are_too_many()

    def test_are_refused_where_there_is_no_such_row(self):
        with pytest.raises(UnknownRowError, match="oak"):
            ChosenRows.read(["s1,oak"]).rows(table())


class TestAxes:
    def test_are_the_columns_of_the_second_ones_kind(self):
        with_count = table()
        count = Column("n", "N", ColumnKind.COUNT)
        columns = (*with_count.columns[:2], count, *with_count.columns[2:])

        found = axes_of(Table("r", "R", "How.", columns, (), Picture.RADAR))

        assert found == [1, 3, 4]

    def test_are_none_where_they_are_too_few_or_words(self):
        words = tuple(Column(str(n), "W", ColumnKind.TEXT) for n in range(5))

        assert axes_of(table(n_axes=2)) == []
        assert axes_of(Table("r", "R", "How.", words, (), Picture.RADAR)) == []
        assert axes_of(Table("r", "R", "How.", words[:1], (), Picture.RADAR)) == []
