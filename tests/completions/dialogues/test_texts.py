"""How a text is dressed, counted and laid out, and whether its licence lets it be passed on."""

import hashlib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completions.dialogues.display import direction
from completions.dialogues.licences import allows_texts, may_share
from completions.dialogues.normaliser import VERSION, plain, typed
from completions.dialogues.wording import (
    MAX_CHARACTERS,
    MAX_WORDS,
    MIN_WORDS,
    UnusableTextError,
    check_text,
    count_sentences,
    count_words,
)

DRESSES = {
    "curly quotes and long dash": (
        "I\u2019m \u201cfine\u201d \u2014 really\u2026",
        'I\'m "fine" - really...',
    ),
    "single quotes and short dash": ("He said \u2018no\u2019 \u2013 twice", "He said 'no' - twice"),
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

TYPED = {
    "line ends": ("one\r\ntwo\rthree\n", "one\ntwo\nthree\n"),
    "zero width": ("\u200b" * 20, ""),
    "blanks of other scripts": ("\u3164\u2800\u00ad\ufeff", ""),
    "marks inside a word": ("a\0b\u200bc", "abc"),
    "composed letters": ("cafe\u0301", "caf\u00e9"),
    "its dress stays": ("**so** \u201ctired\u201d", "**so** \u201ctired\u201d"),
    "an emoji stays joined": ("\U0001f469\u200d\U0001f467", "\U0001f469\u200d\U0001f467"),
    "Persian keeps what keeps its letters apart": (
        "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        None,
    ),
}


@pytest.mark.parametrize(("written", "shown"), DRESSES.values(), ids=DRESSES)
def test_dress_is_taken_off(written, shown):
    assert plain(written) == shown


@pytest.mark.parametrize(("sent", "kept"), TYPED.values(), ids=TYPED)
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


WORD_COUNTS = {
    "empty": ("", 0),
    "punctuation alone": ("  ...  !? ", 0),
    "a sentence": ("I hear you.", 3),
    "apostrophes and hyphens inside words": ("That's a mother-in-law's worry", 4),
    "a curly apostrophe": ("It\u2019s been a lot", 4),
    "no spaces": ("one,two;three", 3),
    "accents": ("caf\u00e9 na\u00efve \u00fcber", 3),
    "another script": ("\u042f \u0440\u044f\u0434\u043e\u043c", 2),
    "numbers": ("24 hours, 7 days", 4),
    "an underscore parts words": ("snake_case counts twice", 4),
    "vowel signs": ("मैं आपकी बात समझ रहा हूँ", 6),
    "signs that join consonants": ("உங்களை புரிந்துகொள்கிறேன்", 2),
    "vowel points": ("أَنَا مَعَكَ", 2),
    "a joiner inside a word": ("می\u200cشود گفت", 2),
    "accents apart from their letters": ("cafe\u0301s re\u0301sume\u0301", 2),
    "no spaces, two letters each": ("我很抱歉听到这个消息。这一定很难受。", 8),
    "no spaces, and vowel signs": ("ฉันเข้าใจ", 4),
    "two scripts in one": ("それは2 days大変。", 5),
    "letters that only look empty": ("\u3164 \u115f\u1160 \uffa0", 0),
}
SENTENCE_COUNTS = {
    "empty": ("", 0),
    "no full stop": ("I hear you", 1),
    "two": ("I hear you. What happened then?", 2),
    "repeated signs": ("Oh no!!! Really?!", 2),
    "ellipses": ("Well... I see\u2026 and then", 3),
    "a decimal point": ("It cost 3.50 then.", 1),
    "signs alone": ("...", 0),
    "Arabic": ("ما بك؟ أنا هنا.", 2),
    "Urdu": ("ٹھیک\u06d4 آئیے\u06d4", 2),
    "Hindi": ("तुम। मैं।", 2),
    "Armenian": ("Այո\u0589 Ոչ\u0589", 2),
    "Burmese": ("ကောင်း။ ဟုတ်။", 2),
    "Han without spaces": ("你好。我很好\uff01你呢\uff1f", 3),
    "halfwidth kana": ("ﾊｲ｡ｲｲｴ｡", 2),
}


@pytest.mark.parametrize(("text", "n_words"), WORD_COUNTS.values(), ids=WORD_COUNTS)
def test_words_are_counted(text, n_words):
    assert count_words(text) == n_words


@given(st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True)))
def test_what_spaces_part_are_words(words):
    assert count_words(" ".join(words)) == len(words)


@pytest.mark.parametrize(("text", "n_sentences"), SENTENCE_COUNTS.values(), ids=SENTENCE_COUNTS)
def test_sentences_are_counted(text, n_sentences):
    assert count_sentences(text) == n_sentences


class TestCheckText:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "at least 3 words"),
            ("Oh no", "at least 3 words"),
            ("!!! ... ???", "at least 3 words"),
            ("word " * (MAX_WORDS + 1), "151 words, and 150 is the most"),
            ("a b c " + "d" * (MAX_CHARACTERS - 5), "4,001 characters, and 4,000 is the most"),
        ],
        ids=["nothing", "two words", "no words", "words", "characters"],
    )
    def test_refuses_too_little_and_too_much_and_says_the_limit(self, text, said):
        with pytest.raises(UnusableTextError, match=said):
            check_text(text)

    @pytest.mark.parametrize(
        "text",
        [
            " ".join(["word"] * MIN_WORDS),
            " ".join(["word"] * MAX_WORDS),
            "உங்களை புரிந்துகொள்கிறேன் " * 40 + "நன்றி",
            "我很抱歉听到这个消息。",
        ],
        ids=["fewest words", "most words", "many vowel signs", "no spaces"],
    )
    def test_returns_what_fits_without_white_space_around_it(self, text):
        assert check_text(f"\n  {text} \n") == text

    @given(st.text(max_size=200))
    def test_returns_what_it_would_return_again_or_refuses(self, text):
        try:
            accepted = check_text(text)
        except UnusableTextError:
            return

        assert check_text(accepted) == accepted
        assert MIN_WORDS <= count_words(accepted) <= MAX_WORDS


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "auto"),
        ("und", "auto"),
        ("", "auto"),
        ("he", "rtl"),
        ("iw", "rtl"),
        ("ar-EG", "rtl"),
        ("FA", "rtl"),
        ("ur-Arab-PK", "rtl"),
        ("he-Latn", "auto"),
        ("az-Arab", "rtl"),
        ("arn", "auto"),  # Mapudungun, no Arabic
        ("zh-Hans", "auto"),
    ],
)
def test_direction_follows_the_script_or_else_the_language(language, expected):
    assert direction(language) == expected


SHARED = [
    *("CC BY 4.0", "CC-BY-NC-4.0", "cc-by-nc-sa-4.0", "CC0-1.0", "MIT", "Apache-2.0"),
    *("ODC-By 1.0", "CC-BY-SA-4.0", "cc0-1.0", "CC BY-NC 4.0", "Apache License 2.0"),
    *("Creative Commons Attribution 4.0", "CDLA-Sharing-1.0"),
    *("BSD", "BSD 2-Clause", "BSD-3-Clause License", "Apache License, Version 2.0", "CC BY v4"),
]
KEPT = [
    *("", "CC BY-ND 4.0", "cc-by-nc-nd-4.0", "All rights reserved", "mitigated", "ask us"),
    *("CC BY-NC-ND 4.0", "research only", "by agreement", "MIT-like, ask us"),
    *("CC BY-NC-ND4.0", "CC BY NoDerivatives 4.0", "CC BY 4.0 (not to be redistributed)"),
    *("BSD-4-Clause", "3-Clause", "Version 2.0"),
    *("MIT, for members of the consortium only", "CC BY 4.0 (лишь по запросу)"),
]


@pytest.mark.parametrize("licence", SHARED)
def test_texts_leave_with(licence):
    assert allows_texts(licence, is_authored=False)
    assert may_share(licence)


@pytest.mark.parametrize("licence", KEPT)
def test_texts_stay_with(licence):
    assert not allows_texts(licence, is_authored=False)
    assert allows_texts(licence, is_authored=True)
    assert not may_share(licence)
