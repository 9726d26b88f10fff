"""The style of a text in figures, whatever its script."""

import math

import pytest

from ranking.judgments.style import FEATURES, features

TEXTS = {
    # name: the text, its length, its sentences, its question marks
    "empty": ("", 0, 0, 0),
    "white space": (" \n\t ", 0, 0, 0),
    "one sentence": ("I hear you.", 11, 1, 0),
    "a question": ("I hear you. Would you like to talk?", 35, 2, 1),
    "no full stop": ("No full stop at the end", 23, 1, 0),
    "a decimal point": ("It is 3.5 miles. Really?!", 25, 2, 1),
    "marks in a row": ("What?? Why???", 13, 2, 5),
    "closing quotes": ("He said \u201cstop.\u201d Then he left.", 29, 2, 0),
    "an empty line": ("A heading\n\nand a text", 19, 2, 0),
    "marks alone": ("... !!! ???", 11, 0, 3),
    "Chinese": ("\u4f60\u597d\u5417\uff1f\u6211\u5728\u542c\u3002\u8bf7\u8bf4\u3002", 11, 3, 1),
    "Arabic": (
        "\u0643\u064a\u0641 \u062d\u0627\u0644\u0643\u061f \u0623\u0646\u0627 \u0647\u0646\u0627.",
        *(18, 2, 1),
    ),
    "Hebrew": (
        "\u05de\u05d4 \u05e9\u05dc\u05d5\u05de\u05da? \u05d0\u05e0\u05d9 \u05db\u05d0\u05df.",
        *(18, 2, 1),
    ),
    "Hindi": (
        (
            "\u0906\u092a \u0915\u0948\u0938\u0947 \u0939\u0948\u0902? "
            "\u0920\u0940\u0915 \u0939\u0942\u0901\u0964"
        ),
        *(None, 2, 1),
    ),
    "an emoji": ("\U0001f600", 1, 1, 0),
    "two emoji": ("\U0001f600 \U0001f600", 3, 1, 0),
}
LISTS = {
    "dashes": ("- breathe\n- walk", 2),
    "numbers": ("You could:\n1. breathe\n2) walk\n(3) rest", 3),
    "nested bullets": ("* one\n  + two\n\t\u2022 three", 3),
    "letters": ("a) this\nb) that", 2),
    "dashes inside a line": ("a - b - c", 0),
    "a negative number": ("-5 degrees", 0),
    "a year": ("1987 was long ago.", 0),
    "a long dash": ("\u2014 she said", 0),
    "empty items": ("- \n-\n", 0),
}


def figures(text):
    return dict(zip(FEATURES, features(text), strict=True))


@pytest.mark.parametrize(
    ("text", "length", "sentences", "question_marks"), TEXTS.values(), ids=TEXTS
)
def test_counts_characters_sentences_and_questions(text, length, sentences, question_marks):
    found = figures(text)

    assert length is None or found["length"] == length
    assert found["sentences"] == sentences
    assert found["question_marks"] == question_marks


@pytest.mark.parametrize(("text", "items"), LISTS.values(), ids=LISTS)
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
