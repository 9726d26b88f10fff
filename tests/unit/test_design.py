"""The judging design: pairs, their order and their sides, all drawn from the study's seed."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation import design
from annotation.design import Candidate

LARGEST_INTEGER_COLUMN = 2**31 - 1
SEEDS = st.text(min_size=1, max_size=8)


def candidates(*systems):
    return [Candidate(key, system, f"hash of {key}") for key, system in enumerate(systems)]


def choose(systems, *, lacking=None, existing=(), appearances=None, seed="s", context="c"):
    chosen = design.choose_pairs(
        systems,
        lacking=lacking,
        existing=set(existing),
        appearances=Counter() if appearances is None else appearances,
        seed=seed,
        context_key=context,
    )
    return [(first.key, second.key) for first, second in chosen]


def draw_sides(events, *, seed="s", pair="p"):
    """Draw one side per rater's earlier counts, and return the pair's counts after each."""
    as_a = as_b = 0
    for rater_shown in events:
        to_a = design.first_goes_to_a(
            seed=seed, pair=pair, shown=(as_a, as_b), rater_shown=rater_shown
        )
        as_a, as_b = as_a + to_a, as_b + (not to_a)
        yield as_a, as_b


class TestChoosePairs:
    def test_takes_all_pairs_when_no_number_is_lacking(self):
        assert choose(candidates("a", "b", "c")) == [(0, 1), (0, 2), (1, 2)]

    def test_never_pairs_completions_of_one_system(self):
        assert choose(candidates("human", "human", "model")) == [(0, 2), (1, 2)]

    def test_puts_the_lower_key_first_whatever_the_order_of_the_candidates(self):
        assert choose(list(reversed(candidates("a", "b")))) == [(0, 1)]

    @pytest.mark.parametrize("n", [0, 1])
    def test_finds_no_pair_among_fewer_than_two(self, n):
        assert choose(candidates(*"ab"[:n])) == []

    def test_leaves_existing_pairs_out(self):
        assert choose(candidates("a", "b", "c"), existing=[(0, 2)]) == [(0, 1), (1, 2)]

    def test_takes_only_what_is_lacking(self):
        assert len(choose(candidates("a", "b", "c", "d"), lacking=2)) == 2

    @pytest.mark.parametrize("lacking", [0, -1], ids=["none", "fewer than there are"])
    def test_takes_nothing_when_nothing_is_lacking(self, lacking):
        assert choose(candidates("a", "b", "c"), lacking=lacking) == []

    def test_takes_what_there_is_when_more_is_lacking(self):
        assert len(choose(candidates("a", "b"), lacking=5)) == 1

    def test_prefers_the_systems_that_appeared_least(self):
        appearances = Counter(a=3, b=3)

        assert choose(candidates("a", "b", "c", "d"), lacking=1, appearances=appearances) == [
            (2, 3)
        ]
        assert appearances == Counter(a=3, b=3, c=1, d=1)

    def test_differs_between_seeds_and_between_contexts(self):
        by_seed = {tuple(choose(candidates(*"abcd"), lacking=1, seed=str(n))) for n in range(50)}
        by_context = {
            tuple(choose(candidates(*"abcd"), lacking=1, context=str(n))) for n in range(50)
        }

        assert by_seed == by_context == {(pair,) for pair in combinations(range(4), 2)}

    @given(
        n_systems=st.integers(2, 7),
        n_contexts=st.integers(1, 12),
        lacking=st.integers(1, 6),
        seed=SEEDS,
    )
    def test_balances_the_systems_of_a_study_within_one(self, n_systems, n_contexts, lacking, seed):
        appearances = Counter(dict.fromkeys(range(n_systems), 0))

        for context in range(n_contexts):
            choose(
                candidates(*range(n_systems)),
                lacking=lacking,
                appearances=appearances,
                seed=seed,
                context=str(context),
            )

        assert max(appearances.values()) - min(appearances.values()) <= 1

    @given(st.lists(st.sampled_from("abcde"), max_size=8), st.integers(0, 8), SEEDS)
    def test_draws_the_same_pairs_again_from_the_same_seed(self, systems, lacking, seed):
        first = choose(candidates(*systems), lacking=lacking, seed=seed)
        again = choose(list(reversed(candidates(*systems))), lacking=lacking, seed=seed)

        assert first == again

    @given(st.lists(st.sampled_from("abcde"), max_size=8), st.integers(0, 8), st.integers(0, 8))
    def test_extends_a_plan_without_repeating_a_pair(self, systems, lacking, more):
        planned = choose(candidates(*systems), lacking=lacking)
        added = choose(candidates(*systems), lacking=more, existing=planned)

        assert not set(planned) & set(added)
        assert all(systems[first] != systems[second] for first, second in planned + added)
        n_possible = len(choose(candidates(*systems)))
        assert len(planned) + len(added) == min(n_possible, lacking + more)


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
        start = design.rater_start(seed=seed, rater_code=name)

        assert position == design.pair_position(seed=seed, key=name)
        assert start == design.rater_start(seed=seed, rater_code=name)
        assert 0 <= position < LARGEST_INTEGER_COLUMN
        assert 0 <= start < LARGEST_INTEGER_COLUMN
        assert design.POSITIONS <= LARGEST_INTEGER_COLUMN

    def test_differ_between_seeds(self):
        places = {design.pair_position(seed=str(n), key="p") for n in range(50)}

        assert len(places) == 50

    def test_of_raters_spread_over_the_whole_order(self):
        starts = [design.rater_start(seed="s", rater_code=f"R{n}") for n in range(1000)]
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
