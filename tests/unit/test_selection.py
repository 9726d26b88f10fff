from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from completions import ingest, selection
from completions.demo import DIALOGUES
from completions.selection import Candidate, SelectionError
from tests.shared_data import shared_file

LONG = "I do not know how to tell them any of this."


def turns(*roles, text=LONG):
    return [{"role": role, "text": text} for role in roles]


def as_rows(dialogue):
    return [{"role": turn.role, "text": turn.text} for turn in dialogue.turns]


def candidates_of(path):
    return [
        candidate
        for dialogue in ingest.read_dialogues(path)
        for candidate in selection.candidates(dialogue.content_hash, as_rows(dialogue))
    ]


POOL = [Candidate(f"dialogue {n}", index, 20) for n in range(12) for index in (2, 4, 6, 8)]


class TestCouplets:
    def test_are_seeker_turns_with_a_reply(self):
        found = selection.couplets(turns("supporter", "seeker", "supporter", "seeker"))

        assert found == [1]

    def test_of_a_dialogue_without_turns_are_none(self):
        assert selection.couplets([]) == []


class TestCandidates:
    def test_need_three_turns_of_history(self):
        found = selection.candidates("d", turns("seeker", "supporter", "seeker", "supporter"))

        assert found == [Candidate("d", 2, 11)]

    @pytest.mark.parametrize(
        ("n_words", "qualifies"), [(7, False), (8, True), (120, True), (121, False)]
    )
    def test_need_a_last_turn_of_fair_length(self, n_words, qualifies):
        history = turns("seeker", "supporter", "seeker", "supporter", text="word " * n_words)

        assert bool(selection.candidates("d", history)) is qualifies


class TestSelect:
    def test_takes_at_most_two_of_a_dialogue_and_apart(self):
        chosen = selection.select(POOL, n=24, seed=1)

        by_dialogue: dict[str, list[int]] = {}
        for candidate in chosen:
            by_dialogue.setdefault(candidate.dialogue, []).append(candidate.turn_index)
        assert len(by_dialogue) == 12
        assert all(abs(one - other) >= 4 for one, other in by_dialogue.values())

    def test_takes_one_of_every_dialogue_before_a_second(self):
        chosen = selection.select(POOL, n=15, seed=1)

        per_dialogue = Counter(candidate.dialogue for candidate in chosen)
        assert len({candidate.dialogue for candidate in chosen[:12]}) == 12
        assert sorted(per_dialogue.values()) == [1] * 9 + [2] * 3

    @settings(deadline=None)  # a busy machine must not fail this test
    @given(st.permutations(POOL), st.integers(0, 24))
    def test_does_not_depend_on_the_order_of_the_input(self, shuffled, n):
        assert selection.select(shuffled, n=n, seed=7) == selection.select(POOL, n=n, seed=7)

    def test_depends_on_the_seed(self):
        assert selection.select(POOL, n=5, seed=1) != selection.select(POOL, n=5, seed=2)

    def test_is_the_same_on_every_platform(self):
        chosen = selection.select(POOL, n=3, seed=7)

        assert [(one.dialogue, one.turn_index) for one in chosen] == [
            ("dialogue 7", 8),
            ("dialogue 8", 6),
            ("dialogue 9", 8),
        ]

    @settings(deadline=None)  # a busy machine must not fail this test
    @given(st.integers(0, 24), st.integers(0, 24))
    def test_of_more_extends_that_of_fewer(self, fewer, more):
        fewer, more = sorted((fewer, more))
        first = selection.select(POOL, n=fewer, seed=3)
        taken = [(one.dialogue, one.turn_index) for one in first]

        added = selection.select(POOL, n=more, seed=3, taken=taken)

        assert first + added == selection.select(POOL, n=more, seed=3)

    def test_keeps_apart_from_what_was_taken_with_another_seed(self):
        chosen = selection.select(POOL, n=2, seed=5, taken=[("dialogue 0", 4)])
        second = selection.select(POOL[:4], n=2, seed=5, taken=[("dialogue 0", 4)])

        assert len(chosen) == 1
        assert [one.turn_index for one in second] == [8]

    def test_that_cannot_reach_the_number_says_how_many_there_are(self):
        with pytest.raises(
            SelectionError, match=r"25 contexts were asked for and 24 can be chosen"
        ):
            selection.select(POOL, n=25, seed=1)


class TestRealDialogues:
    def test_of_the_demo_give_twenty_four_contexts(self):
        assert len(selection.select(candidates_of(DIALOGUES), n=24, seed=7)) == 24

    def test_of_esconv_have_the_published_couplets(self):
        dialogues = ingest.read_dialogues(shared_file("esconv/ESConv.json"))

        assert sum(len(selection.couplets(as_rows(one))) for one in dialogues) == 14_642

    def test_of_esconv_give_280_contexts_of_280_dialogues(self):
        chosen = selection.select(candidates_of(shared_file("esconv/ESConv.json")), n=280, seed=7)

        assert len({candidate.dialogue for candidate in chosen}) == 280
