"""The sample that people label: seeded, even over systems, with rare strategies."""

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completions.strategies.rules import Item, sample

KEYS = ("hope", "rest", "facts")
PINNED = ["talk/0000", "talk/0001", "talk/2003", "talk/1000"]


def item(number, system="gpt", *found):
    return Item(f"talk/{number:04}", system, frozenset(found))


def many(n_per_system=100):
    """Items of three systems: everybody gives hope, few facts, and one says to rest."""
    return [
        item(
            1000 * place + number,
            system,
            "hope",
            *(["facts"] if number % 20 == 0 else []),
            *(["rest"] if (place, number) == (1, 7) else []),
        )
        for place, system in enumerate(("gpt", "gemini", "people"))
        for number in range(n_per_system)
    ]


def draw(items, n=30, seed="1"):
    return sample(items, n=n, seed=seed, strategies=KEYS)


class TestASample:
    def test_is_even_over_systems(self):
        assert set(Counter(one.system for one in draw(many())).values()) == {10}

    def test_has_the_rare_strategies_in_it(self):
        found = Counter(key for one in draw(many()) for key in one.strategies)

        assert found["rest"] == 1
        assert found["facts"] >= 5  # a share of half of 30; 15 of 300 have it

    def test_is_everything_if_there_is_no_more(self):
        items = many(3)

        assert sorted(one.name for one in draw(items)) == sorted(one.name for one in items)

    def test_takes_what_a_small_system_has(self):
        items = [*many(20), item(9000, "tiny")]

        assert Counter(one.system for one in draw(items))["tiny"] == 1

    def test_follows_from_the_seed_and_not_from_the_order_of_the_input(self):
        assert draw(many()) == draw(reversed_copy(many()))
        assert draw(many()) != draw(many(), seed="2")

    def test_comes_in_an_order_that_does_not_go_by_system(self):
        systems = [one.system for one in draw(many())]

        assert sum(one != other for one, other in itertools.pairwise(systems)) > 10

    def test_never_changes_by_accident(self):
        assert [one.name for one in draw(many(4), n=4)] == PINNED

    @given(
        n=st.integers(1, 25),
        items=st.lists(
            st.tuples(st.sampled_from("abc"), st.frozensets(st.sampled_from(KEYS))), max_size=20
        ),
    )
    def test_has_the_wanted_size_and_nothing_twice(self, n, items):
        pool = [Item(str(at), system, found) for at, (system, found) in enumerate(items)]

        drawn = draw(pool, n=n)

        assert len(drawn) == min(n, len(pool))
        assert len({one.name for one in drawn}) == len(drawn)


def reversed_copy(items):
    return list(reversed(items))


@pytest.mark.parametrize("n", [1, 2])
def test_a_sample_smaller_than_the_codebook_has_that_many(n):
    assert len(draw(many(), n=n)) == n
