"""A second opinion: what is asked, and the strict reading of what came."""

import json

import pytest

from completions.contexts import opinions, screening
from completions.llm.answers import InvalidAnswerError

LAST = "I feel so alone,  and nobody at work talks to me."
TEXTS = ["Moved in May.", "Hello.", LAST, "That sounds hard."]
OPINION = {
    "signals": [{"name": "distress", "quote": "so alone, and"}],
    "disqualifiers": [],
    "reason": "It names a painful feeling.",
    "qualifies": True,
}
TURNS = [
    {"role": "supporter", "text": "Hello."},
    {"role": "seeker", "text": LAST},
    {"role": "supporter", "text": "That sounds hard."},
    {"role": "seeker", "text": "What comes later."},
]


def read(**changes):
    return opinions.read_opinion(json.dumps(OPINION | changes), last=LAST, texts=TEXTS)


class TestScreenerMessages:
    def test_show_what_a_reader_of_the_candidate_would_see_and_no_more(self):
        _, user = opinions.screener_messages(TURNS, 1, "Moved in May.")

        assert all(text in user["content"] for text in ("Moved in May.", LAST, "That sounds hard."))
        assert "What comes later." not in user["content"]

    def test_define_every_signal_and_disqualifier_that_may_be_named(self):
        prompt = opinions.screener_prompt().text

        schema = json.dumps(opinions.OPINION_SCHEMA)
        for name in (*screening.SIGNALS, *CONTENT):
            assert f"- {name}: " in prompt
            assert f'"{name}"' in schema


CONTENT = [
    "self-harm", "hate", "sexual", "violence", "personal-data", "platform", "clinical", "closing",
]  # fmt: skip


class TestReadOpinion:
    def test_returns_what_was_said(self):
        assert read() == OPINION

    @pytest.mark.parametrize(
        ("changes", "fault"),
        [
            pytest.param(
                {"signals": [{"name": "help", "quote": "please help"}]},
                "quote of help does not stand in the seeker's last turn",
                id="invented quote",
            ),
            pytest.param(
                {"signals": [{"name": "distress", "quote": "sounds hard"}]},
                "does not stand in the seeker's last turn",
                id="quote of somebody else",
            ),
            pytest.param(
                {
                    "disqualifiers": [{"name": "hate", "quote": "nobody said"}],
                    "qualifies": False,
                },
                "quote of hate does not stand in the text",
                id="invented fault",
            ),
            pytest.param({"signals": []}, "a signal is missing", id="suits without a signal"),
            pytest.param(
                {"disqualifiers": [{"name": "platform", "quote": "Hello"}]},
                "a disqualifier is named",
                id="suits with a fault",
            ),
            pytest.param(
                {"signals": [{"name": "joy", "quote": "alone"}]}, "signals", id="unknown signal"
            ),
            pytest.param({"reason": " "}, "reason", id="no reason"),
            pytest.param({"qualifies": "yes"}, "qualifies", id="no truth value"),
        ],
    )
    def test_refuses_what_is_unfounded_or_contradicts_itself(self, changes, fault):
        with pytest.raises(InvalidAnswerError, match=fault):
            read(**changes)
