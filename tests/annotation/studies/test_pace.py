"""How fast judging goes, and what that leads one to expect."""

import datetime as dt

import pytest

from annotation.studies.pace import FEWEST, Pace, raters_needed, time_left


class TestPerHour:
    @pytest.mark.parametrize(
        ("pace", "rate"),
        [
            (Pace(in_hour=30, in_day=48), 30.0),
            (Pace(in_hour=FEWEST - 1, in_day=48), 2.0),
            (Pace(in_hour=0, in_day=FEWEST - 1), None),
            (Pace(), None),
        ],
        ids=["the hour", "the day where the hour has few", "too few", "none"],
    )
    def test_goes_by_the_last_hour_then_by_the_last_day(self, pace, rate):
        assert pace.per_hour == rate


class TestTimeLeft:
    @pytest.mark.parametrize(
        ("n_left", "pace", "left"),
        [
            (60, Pace(in_hour=30, in_day=30), dt.timedelta(hours=2)),
            (6, Pace(in_day=48), dt.timedelta(hours=3)),
            (0, Pace(), dt.timedelta()),
            (1, Pace(), None),
        ],
        ids=["at the rate of the hour", "of the day", "nothing is left", "nobody can tell"],
    )
    def test_is_what_is_left_at_that_rate(self, n_left, pace, left):
        assert time_left(n_left, pace) == left


class TestRatersNeeded:
    @pytest.mark.parametrize(
        ("n_judgments", "session_length", "planted", "per_pair", "n"),
        [
            (100, 10, 0.0, 3, 10),
            (101, 10, 0.0, 3, 11),
            (80, 10, 0.2, 3, 10),
            (3, 10, 0.0, 3, 3),
            (0, 10, 0.0, 3, 0),
        ],
        ids=["whole sessions", "one more", "planted pairs", "different people", "nothing left"],
    )
    def test_is_sessions_and_never_fewer_than_judge_a_pair(
        self, n_judgments, session_length, planted, per_pair, n
    ):
        found = raters_needed(
            n_judgments=n_judgments,
            session_length=session_length,
            planted=planted,
            per_pair=per_pair,
        )

        assert found == n
