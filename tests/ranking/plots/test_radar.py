"""Where the lines, the axes, the words and the rings of a radar stand."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.findings import Cell, Column, ColumnKind, Picture, Table
from ranking.plots.planes import Series
from ranking.plots.radar import (
    BY_DEFAULT,
    MOST,
    RADIUS,
    RINGS,
    WIDTH,
    Rings,
    UnknownRowError,
    anchor,
    are_too_many,
    axes_of,
    chosen_rows,
    corner,
    radar,
    read_names,
)

AXES = ("Human Alignment", "Empathic Responsiveness", "Attunement", "Resonance", "Task-Following")
EVEN = Series("Even", (1500.0,) * 5)
UNEVEN = Series("Uneven", (1550.0, 1500.0, 1450.0, 1525.0, 1475.0))


NUMBERS = st.floats(-1e5, 1e5, allow_nan=False)


def drawn(*outlines, axes=AXES, **fields):
    return radar(axes, outlines, **{"least": 5.0, "mark": 1500.0} | fields)


def reaches(picture, shape=0):
    return [math.dist(dot, (picture.x, picture.y)) for dot in picture.shapes[shape].dots]


def corners(path):
    return [tuple(map(float, one.split(","))) for one in path.split()]


class TestRadar:
    def test_draws_equal_values_equally_far_out_and_more_points_in_proportion(self):
        even, uneven = reaches(drawn(EVEN)), reaches(drawn(UNEVEN))

        assert even == pytest.approx([even[0]] * 5, abs=0.1)
        gained = [one - uneven[1] for one in uneven]
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
        gap = Series("Gap", (1500.0, None, 1500.0, 1500.0, 1500.0))

        with_gap, nothing = drawn(gap, Series("Nothing", (None,) * 5)).shapes

        assert len(with_gap.dots) == 4
        assert [len(corners(line)) for line in with_gap.lines] == [2, 2, 2]
        assert (nothing.lines, nothing.dots) == ((), ())

    def test_marks_the_mean_where_it_is_on_the_scale(self):
        picture = drawn(EVEN)
        assert picture.mark
        assert corners(picture.mark) == list(picture.shapes[0].dots)

        far_off = drawn(Series("Off", (2500.0, 2510.0, 2520.0, 2530.0, 2540.0)))
        assert not far_off.mark

    @pytest.mark.parametrize("n", [3, 4, 5, 6, 9])
    def test_keeps_all_words_inside_the_picture(self, n):
        axes = tuple(f"Unreasonably long dimension of care {place}" for place in range(n))
        picture = drawn(Series("One", (1500.0,) * n), axes=axes)

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
        picture = drawn(*(Series(str(n), EVEN.values) for n in range(MOST)))

        assert len({shape.style for shape in picture.shapes}) == MOST


def table(n_rows=6, n_axes=3):
    axes = (Column(f"a{n}", f"A {n}", ColumnKind.ELO) for n in range(n_axes))
    columns = (Column("system", "System", ColumnKind.SYSTEM), *axes)
    rows: list[tuple[Cell, ...]] = [
        (f"s{row}", *(1500.0 + row for _ in range(n_axes))) for row in range(n_rows)
    ]
    return Table("radar", "Radar", "How.", columns, tuple(rows), Picture.RADAR)


class TestChosen:
    @pytest.mark.parametrize(
        ("asked", "n_rows", "rows"),
        [
            ([], 6, tuple(range(BY_DEFAULT))),
            ([], 1, (0,)),
            (["s4", "s1"], 6, (1, 4)),
            (["s4,s1"], 6, (1, 4)),
            ([" s4 ,", "s1,s4"], 6, (1, 4)),
            (["s0,s1,s2,s3,s4"], 6, (0, 1, 2, 3)),
        ],
        ids=["the first few", "the only one", "boxes", "a list", "both", "four at most"],
    )
    def test_are_rows_in_the_order_of_the_table(self, asked, n_rows, rows):
        assert chosen_rows(table(n_rows=n_rows), read_names(asked)) == rows

    def test_say_when_they_are_too_many_or_unknown(self):
        assert are_too_many(read_names(["s0,s1,s2,s3,s4"]))
        assert not are_too_many(read_names(["s0,s1,s2,s3"]))
        with pytest.raises(UnknownRowError, match="oak"):
            chosen_rows(table(), read_names(["s1,oak"]))


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


class TestRings:
    @pytest.mark.parametrize(
        ("values", "least", "rings"),
        [
            ([1478.0, 1561.0], 5.0, (1450.0, 1500.0, 1550.0, 1600.0)),
            ([1500.0], 5.0, (1500.0, 1505.0, 1510.0, 1515.0)),
            ([0.3, 0.55], 0.05, (0.3, 0.4, 0.5, 0.6)),
        ],
        ids=["points", "one value", "shares, in spite of rounding of machines"],
    )
    def test_are_round_numbers(self, values, least, rings):
        assert Rings.around(values, least=least).values == rings

    @settings(max_examples=200)
    @given(values=st.lists(NUMBERS, min_size=1, max_size=20))
    def test_hold_all_values_and_none_in_the_middle(self, values):
        rings = Rings.around(values, least=5.0)

        reaches = [rings.reach(value) for value in values]
        assert min(reaches) >= 1.0 / RINGS - 1e-6
        assert max(reaches) <= 1.0 + 1e-6

    def test_reach_grows_with_the_value_in_proportion(self):
        rings = Rings(1400.0, 50.0)

        assert [rings.reach(one) for one in (1400.0, 1500.0, 1600.0)] == [0.0, 0.5, 1.0]


class TestCorner:
    def test_begins_upwards_and_goes_clockwise(self):
        places = [corner(place, 4, 2.0) for place in range(4)]

        assert places == [
            pytest.approx(one, abs=1e-12) for one in ((0, -2), (2, 0), (0, 2), (-2, 0))
        ]

    def test_words_stand_away_from_the_middle(self):
        anchors = [anchor(corner(place, 4, 1.0)[0]) for place in range(4)]

        assert anchors == ["middle", "start", "middle", "end"]
