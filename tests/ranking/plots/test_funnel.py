"""Where the dots and the limits of a funnel stand."""

from itertools import pairwise
from math import sqrt

import pytest

from ranking.plots.funnel import FunnelSpot, Limit, funnel, is_outside, known_limits
from ranking.plots.planes import Axis

X, Y = Axis("Judgments"), Axis("Share")


def limits(x, centre=0.5, reach=1.0):
    half = reach / sqrt(x)
    outer = {"outer_low": centre - 2 * half, "outer_high": centre + 2 * half}
    return {"centre": centre, "low": centre - half, "high": centre + half} | outer


def spot(name, x, y):
    return FunnelSpot(name, float(x), y, limits(x))


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
        plot = funnel(self.SPOTS, x=X, y=Y)

        assert [dot.is_outside for dot in plot.dots] == [False, True, False]
        assert [dot.label.text if dot.label else "" for dot in plot.dots] == ["", "Beech", ""]

    def test_draws_a_centre_and_limits_on_both_sides(self):
        looks = [curve.look for curve in funnel(self.SPOTS, x=X, y=Y).curves]

        assert sorted(looks) == ["centre", "inner", "inner", "outer", "outer"]

    def test_does_without_outer_limits(self):
        inner = [
            FunnelSpot(s.name, s.x, s.y, {k: s.limits[k] for k in ("low", "high")})
            for s in self.SPOTS
        ]

        assert [curve.look for curve in funnel(inner, x=X, y=Y).curves] == ["inner", "inner"]

    def test_keeps_everything_inside_its_frame(self):
        plot = funnel(self.SPOTS, x=X, y=Y)

        places = [(dot.x, dot.y) for dot in plot.dots]
        for curve in plot.curves:
            pairs = (one.split(",") for one in curve.points.split())
            places += [(float(x), float(y)) for x, y in pairs]
        assert all(plot.left <= x <= plot.right and plot.top <= y <= plot.bottom for x, y in places)

    def test_puts_dots_and_limits_on_one_scale(self):
        on_limit = FunnelSpot("On", 16.0, limits(16)["high"], limits(16))
        plot = funnel([*self.SPOTS, on_limit], x=X, y=Y)

        points = {
            point
            for curve in plot.curves
            if curve.look == "inner"
            for point in curve.points.split()
        }
        dot = plot.dots[-1]
        assert f"{dot.x},{dot.y}" in points
        assert not dot.is_outside
