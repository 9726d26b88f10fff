"""One typographic dress for every message."""

import hashlib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completions.dialogues.normaliser import VERSION, plain, typed

DRESSES = {
    "curly quotes and long dash": (
        "I\u2019m \u201cfine\u201d \u2014 really\u2026",
        'I\'m "fine" - really...',
    ),
    "single quotes and short dash": (
        "He said \u2018no\u2019 \u2013 twice",
        "He said 'no' - twice",
    ),
    "quotes of other languages": ("\u00aboui\u00bb, \u201eja\u201c", '"oui", "ja"'),
    "a range of numbers stays together": (
        "three\u2013five, but 3\u20135 days",
        "three - five, but 3-5 days",
    ),
    "typed dash": ("well -- all right", "well - all right"),
    "typed dash without spaces": ("well--all right", "well - all right"),
    "one word in emphasis": ("I'm *so* tired", "I'm so tired"),
    "emphasis": ("**Bold** and _soft_ and `x`", "Bold and soft and x"),
    "strong emphasis": ("***very*** much", "very much"),
    "emphasis in emphasis": ("**a _b_ c** and (~~no~~)", "a b c and (no)"),
    "emphasis before a sign": ("It is **theirs**, not *yours*.", "It is theirs, not yours."),
    "label run into its text": ("**Breathe:**in and out", "Breathe:in and out"),
    "blocks become one paragraph": ("# Head\n\n- one\n- two\n\n> said", "Head one two said"),
    "bullets of word processors": ("\u2022 one\n\u2013 two\n\u25e6 three", "one two three"),
    "a list to tick off": ("- [ ] sleep\n- [x] eat", "sleep eat"),
    "underlined heading": ("Head\n====\nand so on", "Head and so on"),
    "a line across": ("one\n\n---\n\ntwo\n* * *\nthree", "one two three"),
    "code in a fence": ("Look:\n```python\nbreathe()\n```\nThere.", "Look: breathe() There."),
    "a fence left open": ("Look:\n~~~\nbreathe()", "Look: breathe()"),
    "link keeps its words": ("see [this page](https://example.org/a)", "see this page"),
    "link with a title": ('see [it](https://example.org/a_(b) "Help")', "see it"),
    "picture keeps its words": ("![a hug](hug.png)", "a hug"),
    "link in angles": ("<https://example.org>", "https://example.org"),
    "tags": ("<b>Be</b>low<br>and <em>on</em>", "Below and on"),
    "spaces": ("two  spaces\u00a0and\u200b a\ttab\r\n", "two spaces and a tab"),
    "marks that nobody sees": ("\ufeffa\u00adb\u2060c\U000e0041d\u200de\0f", "abcdef"),
    "composed letters": ("cafe\u0301", "café"),
    "letters composed across a mark": ("cafe\u200b\u0301", "café"),
}


@pytest.mark.parametrize(("written", "shown"), DRESSES.values(), ids=DRESSES)
def test_dress_is_taken_off(written, shown):
    assert plain(written) == shown


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("one\r\ntwo\rthree\n", "one\ntwo\nthree\n"),
        ("\u200b" * 20, ""),
        ("\u3164\u2800\u00ad\ufeff", ""),
        ("a\0b\u200bc", "abc"),
        ("cafe\u0301", "caf\u00e9"),
        ("**so** \u201ctired\u201d", "**so** \u201ctired\u201d"),
        ("\U0001f469\u200d\U0001f467", "\U0001f469\u200d\U0001f467"),
        ("\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", None),
    ],
    ids=[
        "line ends",
        "zero width",
        "blanks of other scripts",
        "marks inside a word",
        "composed letters",
        "its dress stays",
        "an emoji stays joined",
        "Persian keeps what keeps its letters apart",
    ],
)
def test_what_was_typed_comes_without_what_nobody_sees(sent, kept):
    assert typed(sent) == (sent if kept is None else kept)


@pytest.mark.parametrize(
    "text",
    [
        "2 * 3 * 4 = 24",
        "5*3*2",
        "snake_case_name",
        "I love* this",
        "f**k this, f**k that and *** them all",
        "e-mail and well-being",
        "That's 5 o'clock - or later.",
        ":-) ;-) <3 >:( ^_^ -_- *_* T_T ^_^",
        "a --> b <-- c",
        "#1 on my list",
        "I gave [some] of it (most) back",
        "1. First. 2. Second.",
        "\U0001f469\u200d\U0001f467 \u2764\ufe0f",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "***",
        "**",
    ],
)
def test_words_that_look_like_markup_stay(text):
    assert plain(text) == text


marked_up = st.text(
    alphabet=st.sampled_from(
        "ab1 .-\u2013\u2014*_`~#=>\n'\u2019\u201c\"\u2026[]()<>/\u200b\u200d\u0301\u2022x!é\u00b4"
    ),
    max_size=40,
)


@given(st.one_of(marked_up, st.text(max_size=40)))
def test_a_second_pass_changes_nothing(text):
    assert plain(plain(text)) == plain(text)


@given(marked_up, st.sampled_from("a7é*#-_`>~="))
def test_what_can_be_seen_never_disappears_altogether(text, sign):
    assert plain(sign)
    assert plain(text + sign)


@given(st.one_of(marked_up, st.text(max_size=60)))
def test_letters_and_digits_stay(text):
    def letters(text):
        parts = unicodedata.normalize("NFD", text)
        return [sign for sign in parts if sign.isascii() and sign.isalnum()]

    shown = plain(text)
    dropped = "[" in text or "<" in text or "```" in text or "~~~" in text
    assert dropped or letters(shown) == letters(text)


@given(st.text(max_size=60))
def test_result_is_one_line_without_typographic_signs(text):
    shown = plain(text)
    assert not set(shown) & set(
        "\n\r\t\u00a0\u200b\u2019\u2018\u201c\u201d\u2013\u2014\u2026\ufeff"
    )
    assert shown == shown.strip()


@pytest.mark.parametrize("marks", ["# ", "> ", "- ", "* - ", "+ "])
def test_many_layers_of_markup_are_left_rather_than_waited_for(marks):
    assert plain(marks * 2_000 + "x").endswith(" x")


def test_another_dress_has_another_version():
    """Who changes what comes out raises VERSION, for it is part of every study's protocol."""
    dressed = "\n".join(plain(typed) for typed, _shown in DRESSES.values())
    digest = hashlib.sha256(dressed.encode()).hexdigest()[:12]

    assert (VERSION, digest) == ("normaliser-2", "1aca0e051a5b")
