"""One typographic dress for every message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completions.normaliser import plain


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("I\u2019m \u201cfine\u201d \u2014 really\u2026", 'I\'m "fine" - really...'),
        ("He said \u2018no\u2019 \u2013 twice", "He said 'no' - twice"),
        ("three\u2013five, but 3\u20135 days", "three - five, but 3-5 days"),
        ("well -- all right", "well - all right"),
        ("**Bold** and _soft_ and `x`", "Bold and soft and x"),
        ("***very*** much", "very much"),
        ("# Head\n\n- one\n- two\n\n> said", "Head one two said"),
        ("see [this page](https://example.org/a)", "see this page"),
        ("two  spaces\u00a0and\u200b a\ttab\r\n", "two spaces and a tab"),
        ("cafe\u0301", "café"),
    ],
    ids=[
        "curly quotes and long dash",
        "single quotes and short dash",
        "a range of numbers stays together",
        "typed dash",
        "emphasis",
        "strong emphasis",
        "blocks become one paragraph",
        "link keeps its words",
        "spaces",
        "composed letters",
    ],
)
def test_dress_is_taken_off(typed, shown):
    assert plain(typed) == shown


@pytest.mark.parametrize(
    "text",
    [
        "2 * 3 * 4 = 24",
        "snake_case_name",
        "I love* this",
        "e-mail and well-being",
        "That's 5 o'clock - or later.",
    ],
)
def test_words_that_look_like_markup_stay(text):
    assert plain(text) == text


@given(
    st.text(
        alphabet=st.sampled_from("ab1 .-\u2013\u2014*_`~#>\n'\u2019\u201c\"\u2026[]()"), max_size=40
    )
)
def test_a_second_pass_changes_nothing(text):
    assert plain(plain(text)) == plain(text)


@given(st.text(max_size=60))
def test_result_is_one_line_without_typographic_signs(text):
    shown = plain(text)
    assert not set(shown) & set("\n\r\t\u00a0\u2019\u2018\u201c\u201d\u2013\u2014\u2026")
    assert shown == shown.strip()
