import itertools
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completions.contexts import selection
from completions.contexts.selection import Range, SelectionError, SuitableCouplet
from completions.dialogues import couplets

WORK = ("fear", "job crisis")
HOME = ("anger", "conflict with parents")
SCHOOL = ("shame", "academic pressure")


def turns(*roles):
    return [{"role": role, "text": "I do not know how to tell them."} for role in roles]


def pool(cell, n, *, places=(2, 4, 6, 8)):
    """Return the candidates of ``n`` dialogues of one cell."""
    return [SuitableCouplet(f"{cell[0]} {k}", place, cell) for k in range(n) for place in places]


POOL = [*pool(WORK, 12), *pool(HOME, 6), *pool(SCHOOL, 2)]
WEIGHTS = {WORK: 12, HOME: 6, SCHOOL: 2}


def select(among=POOL, *, n, seed=7, weights=WEIGHTS, taken=()):
    return selection.select(among, n=n, seed=seed, weights=weights, taken=taken)


def per_cell(chosen):
    return Counter(one.cell for one in chosen)


def gaps(chosen):
    """Return the distances between contexts of one dialogue."""
    by_dialogue = itertools.groupby(sorted(chosen), key=lambda one: one.dialogue)
    places = [[one.turn_index for one in group] for _, group in by_dialogue]
    return [later - earlier for group in places for earlier, later in itertools.pairwise(group)]


class TestCouplets:
    def test_are_seeker_turns_with_a_reply(self):
        assert couplets.couplets(turns("supporter", "seeker", "supporter", "seeker")) == [1]
        assert couplets.couplets([]) == []


class TestSelect:
    def test_gives_every_cell_its_share(self):
        assert per_cell(select(n=10)) == {WORK: 6, HOME: 3, SCHOOL: 1}

    def test_lets_the_others_grow_where_a_cell_is_short(self):
        weights = {WORK: 12, HOME: 6, SCHOOL: 18}

        assert per_cell(select(n=22, weights=weights)) == {WORK: 12, HOME: 6, SCHOOL: 4}

    @pytest.mark.parametrize("n", [1, 7, 20, 40])
    def test_takes_the_number_with_at_most_two_of_a_dialogue_and_apart(self, n):
        chosen = select(n=n)

        assert len(chosen) == n
        assert max(Counter(one.dialogue for one in chosen).values()) <= 2
        assert min(gaps(chosen), default=4) >= 4

    def test_takes_one_of_every_dialogue_of_a_cell_before_a_second(self):
        chosen = select(pool(WORK, 12), n=15, weights={WORK: 1})

        per_dialogue = Counter(one.dialogue for one in chosen)
        assert sorted(per_dialogue.values()) == [1] * 9 + [2] * 3

    def test_finds_two_of_a_dialogue_wherever_two_are_apart(self):
        """A first choice in the middle must not waste the ends."""
        among = pool(WORK, 20, places=(2, 4, 6))

        assert len(select(among, n=40, weights={WORK: 1})) == 40

    @given(st.permutations(POOL), st.integers(0, 40))
    def test_does_not_depend_on_the_order_of_the_input(self, shuffled, n):
        assert select(shuffled, n=n) == select(n=n)

    def test_depends_on_the_seed(self):
        assert select(n=5, seed=1) != select(n=5, seed=2)

    def test_is_the_same_on_every_machine(self):
        chosen = select(n=3)

        assert [(one.dialogue, one.turn_index) for one in chosen] == [
            ("anger 2", 2),
            ("fear 1", 2),
            ("fear 11", 6),
        ]

    @pytest.mark.parametrize("n", [12, 25, 40])
    def test_keeps_what_was_taken_and_adds_the_rest(self, n):
        taken = select(n=10)

        added = select(n=n, taken=taken)

        assert len(added) == n - 10
        assert not {*added} & {*taken}
        assert max(Counter(one.dialogue for one in (*taken, *added)).values()) <= 2
        assert min(gaps([*taken, *added]), default=4) >= 4

    @pytest.mark.parametrize(
        ("cell", "n_dialogues", "n_taken", "expected"),
        [(HOME, 6, 3, {WORK: 6, SCHOOL: 1}), (SCHOOL, 2, 4, {WORK: 4, HOME: 2})],
        ids=["its share", "more than its share"],
    )
    def test_brings_the_other_cells_to_their_shares(self, cell, n_dialogues, n_taken, expected):
        taken = select(pool(cell, n_dialogues), n=n_taken, weights={cell: 1})

        assert per_cell(select(n=10, taken=taken)) == expected

    def test_adds_nothing_to_enough(self):
        assert select(n=10, taken=select(n=12)) == []

    def test_counts_what_was_taken_from_dialogues_that_offer_nothing_now(self):
        gone = SuitableCouplet("gone", 4, ("guilt", ""))

        assert len(select(n=10, taken=[gone])) == 9

    def test_says_why_the_number_cannot_be_reached(self):
        with pytest.raises(SelectionError) as caught:
            select(n=41)

        assert str(caught.value) == (
            "41 contexts were asked for and 40 can be chosen: 20 dialogues have a suitable "
            "candidate left, and each gives at most 2, at least 4 turns apart"
        )


class TestApportion:
    def test_gives_left_over_seats_to_the_largest_remainders(self):
        """The worked example of the encyclopedia's page on largest remainder (Hare quota)."""
        votes = {"Yellow": 47000, "White": 16000, "Red": 15900, "Green": 12000, "Blue": 6000}
        weights = {(name, ""): n for name, n in (votes | {"Pink": 3100}).items()}
        free = {cell: Range(0, 10) for cell in weights}

        seats = selection.apportion(10, weights=weights, ranges=free)

        assert {cell[0]: n for cell, n in seats.items() if n} == {
            "Yellow": 5, "White": 2, "Red": 1, "Green": 1, "Blue": 1,
        }  # fmt: skip

    def test_settles_equal_remainders_by_name(self):
        weights = {("b", ""): 1, ("a", ""): 1, ("c", ""): 1}

        seats = selection.apportion(
            2, weights=weights, ranges={cell: Range(0, 5) for cell in weights}
        )

        assert +seats == {("a", ""): 1, ("b", ""): 1}

    @given(
        st.lists(
            st.tuples(st.integers(1, 400), st.integers(0, 30), st.integers(0, 30)),
            min_size=1,
            max_size=12,
        ),
        st.data(),
    )
    def test_stays_in_the_ranges_and_next_to_the_exact_shares(self, cells, data):
        weights = {(str(place), ""): weight for place, (weight, _, _) in enumerate(cells)}
        ranges = {
            (str(place), ""): Range(least, least + more)
            for place, (_, least, more) in enumerate(cells)
        }
        least = sum(one.least for one in ranges.values())
        most = sum(one.most for one in ranges.values())
        n = data.draw(st.integers(least, most))

        seats = selection.apportion(n, weights=weights, ranges=ranges)

        assert seats.total() == n
        assert all(one.least <= seats[cell] <= one.most for cell, one in ranges.items())
        free = [cell for cell, one in ranges.items() if one.least < seats[cell] < one.most]
        scales = [Fraction(seats[cell], weights[cell]) for cell in free]
        slack = [Fraction(1, weights[cell]) for cell in free]
        assert all(
            abs(one - other) <= slack[i] + slack[j]
            for (i, one), (j, other) in itertools.combinations(enumerate(scales), 2)
        )
