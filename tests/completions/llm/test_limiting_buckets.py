"""The arithmetic of limits: what goes through, when, and what is given back."""

from itertools import accumulate, pairwise

from hypothesis import given
from hypothesis import strategies as st

from completions.llm.limiting import BucketRequest, ProviderLimits
from completions.llm.limiting.buckets import LONGEST_BLOCK_S, Account, capacity

PATIENCE_S = 20.0
rates = st.integers(1, 600)
arrivals = st.lists(
    st.tuples(st.floats(0, 5), st.integers(0, 50)), min_size=2, max_size=40
)  # seconds since the one before, and tokens


def wanted(place="a", *, n_tokens=0, lease_s=60.0, patience_s=PATIENCE_S) -> BucketRequest:
    return BucketRequest(
        place=place, provider="p", n_tokens=n_tokens, lease_s=lease_s, patience_s=patience_s
    )


def starts(limits: ProviderLimits, given_arrivals) -> list[tuple[float, int]]:
    """Return when the arrivals that found a turn begin, with their tokens."""
    account, found = Account(), []
    times = accumulate(gap for gap, _ in given_arrivals)
    for now, (_, n_tokens) in zip(times, given_arrivals, strict=True):
        offer = account.take(wanted(f"at {now}", n_tokens=n_tokens), limits, now)
        assert offer.wait_s is not None
        assert offer.is_taken == (offer.wait_s <= PATIENCE_S)
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


def test_a_block_keeps_all_out_and_is_never_shortened():
    account = Account()

    account.block(30, 100.0)
    account.block(5, 100.0)

    assert account.take(wanted(), ProviderLimits(), 110.0).wait_s == 20
    assert account.take(wanted(), ProviderLimits(), 130.0).is_taken


def test_a_block_has_an_end_however_long_was_asked_for():
    account = Account()

    account.block(1e9, 100.0)

    assert account.blocked_s(100.0) == LONGEST_BLOCK_S


@given(st.floats(0, 1e9), st.floats(0, 1e9))
def test_a_clock_that_is_set_does_not_lock_anybody_out_for_good(before, after):
    account, limits = Account(), ProviderLimits(requests_per_minute=60)
    account.take(wanted("a"), limits, before)
    account.block(10, before)

    assert account.blocked_s(after) <= LONGEST_BLOCK_S
    offer = account.take(wanted("b"), limits, after + LONGEST_BLOCK_S)
    assert offer.wait_s is not None
    assert offer.wait_s <= LONGEST_BLOCK_S
