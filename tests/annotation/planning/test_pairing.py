"""The pairing plan: which pairs of a study's completions are compared."""

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from annotation.planning.pairing import plan_pairs
from annotation.planning.parts import Block, Candidate, summarise

SEEDS = st.text(max_size=8)
REGULAR, ADVERSARIAL = "REGULAR", "ADVERSARIAL"


def candidate(context, system):
    content = f"{(context * 7919 + system * 104729) % 65537:05x}-{context}-{system}"
    return Candidate(context * 100 + system, f"system-{system}", content)


def block(context, systems, *, stratum=REGULAR, planned=(), taken=(), alike=()):
    return Block(
        f"ctx-{context:04}",
        stratum,
        tuple(candidate(context, system) for system in systems),
        tuple((candidate(context, a), candidate(context, b)) for a, b in planned),
        frozenset((context * 100 + a, context * 100 + b) for a, b in taken),
        frozenset((context * 100 + a, context * 100 + b) for a, b in alike),
    )


def grid(n_contexts, n_systems, *, adversarial=0):
    """Make contexts in which every system wrote; the first few are adversarial."""
    return [
        block(context, range(n_systems), stratum=ADVERSARIAL if context < adversarial else REGULAR)
        for context in range(n_contexts)
    ]


def pairs(planned):
    return [(pair.context, pair.first.system, pair.second.system) for pair in planned]


def keys(planned):
    return {(pair.first.key, pair.second.key) for pair in planned}


def appearances(blocks, planned):
    counts = Counter(dict.fromkeys((one for block in blocks for one in block.systems), 0))
    counts.update(one.system for block in blocks for pair in block.planned for one in pair)
    counts.update(one.system for pair in planned for one in (pair.first, pair.second))
    return counts


def spread(counts):
    return max(counts.values(), default=0) - min(counts.values(), default=0)


def pair_counts(planned):
    return Counter(frozenset((pair.first.system, pair.second.system)) for pair in planned)


def n_groups(blocks, plan):
    """Return into how many groups the systems of these contexts fall."""
    group = {one: one for block in blocks for one in block.systems}
    keys = {block.key for block in blocks}
    for context, first, second in plan:
        if context in keys and group[first] != group[second]:
            joined, kept = group[first], group[second]
            group = {one: kept if name == joined else name for one, name in group.items()}
    return len(set(group.values()))


@st.composite
def patchy(draw, *, n_contexts=6, n_systems=6):
    """Draw contexts of two strata in which some systems wrote, now and then the same text."""
    systems = st.sets(st.integers(0, n_systems - 1), max_size=n_systems)
    strata = st.sampled_from([REGULAR, ADVERSARIAL])
    texts = st.integers(0, 2 * n_systems)
    blocks = []
    for context in range(draw(st.integers(1, n_contexts))):
        wrote = {system: draw(texts) for system in sorted(draw(systems))}
        alike = [(a, b) for a, b in combinations(wrote, 2) if wrote[a] == wrote[b]]
        blocks.append(block(context, wrote, stratum=draw(strata), alike=alike))
    return blocks


class TestAllPairs:
    @pytest.mark.parametrize(
        ("one", "expected"),
        [
            (block(0, range(3)), {(0, 1), (0, 2), (1, 2)}),
            (block(0, range(3), planned=[(0, 1)], taken=[(0, 2)]), {(1, 2)}),
            (block(0, range(3), alike=[(0, 2)]), {(0, 1), (1, 2)}),
            (block(0, ()), set()),
            (block(0, (4,)), set()),
        ],
        ids=["every", "not planned or taken ones", "not of one text", "nobody wrote", "one wrote"],
    )
    def test_are_taken_when_no_number_is_given(self, one, expected):
        planned = plan_pairs([one], per_context=None, seed="s")

        assert keys(planned) == expected
        assert len(planned) == len(expected)

    def test_are_never_of_one_system(self):
        people = (Candidate(key, "human", f"text {key}") for key in (1, 2))
        twice = Block("c", REGULAR, (*people, candidate(0, 3)))

        assert keys(plan_pairs([twice], per_context=None, seed="s")) == {(1, 3), (2, 3)}


class TestPairsOfOneText:
    @given(patchy(), st.sampled_from([None, 1, 3]), SEEDS)
    def test_are_never_planned(self, blocks, wanted, seed):
        planned = plan_pairs(blocks, per_context=wanted, seed=seed)

        texts = frozenset[tuple[int, int]]().union(*(one.alike for one in blocks))
        assert not keys(planned) & texts


class TestSomePairs:
    @pytest.mark.parametrize("wanted", [2, 1], ids=["as many", "fewer than there are"])
    def test_are_none_where_nothing_is_lacking(self, wanted):
        one = block(0, range(4), planned=[(0, 1), (2, 3)])

        assert plan_pairs([one], per_context=wanted, seed="s") == []

    @given(patchy(), st.integers(1, 8), SEEDS)
    def test_are_as_many_in_each_context_as_asked_for_or_as_there_are(self, blocks, wanted, seed):
        planned = plan_pairs(blocks, per_context=wanted, seed=seed)

        possible = {one.key: comb(len(one.candidates), 2) - len(one.alike) for one in blocks}
        expected = Counter({key: min(wanted, n) for key, n in possible.items()})
        assert Counter(one.context for one in planned) == expected

    @given(patchy(), st.integers(1, 8), SEEDS)
    def test_put_the_lower_key_first_and_never_repeat(self, blocks, wanted, seed):
        planned = plan_pairs(blocks, per_context=wanted, seed=seed)

        assert all(one.first.key < one.second.key for one in planned)
        assert len(keys(planned)) == len(planned)


class TestBalance:
    @given(st.integers(2, 7), st.integers(1, 9), st.integers(0, 4), st.integers(1, 8), SEEDS)
    def test_is_within_one_appearance_where_every_system_wrote_everywhere(
        self, n_systems, n_contexts, adversarial, wanted, seed
    ):
        blocks = grid(n_contexts, n_systems, adversarial=adversarial)

        planned = plan_pairs(blocks, per_context=wanted, seed=seed)

        assert spread(appearances(blocks, planned)) <= 1

    # Drawn once and not by Hypothesis: no fast search reaches the most even connected plan of all
    # there are, and this one misses about one in a thousand of those that could be drawn here.
    def test_is_that_of_the_most_even_connected_plan_where_completions_are_missing(self, subtests):
        for number in range(100):
            with subtests.test(number=number):
                blocks = patchy_by_number(number)
                assert_most_even(blocks, wanted=1 + number % 2, seed=str(number))

    def test_is_reached_by_chains_that_lose_a_link_or_change_one_context_twice(self):
        # System 0 writes with 1 only, 3 with 2 only; an even plan goes through 1 and 2.
        wrote = [(0, 1, 2), (1, 2, 3), (0, 1), (0, 1), (2, 3)]
        assert_most_even([block(*one) for one in enumerate(wrote)], wanted=1, seed="s")

        losing = [block(0, range(4), alike=[(0, 1), (2, 3)]), block(1, range(3), alike=[(1, 2)])]
        assert_most_even(losing, wanted=1, seed="")

        twice = [block(0, range(4)), block(1, (0, 3)), block(2, (0, 2))]
        for seed in "abcdefghij":
            assert_most_even(twice, wanted=2, seed=seed)

    def test_makes_up_for_what_an_earlier_plan_left_uneven(self):
        earlier = block(0, range(4), planned=[(0, 1)])

        planned = plan_pairs([earlier, block(1, range(4))], per_context=1, seed="s")

        assert pairs(planned) == [("ctx-0001", "system-2", "system-3")]

    def test_counts_planned_pairs_of_completions_that_may_no_longer_be_paired(self):
        held = block(0, (1, 2, 3), planned=[(0, 1)])

        planned = plan_pairs([held], per_context=2, seed="s")

        assert pairs(planned) == [("ctx-0000", "system-2", "system-3")]


def patchy_by_number(number):
    """Draw three contexts of two strata in which four systems wrote now and then."""
    draws = np.random.default_rng(number)
    blocks = []
    for context in range(3):
        wrote = {system: draws.integers(9) for system in range(4) if draws.random() < 0.85}
        alike = [(a, b) for a, b in combinations(wrote, 2) if wrote[a] == wrote[b]]
        stratum = REGULAR if draws.random() < 0.5 else ADVERSARIAL
        blocks.append(block(context, wrote, stratum=stratum, alike=alike))
    return blocks


def assert_most_even(blocks, *, wanted, seed):
    """Assert that no plan has fewer groups, and none of these more even appearances."""
    planned = pairs(plan_pairs(blocks, per_context=wanted, seed=seed))

    plans = list(every_plan(blocks, wanted))
    fewest = min(groups_by_stratum(blocks, plan) for plan in plans)
    linked = [plan for plan in plans if groups_by_stratum(blocks, plan) == fewest]
    assert groups_by_stratum(blocks, planned) == fewest
    assert unevenness(planned) == min(map(unevenness, linked))


def every_plan(blocks, wanted):
    """Yield every plan there could be, as contexts with two systems."""
    for parts in product(*(choices_of(one, wanted) for one in blocks)):
        yield [pair for part in parts for pair in part]


def choices_of(one, wanted):
    possible = [(one.key, first.system, second.system) for first, second in one.comparable]
    return combinations(possible, min(wanted, len(possible)))


def unevenness(plan):
    return sum(n * n for n in Counter(one for _, *pair in plan for one in pair).values())


def groups_by_stratum(blocks, plan):
    """Return into how many groups the strata fall, added up."""
    return sum(
        n_groups([one for one in blocks if one.stratum == stratum], plan)
        for stratum in (REGULAR, ADVERSARIAL)
    )


@cache
def heart():
    """HEART's size: 280 regular and 20 adversarial contexts, 20 systems, 28 pairs in each."""
    blocks = grid(300, 20, adversarial=20)
    return blocks, plan_pairs(blocks, per_context=28, seed="heart")


class TestPairsOfSystems:
    def test_systems_and_their_pairs_appear_equally_often_at_the_size_of_heart(self):
        blocks, planned = heart()

        counts = pair_counts(planned)
        assert len(planned) == 8400
        assert set(appearances(blocks, planned).values()) == {840}
        assert len(counts) == 190
        assert spread(counts) <= 1

    @pytest.mark.parametrize("stratum", [REGULAR, ADVERSARIAL])
    def test_each_stratum_of_heart_is_balanced_and_connected(self, stratum):
        blocks, planned = heart()
        part = [one for one in blocks if one.stratum == stratum]
        contexts = {one.key for one in part}
        inside = [one for one in planned if one.context in contexts]

        assert spread(appearances(part, inside)) <= 1
        assert n_groups(part, pairs(inside)) == 1

    def test_pairs_of_systems_differ_by_two_at_most_where_some_completions_are_missing(self):
        blocks = [
            block(context, [one for one in range(12) if (context * 7 + one * 3) % 11])
            for context in range(60)
        ]

        planned = plan_pairs(blocks, per_context=12, seed="s")

        assert spread(appearances(blocks, planned)) <= 1
        assert spread(pair_counts(planned)) <= 2


class TestConnection:
    @given(st.integers(2, 6), st.integers(1, 3), st.integers(1, 5), st.integers(1, 6), SEEDS)
    def test_holds_in_each_stratum_that_has_pairs_enough(
        self, n_systems, adversarial, regular, wanted, seed
    ):
        per_context = min(wanted, n_systems * (n_systems - 1) // 2)
        assume(per_context * min(adversarial, regular) >= n_systems - 1)
        blocks = grid(adversarial + regular, n_systems, adversarial=adversarial)

        planned = plan_pairs(blocks, per_context=wanted, seed=seed)

        assert groups_by_stratum(blocks, pairs(planned)) == 2

    def test_is_repaired_where_the_most_even_choice_would_leave_groups(self):
        # Two rounds of the same perfect matching would be as even, and leave two groups.
        blocks = [block(0, range(4), planned=[(0, 1), (2, 3)]), block(1, range(4))]

        for seed in map(str, range(20)):
            planned = plan_pairs(blocks, per_context=2, seed=seed)
            assert keys(planned).isdisjoint({(100, 101), (102, 103)})


class TestSeed:
    @given(patchy(), st.integers(1, 6), SEEDS)
    def test_and_contents_alone_decide(self, blocks, wanted, seed):
        def renumber(one):
            candidates = (each._replace(key=10_000 - each.key) for each in one.candidates[::-1])
            alike = frozenset((10_000 - b, 10_000 - a) for a, b in one.alike)
            return replace(one, candidates=tuple(candidates), alike=alike)

        def chosen(contexts):
            planned = plan_pairs(contexts, per_context=wanted, seed=seed)
            return [(one.context, {one.first.system, one.second.system}) for one in planned]

        assert chosen(blocks) == chosen([renumber(one) for one in reversed(blocks)])

    def test_changes_the_plan(self):
        plans = {
            tuple(pairs(plan_pairs(grid(1, 4), per_context=1, seed=str(n)))) for n in range(50)
        }

        assert len(plans) == 6


class TestExtension:
    @given(patchy(n_contexts=4), st.integers(1, 4), st.integers(0, 4), SEEDS)
    def test_repeats_no_pair_and_gives_each_context_what_it_lacks(self, blocks, first, more, seed):
        earlier = plan_pairs(blocks, per_context=first, seed=seed)

        def with_plan(one):
            known = [(pair.first, pair.second) for pair in earlier if pair.context == one.key]
            return replace(one, planned=tuple(known))

        added = plan_pairs([with_plan(one) for one in blocks], per_context=first + more, seed=seed)

        assert keys(earlier).isdisjoint(keys(added))
        at_once = plan_pairs(blocks, per_context=first + more, seed=seed)
        assert len(earlier) + len(added) == len(at_once)

    def test_brings_a_system_that_came_late_up_to_the_others(self):
        blocks = [block(n, range(5), planned=[(0, 1), (2, 3)]) for n in range(4)]

        counts = appearances(blocks, plan_pairs(blocks, per_context=4, seed="s"))

        assert counts["system-4"] >= 6


class TestSummary:
    def test_counts_systems_and_their_pairs_planned_and_added(self):
        blocks = [block(0, range(3), planned=[(0, 1)]), block(1, range(3))]
        added = plan_pairs(blocks, per_context=1, seed="s")

        summary = summarise(blocks, added, per_context=1)

        assert (summary.n_planned, summary.n_added, summary.n_pairs) == (1, 1, 2)
        assert summary.appearances == appearances(blocks, added)
        assert summary.pairs[("system-0", "system-1")] >= 1
        assert sum(summary.pairs.values()) == 2
        never_met = summarise(blocks[:1], [], per_context=1)
        assert never_met.pairs[("system-1", "system-2")] == 0
        empty = summarise([], [], per_context=None)
        assert (empty.n_pairs, empty.appearances, empty.strata) == (0, {}, ())

    def test_tells_the_groups_of_a_stratum_that_no_pair_connects(self):
        blocks = [
            block(0, range(4), planned=[(0, 1), (3, 2)]),
            block(1, (0, 1), stratum=ADVERSARIAL, planned=[(0, 1)]),
        ]

        hostile, regular = summarise(blocks, [], per_context=2).strata

        assert (hostile.name, hostile.n_contexts, hostile.n_pairs) == (ADVERSARIAL, 1, 1)
        assert hostile.is_connected
        assert not regular.is_connected
        assert regular.groups == (("system-0", "system-1"), ("system-2", "system-3"))
        assert len(regular.possible) == 1

    def test_counts_contexts_that_have_too_few_completions(self):
        blocks = [block(0, range(2)), block(1, range(5)), block(2, ())]
        added = plan_pairs(blocks, per_context=3, seed="s")

        assert summarise(blocks, added, per_context=3).n_short == 2
        assert summarise(blocks, added, per_context=None).n_short == 0

    def test_counts_the_pairs_of_one_text_that_are_not_planned(self):
        blocks = [
            block(0, range(3), alike=[(0, 1), (0, 2), (1, 2)], planned=[(0, 1)]),
            block(1, range(3), alike=[(0, 1)], taken=[(0, 1)]),
            block(2, range(3), alike=[(1, 2)]),
        ]

        assert summarise(blocks, [], per_context=None).n_alike == 3

    def test_does_not_say_that_pairs_of_one_text_could_connect(self):
        blocks = [block(n, range(3), alike=[(0, 2), (1, 2), (0, 1)]) for n in range(2)]
        blocks.append(block(2, range(2)))

        (regular,) = summarise(blocks, [], per_context=1).strata

        assert regular.possible == (("system-0", "system-1"), ("system-2",))
