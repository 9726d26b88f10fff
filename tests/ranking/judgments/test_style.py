"""The style of a text in figures, whatever its script."""

import math

import pytest

from ranking.judgments.style import FEATURES, features

# A question and a statement or two in each script.
CHINESE = "\u4f60\u597d\u5417\uff1f\u6211\u5728\u542c\u3002\u8bf7\u8bf4\u3002"
ARABIC = "\u0643\u064a\u0641 \u062d\u0627\u0644\u0643\u061f \u0623\u0646\u0627 \u0647\u0646\u0627."
HEBREW = "\u05de\u05d4 \u05e9\u05dc\u05d5\u05de\u05da? \u05d0\u05e0\u05d9 \u05db\u05d0\u05df."
HINDI = (
    "\u0906\u092a \u0915\u0948\u0938\u0947 \u0939\u0948\u0902? "
    "\u0920\u0940\u0915 \u0939\u0942\u0901\u0964"
)


def figures(text):
    return dict(zip(FEATURES, features(text), strict=True))


@pytest.mark.parametrize(
    ("text", "length", "sentences", "question_marks"),
    [
        ("", 0, 0, 0),
        (" \n\t ", 0, 0, 0),
        ("I hear you.", 11, 1, 0),
        ("I hear you. Would you like to talk?", 35, 2, 1),
        ("No full stop at the end", 23, 1, 0),
        ("It is 3.5 miles. Really?!", 25, 2, 1),
        ("What?? Why???", 13, 2, 5),
        ("He said \u201cstop.\u201d Then he left.", 29, 2, 0),
        ("A heading\n\nand a text", 19, 2, 0),
        ("... !!! ???", 11, 0, 3),
        (CHINESE, 11, 3, 1),
        (ARABIC, 18, 2, 1),
        (HEBREW, 18, 2, 1),
        (HINDI, None, 2, 1),
        ("\U0001f600", 1, 1, 0),
        ("\U0001f600 \U0001f600", 3, 1, 0),
    ],
    ids=[
        "empty",
        "white space",
        "one sentence",
        "a question",
        "no full stop",
        "a decimal point",
        "marks in a row",
        "closing quotes",
        "an empty line",
        "marks alone",
        "Chinese",
        "Arabic",
        "Hebrew",
        "Hindi",
        "an emoji",
        "two emoji",
    ],
)
def test_counts_characters_sentences_and_questions(text, length, sentences, question_marks):
    found = figures(text)

    assert length is None or found["length"] == length
    assert found["sentences"] == sentences
    assert found["question_marks"] == question_marks


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("- breathe\n- walk", 2),
        ("You could:\n1. breathe\n2) walk\n(3) rest", 3),
        ("* one\n  + two\n\t\u2022 three", 3),
        ("a) this\nb) that", 2),
        ("a - b - c", 0),
        ("-5 degrees", 0),
        ("1987 was long ago.", 0),
        ("\u2014 she said", 0),
        ("- \n-\n", 0),
    ],
    ids=[
        "dashes",
        "numbers",
        "nested bullets",
        "letters",
        "dashes inside a line",
        "a negative number",
        "a year",
        "a long dash",
        "empty items",
    ],
)
def test_counts_the_items_of_lists(text, items):
    assert figures(text)["list_items"] == items


def test_an_accent_counts_the_same_however_it_was_encoded():
    assert features("caf\u00e9") == features("cafe\u0301")


def test_joiners_and_direction_marks_take_up_no_room():
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"

    assert figures(family)["length"] == 3
    assert features("\u200f\u05e9\u05dc\u05d5\u05dd\u200e") == features("\u05e9\u05dc\u05d5\u05dd")


def test_a_very_long_line_without_an_end_is_read_in_one_go():
    assert features("x" * 200_000) == (200_000.0, 1.0, 0.0, 0.0)


def test_every_figure_is_a_finite_count():
    for text in ("", "\x00\x07", "\ud83d", "e\u0301" * 50, "?" * 50):
        assert all(value >= 0 and math.isfinite(value) for value in features(text))
