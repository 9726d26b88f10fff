"""Where intervals, dots, lines and the limits of funnels are drawn."""

from itertools import combinations, pairwise
from math import sqrt
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.findings import Column
from ranking.plots.planes import (
    HEIGHT,
    LABEL_HEIGHT,
    LEFT,
    LONGEST_LABEL,
    MOST_LABELS,
    WIDTH,
    Limit,
    Point,
    Series,
    funnel,
    is_outside,
    known_limits,
    lines,
    meets,
    scatter,
    shortened,
)
from ranking.plots.scales import MARGIN, Interval, LogScale, Scale, round_step, whiskers
from ranking.plots.scales import WIDTH as WHISKER_WIDTH

NUMBERS = st.floats(-1e5, 1e5, allow_nan=False)
AXES: dict[str, Any] = {"x": Column("x", "Judgments"), "y": Column("y", "Share")}


class TestScale:
    def test_places_its_ends_at_the_ends_of_the_picture_and_one_value_in_the_middle(self):
        scale = Scale.over([2.0, 6.0, 4.0], start=0, end=100)

        assert [scale.place(value) for value in (2.0, 4.0, 6.0)] == [0.0, 50.0, 100.0]
        assert Scale.over([7.0], start=0, end=100).place(7.0) == 50.0

    @pytest.mark.parametrize(
        ("values", "texts"),
        [
            ([1387.0, 1611.0], ["1400", "1500", "1600"]),
            ([-0.1, 0.1], ["\N{MINUS SIGN}0.1", "\N{MINUS SIGN}0.05", "0", "0.05"]),
        ],
        ids=["points", "with a true minus"],
    )
    def test_names_round_values(self, values, texts):
        ticks = Scale.over(values, start=0, end=100).ticks(at_most=4)

        assert [tick.text for tick in ticks] == texts

    def test_without_values_still_has_ticks(self):
        assert Scale.over([], start=0, end=100).ticks(at_most=2)

    @settings(max_examples=50)
    @given(values=st.lists(NUMBERS, min_size=1, max_size=5), n=st.integers(2, 8))
    def test_keeps_every_tick_on_the_axis(self, values, n):
        ticks = Scale.over(values, start=10, end=90).ticks(at_most=n)

        assert len(ticks) <= n
        assert all(9.9 <= tick.at <= 90.1 for tick in ticks)

    @pytest.mark.parametrize(
        ("least", "step"), [(1.0, 1.0), (1.1, 2.0), (2.1, 2.5), (30.0, 50.0), (0.06, 0.1)]
    )
    def test_steps_are_round(self, least, step):
        assert round_step(least) == pytest.approx(step)


class TestLogScale:
    def test_gives_equal_factors_equal_room(self):
        scale = LogScale.over([10.0, 1000.0], start=0, end=100)

        assert [scale.place(value) for value in (10.0, 100.0, 1000.0)] == [0.0, 50.0, 100.0]

    @pytest.mark.parametrize(
        ("ends", "texts"),
        [
            ((120.0, 2400.0), ["200", "500", "1000", "2000"]),
            ((90.0, 15000.0), ["100", "300", "1000", "3000", "10000"]),
            ((1.0, 1e8), ["1", "10", "100", "1000", "10000", "100000"]),
        ],
        ids=["few", "threes", "powers"],
    )
    def test_names_round_values(self, ends, texts):
        ticks = LogScale.over(ends, start=0, end=100).ticks(at_most=6)

        assert [tick.text for tick in ticks] == texts


class TestWhiskers:
    def test_lie_within_the_picture_on_one_scale(self):
        both = [Interval(1400.0, 1450.0, 1500.0), Interval(1500.0, 1550.0, 1600.0)]

        (low, high), _ = whiskers(both, centre=1500.0)

        assert (low.low, high.high) == (MARGIN, WHISKER_WIDTH - MARGIN)
        assert low.high == high.low == low.centre == high.centre == WHISKER_WIDTH / 2

    def test_make_room_for_the_interval_that_holds_for_all(self):
        (only,), _ = whiskers([Interval(1490, 1500, 1510, 1480, 1520)], centre=1500.0)

        assert (only.joint_low, only.joint_high) == (MARGIN, WHISKER_WIDTH - MARGIN)
        assert only.joint_low < only.low < only.middle < only.high < only.joint_high

    def test_a_single_point_is_drawn_without_dividing_by_nothing(self):
        (only,), _ = whiskers([Interval(1500.0, 1500.0, 1500.0)], centre=1500.0)

        assert only.low == only.middle == only.high == only.centre

    def test_leave_out_a_centre_off_the_scale_and_what_is_not_known(self):
        (unknown, known), _ = whiskers([None, Interval(20.0, 30.0, 40.0)], centre=0.0)

        assert unknown is None
        assert known.centre is None
        assert whiskers([], centre=0.0) == ((), ())


def boxes_of(plot):
    """Return about where the labels of dots are."""
    for dot in plot.dots:
        if dot.label:
            wide = 6.9 * len(dot.label.text)
            left = dot.label.x - (wide if dot.label.anchor == "end" else 0)
            yield (left, dot.label.y - 12, left + wide, dot.label.y + 4)


class TestScatter:
    def test_places_the_larger_higher_and_to_the_right(self):
        plot = scatter([Point("a", 1, 10), Point("", 2, 20)], **AXES)

        low, high = plot.dots
        assert plot.diagonal is None  # nobody asked
        assert high.label is None  # as it has no name
        assert low.x < high.x
        assert low.y > high.y

    def test_has_one_scale_where_the_diagonal_means_something(self):
        plot = scatter([Point("a", 0, 0.5)], **AXES, has_diagonal=True)

        (dot,) = plot.dots
        assert [tick.value for tick in plot.x_ticks] == [tick.value for tick in plot.y_ticks]
        assert (dot.x, dot.y) == (plot.diagonal[0], plot.diagonal[3])

    def test_a_logarithmic_axis_has_room_for_its_line(self):
        times = Column("ms", "ms", is_logarithmic=True, mark=500.0)

        plot = scatter([Point("a", 1000, 1), Point("b", 4000, 2)], **AXES | {"x": times})

        (mark,) = plot.marks
        low, high = plot.dots
        assert mark < low.x < high.x
        assert low.x - mark == pytest.approx((high.x - low.x) / 2, abs=0.2)

    def test_an_axis_with_nought_on_it_is_straight(self):
        times = Column("ms", "ms", is_logarithmic=True)
        points = [Point("a", 0, 1), Point("b", 50, 2), Point("c", 100, 2)]

        plot = scatter(points, **AXES | {"x": times})

        first, middle, last = (dot.x for dot in plot.dots)
        assert middle - first == pytest.approx(last - middle, abs=0.2)

    @settings(max_examples=25)
    @given(places=st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=12))
    def test_labels_never_meet_and_stay_in_the_picture(self, places):
        points = [Point(f"System {n}", *at) for n, at in enumerate(places)]

        plot = scatter(points, **AXES)

        boxes = list(boxes_of(plot))
        assert not any(meets(one, other) for one, other in combinations(boxes, 2))
        assert all(left >= LEFT and right <= WIDTH for left, _, right, _ in boxes)
        assert all(0 <= dot.x <= WIDTH and 0 <= dot.y <= HEIGHT for dot in plot.dots)

    def test_labels_nothing_where_there_is_no_room_for_so_many(self):
        points = [Point(f"p{n}", n, n) for n in range(MOST_LABELS + 1)]

        assert not list(boxes_of(scatter(points, **AXES)))

    def test_cuts_long_names(self):
        assert len(shortened("x" * 100)) == LONGEST_LABEL
        assert shortened("short") == "short"


class TestLines:
    def test_break_where_nothing_is_known(self):
        series = [Series("Ash", (1.0, None, 3.0, 4.0)), Series("Beech", (None,) * 4)]

        (line,) = lines([0, 1, 2, 3], series, x_label="n", y_label="").lines

        assert [len(run.split()) for run in line.runs] == [1, 2]

    def test_name_themselves_at_their_ends_without_meeting(self):
        series = [Series(f"System {n}", (1500.0, 1500.0 + n / 10)) for n in range(30)]

        plot = lines([0, 1], series, x_label="n", y_label="")

        heights = sorted(line.end.label.y for line in plot.lines if line.end.label)
        assert len(heights) == 30
        assert all(b - a >= LABEL_HEIGHT - 0.2 for a, b in pairwise(heights))
        assert plot.top <= heights[0] <= heights[-1] <= plot.height

    def test_differ_by_colour_or_by_dashes(self):
        series = [Series(f"System {n}", (1.0, float(n))) for n in range(18)]

        drawn = lines([0, 1], series, x_label="n", y_label="").lines

        assert len({(line.colour, line.dash) for line in drawn}) == 18


def limits(x, centre=0.5, reach=1.0):
    half = reach / sqrt(x)
    outer = {"outer_low": centre - 2 * half, "outer_high": centre + 2 * half}
    return {"centre": centre, "low": centre - half, "high": centre + half} | outer


def spot(name, x, y):
    return Point(name, float(x), y, limits(x))


class TestLimit:
    def test_of_errors_of_means_is_exact_between_the_dots(self):
        limit = Limit.of({x: 0.5 + 2.0 / sqrt(x) for x in (4.0, 25.0, 400.0)})

        for x in (4.0, 5.0, 10.0, 24.9, 100.0, 400.0):
            assert limit.at(x) == pytest.approx(0.5 + 2.0 / sqrt(x))

    def test_is_what_it_is_at_the_dots_and_level_beyond_them(self):
        limit = Limit.of({4.0: 1.0, 9.0: 3.0})

        assert [limit.at(x) for x in (1.0, 4.0, 9.0, 50.0)] == [1.0, 1.0, 3.0, 3.0]

    def test_is_drawn_by_points_that_rise_along_the_axis(self):
        points = Limit.of({2.0: 1.0, 7.0: 0.5, 100.0: 0.1}).curve()

        assert points[0] == (2.0, 1.0)
        assert points[-1] == pytest.approx((100.0, 0.1))
        assert all(one[0] < other[0] for one, other in pairwise(points))
        assert all(one[1] > other[1] for one, other in pairwise(points))

    def test_is_not_known_from_one_place_alone(self):
        assert known_limits([5.0, 5.0, 0.0], [1.0, 1.0, 9.0]) is None
        assert known_limits([5.0, 6.0], [1.0, None]) is None

    @pytest.mark.parametrize(
        ("value", "outside"), [(0.1, True), (0.2, False), (0.5, False), (0.8, False), (0.9, True)]
    )
    def test_tells_what_is_beyond_it(self, value, outside):
        assert is_outside(value, 0.2, 0.8) is outside
        assert not is_outside(value, None, None)


class TestFunnel:
    SPOTS = (spot("Ash", 4, 0.6), spot("Beech", 16, 0.9), spot("Cedar", 64, 0.5))

    def test_marks_and_names_dots_beyond_the_limits_alone(self):
        plot = funnel(self.SPOTS, **AXES)

        assert [dot.is_outside for dot in plot.dots] == [False, True, False]
        assert [dot.label.text if dot.label else "" for dot in plot.dots] == ["", "Beech", ""]

    def test_draws_a_centre_and_the_limits_that_are_known_on_both_sides(self):
        inner = [
            Point(one.name, one.x, one.y, {key: one.limits[key] for key in ("low", "high")})
            for one in self.SPOTS
        ]

        looks = [
            sorted(look for _, look in funnel(spots, **AXES).curves)
            for spots in (self.SPOTS, inner)
        ]

        assert looks == [["centre", "inner", "inner", "outer", "outer"], ["inner", "inner"]]

    def test_keeps_everything_inside_its_frame(self):
        plot = funnel(self.SPOTS, **AXES)

        places = [(dot.x, dot.y) for dot in plot.dots]
        for drawn, _ in plot.curves:
            pairs = (one.split(",") for one in drawn.split())
            places += [(float(x), float(y)) for x, y in pairs]
        assert all(plot.left <= x <= plot.right and plot.top <= y <= plot.bottom for x, y in places)

    def test_puts_dots_and_limits_on_one_scale(self):
        on_limit = Point("On", 16.0, limits(16)["high"], limits(16))
        plot = funnel([*self.SPOTS, on_limit], **AXES)

        curves = " ".join(drawn for drawn, look in plot.curves if look == "inner")
        dot = plot.dots[-1]
        assert f"{dot.x},{dot.y}" in curves.split()
        assert not dot.is_outside
