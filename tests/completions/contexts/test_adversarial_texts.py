"""What rewriters and raters are asked, how their answers are read, and what a diff says."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completions.contexts import adversarial, opinions
from completions.contexts.adversarial import display, questions
from completions.llm import prompts
from completions.llm.answers import InvalidAnswerError

TURNS = [
    {"role": "supporter", "text": "Hi! <b>Welcome</b>."},
    {"role": "seeker", "text": "I failed the exam."},
]


class TestRewriterMessages:
    def test_hold_the_dialogue_the_targets_and_the_schema(self):
        system, user = adversarial.rewriter_messages(TURNS, [7])

        assert '"turns"' in system["content"]
        assert "I failed the exam." in user["content"]
        assert "<hostility>\n[7]\n</hostility>" in user["content"]

    def test_let_no_text_close_its_section(self):
        _, user = adversarial.rewriter_messages(TURNS, [7])

        assert "<b>" not in user["content"]

    def test_show_a_refused_answer_with_all_its_problems(self):
        *_, said, asked = adversarial.rewriter_messages(TURNS, [7], ("{}", ["One.", "Two."]))

        assert said == {"role": "assistant", "content": "{}"}
        assert "- One.\n- Two." in asked["content"]


class TestHostilityRaterMessages:
    def test_hold_neither_profile_nor_target(self):
        """The rating is worth something only if it does not know what was wanted."""
        text = json.dumps(adversarial.hostility_rater_messages(TURNS))

        assert "I failed the exam." in text
        for told in ("ALWAYS_10", "profile", "target", "<hostility>", "ramp", "spike"):
            assert told not in text


class TestPrompts:
    def test_are_named_by_the_hash_of_all_that_is_asked(self):
        prompt = adversarial.rewriter_prompt()

        assert prompt.name == "rewriter-1"
        assert prompt.hash != prompts.load_prompt("rewriter-1").hash
        assert "{schema}" not in prompt.text

    @pytest.mark.parametrize(
        ("module", "wording", "prompt"),
        [
            (questions, "AGAIN", adversarial.rewriter_prompt),
            (questions, "WANTED", adversarial.rewriter_prompt),
            (questions, "DIALOGUE", adversarial.hostility_rater_prompt),
            (prompts, "CORRECTION", adversarial.hostility_rater_prompt),
            (prompts, "CORRECTION", opinions.screener_prompt),
        ],
    )
    def test_have_another_hash_when_any_wording_is_another(
        self, monkeypatch, module, wording, prompt
    ):
        before = prompt().hash
        monkeypatch.setattr(module, wording, "Otherwise.")

        assert prompt().hash != before


class TestReadRewrite:
    def test_returns_the_turns_as_they_came(self):
        spaced = [{"role": "supporter", "text": " Hi \n"}]

        assert adversarial.read_rewrite(json.dumps({"turns": spaced})) == spaced

    @pytest.mark.parametrize(
        "raw",
        [
            pytest.param("", id="nothing"),
            pytest.param("[]", id="a list"),
            pytest.param('{"turns": [{"role": "user", "text": "Hi"}]}', id="another role"),
            pytest.param('{"turns": [{"role": "seeker"}]}', id="no text"),
            pytest.param('{"turns": [], "turns": []}', id="a key twice"),
            pytest.param('{"turns": [{"role": "seeker", "text": "a\\u0000"}]}', id="NUL"),
            pytest.param('{"turns": [{"role": "seeker", "text": "\\ud800"}]}', id="surrogate"),
        ],
    )
    def test_refuses_anything_else(self, raw):
        with pytest.raises(InvalidAnswerError):
            adversarial.read_rewrite(raw)


class TestReadRatings:
    def test_returns_a_number_for_each_turn(self):
        assert adversarial.read_ratings('{"hostility": [0, 10]}', 2) == [0, 10]

    @pytest.mark.parametrize(
        "raw",
        [
            pytest.param('{"hostility": [1]}', id="too few"),
            pytest.param('{"hostility": [1, 2, 3]}', id="too many"),
            pytest.param('{"hostility": [1, 11]}', id="off the scale"),
            pytest.param('{"hostility": [1, 2.5]}', id="a fraction"),
        ],
    )
    def test_refuses_anything_else(self, raw):
        with pytest.raises(InvalidAnswerError):
            adversarial.read_ratings(raw, 2)


WORDS = st.lists(st.sampled_from(["you", "are", "no", "help", "sleep", "rent"]), max_size=12)


class TestDiff:
    def test_names_the_changed_turns_alone(self):
        after = [TURNS[0], TURNS[1] | {"text": "Stop it. I failed the whole exam."}]

        assert adversarial.diff(TURNS, after) == [
            {
                "turn": 1,
                "pieces": [
                    ["added", "Stop it."],
                    ["same", "I failed the"],
                    ["added", "whole"],
                    ["same", "exam."],
                ],
            }
        ]

    def test_puts_what_was_removed_before_what_came_in_its_place(self):
        assert display.pieces("I am sad", "I am furious") == [
            ("same", "I am"),
            ("removed", "sad"),
            ("added", "furious"),
        ]

    @given(WORDS, WORDS)
    def test_holds_both_texts_whole(self, before, after):
        found = display.pieces(" ".join(before), " ".join(after))

        def joined(*kinds):
            return " ".join(words for kind, words in found if kind in kinds)

        assert joined("same", "removed") == " ".join(before)
        assert joined("same", "added") == " ".join(after)
