"""What a writer is asked about before a message goes out, and what not."""

import pytest

from completions.writers.presubmit_checks import REASONS, look


def asked(text: str, language: str = "en") -> list[tuple[str, str]]:
    return [(one.rule, one.matched) for one in look(text, language=language)]


@pytest.mark.parametrize(
    ("text", "rule", "matched"),
    [
        ("Call me on +44 20 7946 0958 tonight.", "personal-data", "+44 20 7946 0958"),
        ("Write to ada@example.org any time.", "personal-data", "ada@example.org"),
        ("Hello, my name is Lisa, I am here.", "personal-data", "my name is Lisa"),
        ("Come to 12 Garden Street tomorrow.", "personal-data", "12 Garden Street"),
        ("Nobody wants you to end your life.", "self-harm", "end your life"),
        ("You sound bipolar to me, honestly.", "clinical", "bipolar"),
        ("Ask for anxiety pills, they work.", "clinical", "anxiety pills"),
        ("As an AI language model, I hear you.", "source", "As an AI language model"),
        ("I'm sorry, but I can't assist with that.", "source", "I'm sorry, but I can't assist"),
    ],
)
def test_quotes_the_words_at_fault(text, rule, matched):
    assert (rule, matched) in asked(text)


@pytest.mark.parametrize(
    "text",
    [
        "That sounds lonely. What would a good evening look like?",
        "It makes sense that you are anxious. Would talking to your doctor help?",
        "Losing Rosa after nine years must hurt. What do you miss most?",
        "You could ring a help line, for instance 116 123, when the nights are long.",
        "",
        "   ",
        "?!...",
    ],
)
def test_lets_plain_support_and_nothing_at_all_pass(text):
    assert asked(text) == []


def test_tells_words_once_and_personal_data_first():
    text = "Take your medication. Write to ada@example.org. Take your medication."

    assert asked(text) == [
        ("personal-data", "ada@example.org"),
        ("clinical", "medication"),
    ]


def test_says_where_the_words_begin():
    text = "Write to ada@example.org, to ada@example.org."

    (found,) = look(text, language="en")

    assert text[found.start :].startswith("ada@example.org, to")


def test_searches_other_languages_for_personal_data_alone():
    assert asked("Schreib an ada@example.org.", "de") == [("personal-data", "ada@example.org")]
    assert asked("You sound bipolar to me, honestly.", "de") == []


def test_has_a_reason_in_plain_words_for_each_rule():
    assert all(reason.endswith(".") for reason in REASONS.values())
