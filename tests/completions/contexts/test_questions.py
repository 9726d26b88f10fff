"""What rewriters, raters and screeners are asked, how answers are read, what a rewrite shows."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completions.contexts import questions, rewrite_display
from completions.contexts.rewrite_display import HEIGHT, WIDTH, curve
from completions.contexts.screening.rules import SIGNALS
from completions.llm import prompts
from completions.llm.answers import InvalidAnswerError

EXAM = [
    {"role": "supporter", "text": "Hi! <b>Welcome</b>."},
    {"role": "seeker", "text": "I failed the exam."},
]


class TestRewriterMessages:
    def test_hold_the_dialogue_the_targets_and_the_schema(self):
        system, user = questions.rewriter_messages(EXAM, [7])

        assert '"turns"' in system["content"]
        assert "I failed the exam." in user["content"]
        assert "<hostility>\n[7]\n</hostility>" in user["content"]
        assert "<b>" not in user["content"]  # no text closes its section

    def test_show_a_refused_answer_with_all_its_problems(self):
        *_, said, asked = questions.rewriter_messages(EXAM, [7], ("{}", ["One.", "Two."]))

        assert said == {"role": "assistant", "content": "{}"}
        assert "- One.\n- Two." in asked["content"]


class TestHostilityRaterMessages:
    def test_hold_neither_profile_nor_target(self):
        """The rating is worth something only if it does not know what was wanted."""
        text = json.dumps(questions.hostility_rater_messages(EXAM))

        assert "I failed the exam." in text
        for told in ("ALWAYS_10", "profile", "target", "<hostility>", "ramp", "spike"):
            assert told not in text


class TestPrompts:
    def test_are_named_by_the_hash_of_all_that_is_asked(self):
        prompt = questions.rewriter_prompt()

        assert prompt.name == "rewriter-1"
        assert prompt.hash != prompts.load_prompt("rewriter-1").hash
        assert "{schema}" not in prompt.text

    @pytest.mark.parametrize(
        ("module", "wording", "prompt"),
        [
            (questions, "AGAIN", questions.rewriter_prompt),
            (questions, "WANTED", questions.rewriter_prompt),
            (questions, "DIALOGUE", questions.hostility_rater_prompt),
            (prompts, "CORRECTION", questions.hostility_rater_prompt),
            (prompts, "CORRECTION", questions.screener_prompt),
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

        assert questions.read_rewrite(json.dumps({"turns": spaced})) == spaced

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
            questions.read_rewrite(raw)


class TestReadRatings:
    def test_returns_a_number_for_each_turn(self):
        assert questions.read_ratings('{"hostility": [0, 10]}', 2) == [0, 10]

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
            questions.read_ratings(raw, 2)


WORDS = st.lists(st.sampled_from(["you", "are", "no", "help", "sleep", "rent"]), max_size=12)


class TestDiff:
    def test_names_the_changed_turns_alone(self):
        after = [EXAM[0], EXAM[1] | {"text": "Stop it. I failed the whole exam."}]

        assert rewrite_display.diff(EXAM, after) == [
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
        assert rewrite_display.pieces("I am sad", "I am furious") == [
            ("same", "I am"),
            ("removed", "sad"),
            ("added", "furious"),
        ]

    @given(WORDS, WORDS)
    def test_holds_both_texts_whole(self, before, after):
        found = rewrite_display.pieces(" ".join(before), " ".join(after))

        def joined(*kinds):
            return " ".join(words for kind, words in found if kind in kinds)

        assert joined("same", "removed") == " ".join(before)
        assert joined("same", "added") == " ".join(after)


class TestCurve:
    def test_runs_from_the_left_to_the_right_and_upwards_beside_a_table(self):
        drawn = curve([0, 5, 10], [2, 10])

        assert [(point.x, point.y) for point in drawn.target] == [
            (0, HEIGHT),
            (WIDTH / 2, HEIGHT / 2),
            (WIDTH, 0),
        ]
        assert [point.x for point in drawn.measured] == [0, WIDTH / 2]
        assert drawn.rows == [(1, 0, 2), (2, 5, 10), (3, 10, None)]

    @pytest.mark.parametrize("values", [[], [7]])
    def test_draws_what_there_is(self, values):
        assert [point.value for point in curve(values, values).target] == values

    def test_gives_svg_its_points(self):
        assert curve([10, 0], []).target_line == f"0.0,0.0 {WIDTH}.0,{HEIGHT}.0"


LAST = "I feel so alone,  and nobody at work talks to me."
TEXTS = ["Moved in May.", "Hello.", LAST, "That sounds hard."]
OPINION = {
    "signals": [{"name": "distress", "quote": "so alone, and"}],
    "disqualifiers": [],
    "reason": "It names a painful feeling.",
    "qualifies": True,
}

CONTENT = [
    "self-harm", "hate", "sexual", "violence", "personal-data", "platform", "clinical", "closing",
]  # fmt: skip
TURNS = [
    {"role": "supporter", "text": "Hello."},
    {"role": "seeker", "text": LAST},
    {"role": "supporter", "text": "That sounds hard."},
    {"role": "seeker", "text": "What comes later."},
]


def read(**changes):
    return questions.read_opinion(json.dumps(OPINION | changes), last=LAST, texts=TEXTS)


class TestScreenerMessages:
    def test_show_what_a_reader_of_the_candidate_would_see_and_no_more(self):
        _, user = questions.screener_messages(TURNS, 1, "Moved in May.")

        assert all(text in user["content"] for text in ("Moved in May.", LAST, "That sounds hard."))
        assert "What comes later." not in user["content"]

    def test_define_every_signal_and_disqualifier_that_may_be_named(self):
        prompt = questions.screener_prompt().text

        schema = json.dumps(questions.OPINION_SCHEMA)
        for name in (*SIGNALS, *CONTENT):
            assert f"- {name}: " in prompt
            assert f'"{name}"' in schema


UNFOUNDED = {
    "invented quote": (
        {"signals": [{"name": "help", "quote": "please help"}]},
        "quote of help does not stand in the seeker's last turn",
    ),
    "quote of somebody else": (
        {"signals": [{"name": "distress", "quote": "sounds hard"}]},
        "does not stand in the seeker's last turn",
    ),
    "invented fault": (
        {"disqualifiers": [{"name": "hate", "quote": "nobody said"}], "qualifies": False},
        "quote of hate does not stand in the text",
    ),
    "suits without a signal": ({"signals": []}, "a signal is missing"),
    "suits with a fault": (
        {"disqualifiers": [{"name": "platform", "quote": "Hello"}]},
        "a disqualifier is named",
    ),
    "unknown signal": ({"signals": [{"name": "joy", "quote": "alone"}]}, "signals"),
    "no reason": ({"reason": " "}, "reason"),
    "no truth value": ({"qualifies": "yes"}, "qualifies"),
}


class TestReadOpinion:
    def test_returns_what_was_said(self):
        assert read() == OPINION

    @pytest.mark.parametrize(("changes", "fault"), UNFOUNDED.values(), ids=UNFOUNDED)
    def test_refuses_what_is_unfounded_or_contradicts_itself(self, changes, fault):
        with pytest.raises(InvalidAnswerError, match=fault):
            read(**changes)
