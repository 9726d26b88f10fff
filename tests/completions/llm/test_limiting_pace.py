"""Those who are sent away come again one after another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completions.llm.limiting import ProviderLimits
from completions.llm.limiting.limits import HURRY, LONGEST_S, Pace

limits = st.builds(
    ProviderLimits,
    requests_per_minute=st.none() | st.integers(1, 6000),
    tokens_per_minute=st.none() | st.integers(1, 10**6),
    concurrency=st.none() | st.integers(1, 64),
)
seconds = st.floats(0, 2 * LONGEST_S)


@given(limits, st.lists(st.tuples(seconds, seconds, st.integers(0, 9000)), min_size=1, max_size=20))
def test_nobody_comes_before_there_can_be_room_or_later_than_need_be(given_limits, asked):
    pace, now = Pace(at_once=32), 0.0
    for gap_s, wait_s, n_tokens in asked:
        now += gap_s
        turn_s = pace.next_turn_s(wait_s, given_limits, n_tokens, now)
        assert wait_s <= turn_s <= max(wait_s, LONGEST_S)


def test_they_are_a_step_of_the_slowest_limit_apart():
    def apart(**given_limits):
        pace = Pace(at_once=32)
        first = pace.next_turn_s(30, ProviderLimits(**given_limits), 100, 0.0)
        second = pace.next_turn_s(30, ProviderLimits(**given_limits), 100, 0.0)
        return pytest.approx((second - first) / HURRY)

    assert apart(requests_per_minute=60) == 1
    assert apart(requests_per_minute=60, tokens_per_minute=600) == 10
    assert apart(concurrency=4) == 1 / 4
    assert apart() == 1 / 32


def test_places_are_as_quick_as_answers_were_lately():
    pace = Pace(at_once=32)
    for _ in range(100):
        pace.held(8.0)
    first = pace.next_turn_s(30, ProviderLimits(concurrency=4), 0, 0.0)

    assert round(pace.next_turn_s(30, ProviderLimits(concurrency=4), 0, 0.0) - first, 3) == 1.6


def test_a_promise_that_is_over_is_forgotten():
    pace = Pace(at_once=32)
    pace.next_turn_s(600, ProviderLimits(requests_per_minute=60), 0, 0.0)

    assert pace.next_turn_s(30, ProviderLimits(requests_per_minute=60), 0, 1000.0) == 30


def test_a_clock_that_is_set_back_sends_nobody_away_for_good():
    pace = Pace(at_once=32)
    pace.next_turn_s(30, ProviderLimits(), 0, 1e9)

    assert pace.next_turn_s(30, ProviderLimits(), 0, 0.0) == LONGEST_S
    assert pace.next_turn_s(30, ProviderLimits(), 0, LONGEST_S) < 31
