"""The two curves of a rewrite's hostility."""

import pytest

from completions.contexts.adversarial.display import HEIGHT, WIDTH, curve


class TestCurve:
    def test_runs_from_the_left_to_the_right_and_upwards(self):
        points = curve([0, 5, 10], []).target

        assert [(point.x, point.y) for point in points] == [
            (0, HEIGHT),
            (WIDTH / 2, HEIGHT / 2),
            (WIDTH, 0),
        ]

    def test_places_both_on_the_same_turns(self):
        both = curve([1, 1, 10, 10], [2, 1, 9, 10])

        assert [point.x for point in both.target] == [point.x for point in both.measured]

    @pytest.mark.parametrize("values", [[], [7]])
    def test_draws_what_there_is(self, values):
        assert [point.value for point in curve(values, values).target] == values

    def test_is_a_table_too(self):
        assert curve([1, 10], [2]).rows == [(1, 1, 2), (2, 10, None)]

    def test_gives_svg_its_points(self):
        assert curve([10, 0], []).target_line == f"0.0,0.0 {WIDTH}.0,{HEIGHT}.0"
