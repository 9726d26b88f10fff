"""The judging design: pairs, their order and their sides, all drawn from the study's seed."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from annotation.assignment import design

LARGEST_INTEGER_COLUMN = 2**31 - 1
SEEDS = st.text(min_size=1, max_size=8)


def place(*, seed="s", rater="R1", number=1):
    return design.Place(seed, rater, number)


def draw_sides(events, *, seed="s", pair="p"):
    """Draw one side per rater's earlier counts, and return the pair's counts after each."""
    as_a = as_b = 0
    for rater_shown in events:
        to_a = design.first_goes_to_a(
            seed=seed, pair=pair, shown=(as_a, as_b), rater_shown=rater_shown
        )
        as_a, as_b = as_a + to_a, as_b + (not to_a)
        yield as_a, as_b


class TestPairKey:
    def key(self, first="one", second="two", context="c"):
        return design.pair_key(context_key=context, first_hash=first, second_hash=second)

    def test_does_not_depend_on_which_completion_was_stored_first(self):
        assert self.key("one", "two") == self.key("two", "one")

    def test_differs_by_context_and_by_contents(self):
        keys = {self.key(), self.key(context="d"), self.key(second="three")}

        assert len(keys) == 3

    def test_fits_its_column(self):
        assert len(self.key()) == 24


class TestPlaces:
    @given(SEEDS, st.text(max_size=8))
    def test_are_reproducible_and_leave_room_for_the_next_one_in_the_column(self, seed, name):
        position = design.pair_position(seed=seed, key=name)
        start = design.place_to_start(place(seed=seed, rater=name))

        assert position == design.pair_position(seed=seed, key=name)
        assert start == design.place_to_start(place(seed=seed, rater=name))
        assert 0 <= position < LARGEST_INTEGER_COLUMN
        assert 0 <= start < LARGEST_INTEGER_COLUMN
        assert design.POSITIONS <= LARGEST_INTEGER_COLUMN

    def test_differ_between_seeds(self):
        places = {design.pair_position(seed=str(n), key="p") for n in range(50)}

        assert len(places) == 50

    def test_of_raters_spread_over_the_whole_order(self):
        starts = [design.place_to_start(place(rater=f"R{n}")) for n in range(1000)]
        by_tenth = Counter(start * 10 // design.POSITIONS for start in starts)

        assert len(by_tenth) == 10
        assert min(by_tenth.values()) > 60


class TestFirstGoesToA:
    def test_balances_the_pair_before_the_rater(self):
        assert design.first_goes_to_a(seed="s", pair="p", shown=(1, 2), rater_shown=(9, 0))
        assert not design.first_goes_to_a(seed="s", pair="p", shown=(2, 1), rater_shown=(0, 9))

    def test_balances_the_rater_where_the_pair_is_even(self):
        assert design.first_goes_to_a(seed="s", pair="p", shown=(1, 1), rater_shown=(3, 4))
        assert not design.first_goes_to_a(seed="s", pair="p", shown=(1, 1), rater_shown=(4, 3))

    def test_tosses_a_fair_coin_where_both_are_even(self):
        heads = sum(
            design.first_goes_to_a(seed=str(n), pair="p", shown=(0, 0), rater_shown=(0, 0))
            for n in range(1000)
        )

        assert 450 < heads < 550

    @given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20))), SEEDS)
    def test_never_lets_the_sides_of_a_pair_differ_by_more_than_one(self, raters, seed):
        assert all(abs(a - b) <= 1 for a, b in draw_sides(raters, seed=seed))

    @given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20))), SEEDS)
    def test_can_be_repeated_from_the_seed_and_the_order_of_events(self, raters, seed):
        assert list(draw_sides(raters, seed=seed)) == list(draw_sides(raters, seed=seed))

    @given(st.integers(0, 20), st.integers(0, 20), SEEDS)
    def test_comes_back_to_balance_when_leases_were_given_back(self, as_a, as_b, seed):
        to_a = design.first_goes_to_a(seed=seed, pair="p", shown=(as_a, as_b), rater_shown=(0, 0))
        after = abs(as_a + to_a - as_b - (not to_a))

        assert after == abs(abs(as_a - as_b) - 1)
