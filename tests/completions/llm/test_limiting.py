"""Limits of providers: as they are given, what goes through and when, and who comes again when."""

from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completions.llm.limits import (
    HURRY,
    LONGEST_BLOCK_S,
    LONGEST_S,
    NONE,
    Account,
    LimitsError,
    Pace,
    ProviderLimits,
    capacity,
    limits_of,
    provider_of,
    read_limits,
)
from tests.completions.llm.conftest import wanted


def read(text):
    return read_limits(text, source="HEART_LLM_LIMITS")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("  ", {}),
        ("{}", {}),
        (
            '{"openai": {"requests_per_minute": 500, "tokens_per_minute": 2000, "concurrency": 3}}',
            {
                "openai": ProviderLimits(
                    requests_per_minute=500, tokens_per_minute=2000, concurrency=3
                )
            },
        ),
        (
            '{"127.0.0.1:8000": {"concurrency": 4}, "openai": {}}',
            {"127.0.0.1:8000": ProviderLimits(concurrency=4), "openai": NONE},
        ),
    ],
)
def test_limits_are_read_by_provider_and_may_be_partial(text, found):
    assert read(text) == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("500", "the whole: Input should be a valid dictionary"),
        ("{openai: 5}", "not JSON .*; for example: {"),
        ('{"openai": 500}', "openai: Input should be a valid dictionary"),
        ('{"openai": {"rpm": 500}}', "openai / rpm: unknown; known are requests_per_minute, "),
        ('{"openai": {"concurrency": 0}}', "openai / concurrency: Input should be greater than 0"),
        ('{"*": {"concurrency": "4"}}', r"\* / concurrency: Input should be a valid integer"),
        ('{"*": {"concurrency": true}}', r"\* / concurrency: Input should be a valid integer"),
        (
            '{"a": {"concurrency": -1}, "b": {"concurrency": -1}}',
            r"a / concurrency: .*; b / concurrency: ",
        ),
    ],
)
def test_every_fault_is_named_with_the_setting_and_its_place(text, said):
    with pytest.raises(LimitsError, match=f"^HEART_LLM_LIMITS: {said}"):
        read(text)


def test_a_provider_has_its_own_limits_or_those_of_all_others_or_none():
    one, two = ProviderLimits(concurrency=1), ProviderLimits(concurrency=2)

    assert limits_of("openai", {"openai": one, "*": two}) == one
    assert limits_of("openai", {"openai": ProviderLimits(), "*": two}) == NONE
    assert limits_of("anthropic", {"openai": one, "*": two}) == two
    assert limits_of("anthropic", {}) == NONE


def test_a_part_of_the_limits_is_never_nothing():
    part = ProviderLimits(requests_per_minute=500, concurrency=2).part(4)

    assert part == ProviderLimits(requests_per_minute=125, concurrency=1)


@pytest.mark.parametrize(
    ("model", "address", "provider"),
    [
        ("openai/gpt-5", "", "openai"),
        ("fireworks_ai/accounts/fireworks/models/kimi-k2", "", "fireworks_ai"),
        ("hosted_vllm/ours", "http://127.0.0.1:8899/v1", "127.0.0.1:8899"),
        ("openai/ours", "https://LLM.example.org/v1", "llm.example.org"),
        ("openai/ours", "https://user:secret@llm.example.org:444/v1", "llm.example.org:444"),
        ("openai/ours", "llm.example.org:444/v1", "llm.example.org:444"),
        ("gpt-5", "", "gpt-5"),
    ],
)
def test_the_provider_is_who_serves_the_model(model, address, provider):
    assert provider_of(model, address) == provider


rates = st.integers(1, 600)
arrivals = st.lists(
    st.tuples(st.floats(0, 5), st.integers(0, 50)), min_size=2, max_size=40
)  # seconds since the one before, and tokens


def starts(limits: ProviderLimits, given_arrivals) -> list[tuple[float, int]]:
    """Return when the arrivals that found a turn begin, with their tokens."""
    account, found = Account(), []
    times = accumulate(gap for gap, _ in given_arrivals)
    for now, (_, n_tokens) in zip(times, given_arrivals, strict=True):
        request = wanted(f"at {now}", n_tokens=n_tokens)
        offer = account.take(request, limits, now)
        assert offer.wait_s is not None
        assert offer.is_taken == (offer.wait_s <= request.patience_s)
        if offer.is_taken:
            found.append((now + offer.wait_s, n_tokens))
    return found


@given(rates, rates, arrivals)
def test_no_stretch_of_time_sees_more_than_came_in_and_a_full_bucket(requests, tokens, given_):
    begun = starts(ProviderLimits(requests_per_minute=requests, tokens_per_minute=tokens), given_)

    for first, (since, _) in enumerate(begun):
        for last in range(first, len(begun)):
            stretch = begun[first : last + 1]
            came = (begun[last][0] - since) / 60
            assert len(stretch) <= capacity(requests) + requests * came + 1e-6
            n_tokens = sum(n for _, n in stretch[:-1]) + min(stretch[-1][1], capacity(tokens))
            assert n_tokens <= capacity(tokens) + tokens * came + 1e-3


@given(rates, arrivals)
def test_turns_come_in_the_order_of_asking(tokens, given_):
    begun = [at for at, _ in starts(ProviderLimits(tokens_per_minute=tokens), given_)]

    assert all(one <= other + 1e-6 for one, other in pairwise(begun))


@given(st.integers(1, 600), st.integers(1, 50))
def test_a_queue_that_never_empties_uses_the_whole_rate(per_minute, n):
    begun = starts(ProviderLimits(requests_per_minute=per_minute), [(0.0, 0)] * n)

    waited = [at for at, _ in begun if at > 0]
    for place, at in enumerate(waited):
        assert abs(at - waited[0] - place * 60 / per_minute) < 1e-6


def test_those_held_up_by_one_limit_do_not_overrun_the_other_afterwards():
    limits = ProviderLimits(requests_per_minute=60, tokens_per_minute=600)

    begun = [at for at, _ in starts(limits, [(0.0, 150), (0.0, 1), (0.0, 1)])]

    assert [round(at, 6) for at in begun] == [0, 14.1, 15.1]


def test_more_than_a_bucket_holds_is_taken_from_a_full_one_and_paid_off_later():
    account, limits = Account(), ProviderLimits(tokens_per_minute=600)

    first = account.take(wanted(n_tokens=100), limits, 0.0)
    second = account.take(wanted(n_tokens=5), limits, 0.0)

    assert (first.is_taken, first.wait_s) == (True, 0)
    assert (second.is_taken, second.wait_s) == (True, 9.5)


def test_what_was_not_used_is_given_back_and_what_was_used_beyond_is_charged():
    account, limits = Account(), ProviderLimits(tokens_per_minute=600)
    account.take(wanted(n_tokens=100), limits, 0.0)

    account.settle("a", limits, 0.0, n_tokens=60)
    assert account.take(wanted(patience_s=0, n_tokens=1), limits, 0.0).wait_s == 3.1
    account.settle("a", limits, 0.0, n_tokens=-10)
    assert account.take(wanted(patience_s=0, n_tokens=1), limits, 0.0).wait_s == 4.1


@given(rates, st.integers(0, 10**9))
def test_no_gift_makes_a_bucket_hold_more_than_it_can(per_minute, n):
    account, limits = Account(), ProviderLimits(tokens_per_minute=per_minute)

    account.settle("a", limits, 0.0, n_tokens=n)

    assert account.tokens is not None
    assert account.tokens.level == capacity(per_minute)


def test_places_are_taken_once_freed_once_and_come_back_when_their_holder_is_dead():
    account, limits = Account(), ProviderLimits(concurrency=2)
    assert account.take(wanted("a"), limits, 0.0).is_taken
    assert account.take(wanted("b", lease_s=90), limits, 0.0).is_taken

    assert account.take(wanted("c"), limits, 59.9).wait_s is None
    assert account.take(wanted("c"), limits, 60.0).is_taken  # a's lease is over
    assert not account.take(wanted("d"), limits, 60.0).is_taken
    account.settle("b", limits, 60.0)
    account.settle("b", limits, 60.0)
    assert account.take(wanted("d"), limits, 60.0).is_taken
    assert not account.take(wanted("e"), limits, 60.0).is_taken


def test_the_lease_of_a_place_begins_with_the_turn():
    account, limits = Account(), ProviderLimits(concurrency=2, requests_per_minute=6)
    account.take(wanted("a"), limits, 0.0)
    account.take(wanted("b", lease_s=5), limits, 0.0)  # begins after 10 s

    assert account.take(wanted("c"), limits, 14.9).wait_s is None


def test_a_turn_that_is_not_taken_costs_nothing():
    account, limits = Account(), ProviderLimits(requests_per_minute=60, concurrency=1)
    account.take(wanted("a"), limits, 0.0)
    account.settle("a", limits, 0.0)

    for _ in range(3):
        assert account.take(wanted("b", patience_s=0.5), limits, 0.0).wait_s == 1
    assert account.take(wanted("b", patience_s=0.5), limits, 1.0).is_taken


def test_a_block_keeps_all_out_and_is_never_shortened_and_has_an_end():
    account = Account()

    account.block(30, 100.0)
    account.block(5, 100.0)

    assert account.take(wanted(), ProviderLimits(), 110.0).wait_s == 20
    assert account.take(wanted(), ProviderLimits(), 130.0).is_taken
    account.block(1e9, 200.0)
    assert account.blocked_s(200.0) == LONGEST_BLOCK_S


@given(st.floats(0, 1e9), st.floats(0, 1e9))
def test_a_clock_that_is_set_does_not_lock_anybody_out_for_good(before, after):
    account, limits = Account(), ProviderLimits(requests_per_minute=60)
    account.take(wanted("a"), limits, before)
    account.block(10, before)

    assert account.blocked_s(after) <= LONGEST_BLOCK_S
    offer = account.take(wanted("b"), limits, after + LONGEST_BLOCK_S)
    assert offer.wait_s is not None
    assert offer.wait_s <= LONGEST_BLOCK_S


any_limits = st.builds(
    ProviderLimits,
    requests_per_minute=st.none() | st.integers(1, 6000),
    tokens_per_minute=st.none() | st.integers(1, 10**6),
    concurrency=st.none() | st.integers(1, 64),
)
seconds = st.floats(0, 2 * LONGEST_S)


@given(
    any_limits, st.lists(st.tuples(seconds, seconds, st.integers(0, 9000)), min_size=1, max_size=20)
)
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
