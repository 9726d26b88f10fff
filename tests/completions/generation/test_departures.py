"""Replies that are more than the message alone are flagged; a message alone is not."""

import pytest

from completions import offline
from completions.generation.departures import FLAGS, flags_of

PLAIN = [
    "That sounds heavy. What has helped before?",
    "Here you can say whatever weighs on you: I am listening.",
    "I'm sorry, but mostly I'm glad you told me. Who else knows?",
    "I can't imagine how that must feel. Would you tell me more?",
    "I cannot help but notice how much you care for her.",
    'She said "never mind" and left, and that hurt.',
    "Sure, that makes sense. Anyone would be tired.",
    "  Indented, and with a newline at its end.\n",
    "Great courage: that is what I hear.",
    "שלום, אני כאן.",
    "🙂 I am here.",
    "The message he left must have hurt. What did you do?",
]


class TestFlagsOf:
    @pytest.mark.parametrize("text", PLAIN)
    def test_a_message_alone_has_none(self, text):
        assert flags_of(text) == []

    @pytest.mark.parametrize(
        ("text", "flag"),
        [
            ("Here is a supportive reply: That sounds hard.", "preamble"),
            ("Here's what I would say:\nThat sounds hard.", "preamble"),
            ("Sure! Here\u2019s a response: That sounds hard.", "preamble"),
            ("A possible reply: That sounds hard.", "preamble"),
            ("My response would be: That sounds hard.", "preamble"),
            ("Supporter: That sounds hard.", "label"),
            ("**Counselor:** That sounds hard.", "label"),
            ("That sounds hard.\n\nWould you tell me more?", "paragraphs"),
            ("That sounds hard.\nWould you tell me more?", "paragraphs"),
            ('"That sounds hard."', "quotation"),
            ("\u201cThat sounds hard.\u201d\n", "quotation"),
            ("<think>They are sad.</think> That sounds hard.", "thoughts"),
            ("I'm sorry, but I can't help with that.", "refusal"),
            ("I cannot assist with this request.", "refusal"),
            ("As an AI, I have no feelings.", "refusal"),
            ("That is hard. It is. Really. I am here.", "sentences"),
        ],
    )
    def test_what_comes_besides_is_named(self, text, flag):
        assert flag in flags_of(text)

    def test_several_flags_come_in_one_order(self):
        text = "Here is a reply:\n\nSupporter: A. B. C. D. E."

        assert flags_of(text) == [flag for flag in FLAGS if flag in flags_of(text)]
        assert {"preamble", "paragraphs"} <= set(flags_of(text))

    @pytest.mark.parametrize(
        "text",
        ["", " \n", "\n" * 50_000, "here is " * 20_000, '"' * 50_000],
        ids=["empty", "blank", "lines", "preambles", "quotes"],
    )
    def test_no_text_costs_much(self, text):
        assert set(flags_of(text)) <= set(FLAGS)

    def test_the_refusal_of_the_offline_provider_is_found(self):
        assert flags_of(offline.REFUSAL) == ["refusal"]
