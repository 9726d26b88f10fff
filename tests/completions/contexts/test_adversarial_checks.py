"""Each constraint on a rewritten dialogue, broken in turn."""

import pytest

from completions.contexts import adversarial
from completions.contexts.adversarial import checks

SOURCE = [
    {"role": "supporter", "text": "Hi, good to see you here. "},
    {"role": "seeker", "text": "Hello. I lost my job on Monday."},
    {"role": "supporter", "text": "I'm sorry. How are you holding up?"},
    {"role": "seeker", "text": "Badly, I cannot sleep."},
    {"role": "supporter", "text": "That sounds exhausting."},
    {"role": "seeker", "text": "It is, and the rent is due."},
    {"role": "supporter", "text": "Is there anyone you can talk to?"},
    {"role": "seeker", "text": "My sister, but she has enough on her plate."},
]
TARGET = [1, 4, 7, 10]


def rewritten(changes=(), **texts):
    """Return a sound rewrite, with some turns' fields replaced by index."""
    turns = [dict(turn) for turn in SOURCE]
    for index in (3, 5, 7):
        turns[index]["text"] = f"You are no help. {turns[index]['text']}"
    for index, fields in dict(changes).items():
        turns[index] |= fields
    return turns


def problems(turns, source=SOURCE):
    return adversarial.rewrite_problems(source, turns, target=TARGET, language="en")


class TestRewriteProblems:
    def test_are_none_for_a_sound_rewrite(self):
        assert problems(rewritten()) == []

    @pytest.mark.parametrize(
        "text",
        [
            pytest.param("I'm sorry. How are you holding up? ", id="a space more"),
            pytest.param("I\u2019m sorry. How are you holding up?", id="a curly apostrophe"),
            pytest.param("I'm sorry.  How are you holding up?", id="a space twice"),
            pytest.param("I'm sorry. How are you coping?", id="another word"),
            pytest.param("", id="nothing"),
        ],
    )
    def test_find_a_supporter_turn_that_changed_by_a_byte(self, text):
        assert problems(rewritten({2: {"text": text}})) == [
            "Turn 3 is the supporter's and must stay exactly as it is, every character of it."
        ]

    def test_find_two_turns_of_one_role_in_a_row(self):
        found = problems(rewritten({4: {"role": "seeker"}}))

        assert found == [
            "Turn 5 must not be by the seeker again: the two take turns.",
            "Turn 6 must not be by the seeker again: the two take turns.",
        ]

    def test_find_a_beginning_by_the_seeker(self):
        swapped = {"supporter": "seeker", "seeker": "supporter"}
        turns = [turn | {"role": swapped[turn["role"]]} for turn in rewritten()]

        assert "The first turn must be the supporter's." in problems(turns)

    def test_find_an_end_by_the_supporter(self):
        turns = [*rewritten()[:-1]]

        assert "The last turn must be the seeker's." in problems(turns)

    def test_find_too_few_turns(self):
        assert problems(rewritten()[:2], SOURCE[:2]) == [
            "The dialogue must have at least 4 turns; it has 2."
        ]

    @pytest.mark.parametrize("n", [6, 10])
    def test_find_turns_left_out_or_added(self, n):
        turns = (rewritten() + rewritten())[:n]

        assert f"The dialogue must keep its 8 turns; it has {n}." in problems(turns)

    def test_find_a_beginning_that_does_not_greet(self):
        source = [SOURCE[0] | {"text": "Tell me more."}, *SOURCE[1:]]

        assert problems([source[0], *rewritten()[1:]], source) == [
            "The first turn must be a greeting."
        ]

    def test_find_an_empty_seeker_turn(self):
        assert "Seeker turn 2 is empty." in problems(rewritten({3: {"text": " \n"}}))

    def test_find_a_turn_that_should_be_hostile_and_is_as_it_was(self):
        assert problems(rewritten({5: SOURCE[5]})) == ["Seeker turn 3 was not rewritten."]

    @pytest.mark.parametrize(
        "text", ["IT IS, AND THE RENT IS DUE!!!", "It is -\u00a0and the rent is due..."]
    )
    def test_find_a_turn_of_the_same_words_in_another_dress(self, text):
        assert "Seeker turn 3 was not rewritten." in problems(rewritten({5: {"text": text}}))

    def test_let_a_turn_stay_that_need_not_be_hostile(self):
        assert rewritten()[1] == SOURCE[1]

    def test_find_a_turn_that_outgrew_its_source(self):
        bloated = "You never listen. " * 20

        assert problems(rewritten({3: {"text": bloated}})) == [
            "Seeker turn 2 is too long: 42 words at most."
        ]

    @pytest.mark.parametrize(
        ("text", "rule"),
        [
            pytest.param("You are no help, I want to kill myself.", "self-harm", id="self-harm"),
            pytest.param("You are no help. Write to me@example.org.", "personal-data", id="mail"),
            pytest.param("I will kill you for this.", "violence", id="violence"),
        ],
    )
    def test_find_what_no_dialogue_here_may_hold(self, text, rule):
        assert f"Seeker turn 2 must hold no {rule}." in problems(rewritten({3: {"text": text}}))

    def test_find_more_of_what_the_source_held_already(self):
        source = [*SOURCE[:5], {"role": "seeker", "text": "He beat me up."}, *SOURCE[6:]]
        kept = {5: {"text": "Useless. He beat me up."}}
        more = {5: {"text": "Useless. He beat me up. I could strangle him."}}

        assert problems(rewritten(kept), source) == []
        assert problems(rewritten(more), source) == ["Seeker turn 3 must hold no violence."]

    @pytest.mark.parametrize(
        "text",
        [
            "I will hurt you.",
            "I\u2019m going to punch you in the face",
            "I'll find out where you live and make you pay.",
            "You should just die.",
            "I hope you get cancer.",
            "You will regret that you ever wrote to me.",
        ],
    )
    def test_find_a_threat(self, text):
        assert "Seeker turn 2 must hold no threat and wish nobody harm." in problems(
            rewritten({3: {"text": text}})
        )

    @pytest.mark.parametrize(
        "text",
        [
            "You are useless and I am sick of you.",
            "I hope you get paid for this, because I would not.",
            "I don't know where you live, and I don't care.",
            "He said he would hurt me and you only ask how I sleep.",
            "I could hit the wall when I read you.",
        ],
    )
    def test_see_no_threat_in_mere_anger(self, text):
        assert problems(rewritten({3: {"text": text}})) == []

    def test_look_at_nothing_else_when_turns_are_out_of_order(self):
        assert len(problems(rewritten({2: {"text": ""}})[:-2])) == 1


class TestGreeting:
    @pytest.mark.parametrize(
        "text",
        [
            "Hello!",
            "hey there, how are you",
            "Good evening, what brings you here?",
            "Thanks for coming to the chat.",
            "How are you doing today?",
            "Well, hi.",
            "Kia ora, good to have you here.",
        ],
    )
    def test_is_known(self, text):
        assert checks.GREETING.search(text)

    @pytest.mark.parametrize(
        "text", ["Tell me about it.", "History is hard.", "I see. Hello?", "Heyday is over."]
    )
    def test_is_not_seen_where_there_is_none(self, text):
        assert not checks.GREETING.search(text)


class TestIsFitToRewrite:
    def test_of_a_dialogue_that_has_the_shape(self):
        assert adversarial.is_fit_to_rewrite(SOURCE)

    @pytest.mark.parametrize(
        "turns",
        [
            pytest.param(SOURCE[1:], id="the seeker begins"),
            pytest.param(SOURCE[:2], id="too short"),
            pytest.param(SOURCE[:-1], id="the supporter ends"),
            pytest.param(SOURCE[2:], id="no greeting"),
            pytest.param([], id="nothing"),
        ],
    )
    def test_not_of_others(self, turns):
        assert not adversarial.is_fit_to_rewrite(turns)
