"""Counts of a written completion, and the texts that cannot be accepted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completions.dialogues.wording import (
    MAX_CHARACTERS,
    MAX_WORDS,
    MIN_WORDS,
    UnusableTextError,
    check_text,
    count_sentences,
    count_words,
)


class TestCountWords:
    @pytest.mark.parametrize(
        ("text", "n_words"),
        [
            ("", 0),
            ("  ...  !? ", 0),
            ("I hear you.", 3),
            ("That's a mother-in-law's worry", 4),
            ("It\u2019s been a lot", 4),
            ("one,two;three", 3),
            ("caf\u00e9 na\u00efve \u00fcber", 3),
            ("\u042f \u0440\u044f\u0434\u043e\u043c", 2),
            ("24 hours, 7 days", 4),
            ("snake_case counts twice", 4),
            ("मैं आपकी बात समझ रहा हूँ", 6),
            ("உங்களை புரிந்துகொள்கிறேன்", 2),
            ("أَنَا مَعَكَ", 2),
            ("می\u200cشود گفت", 2),
            ("cafe\u0301s re\u0301sume\u0301", 2),
            ("我很抱歉听到这个消息。这一定很难受。", 8),
            ("ฉันเข้าใจ", 4),
            ("それは2 days大変。", 5),
        ],
        ids=[
            "empty",
            "punctuation alone",
            "a sentence",
            "apostrophes and hyphens inside words",
            "a curly apostrophe",
            "no spaces",
            "accents",
            "another script",
            "numbers",
            "an underscore parts words",
            "vowel signs",
            "signs that join consonants",
            "vowel points",
            "a joiner inside a word",
            "accents apart from their letters",
            "no spaces, two letters each",
            "no spaces, and vowel signs",
            "two scripts in one",
        ],
    )
    def test_counts(self, text, n_words):
        assert count_words(text) == n_words

    @given(st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True)))
    def test_counts_what_spaces_part(self, words):
        assert count_words(" ".join(words)) == len(words)


class TestCountSentences:
    @pytest.mark.parametrize(
        ("text", "n_sentences"),
        [
            ("", 0),
            ("I hear you", 1),
            ("I hear you. What happened then?", 2),
            ("Oh no!!! Really?!", 2),
            ("Well... I see\u2026 and then", 3),
            ("It cost 3.50 then.", 1),
            ("...", 0),
        ],
        ids=[
            "empty",
            "no full stop",
            "two",
            "repeated signs",
            "ellipses",
            "a decimal point",
            "signs alone",
        ],
    )
    def test_counts(self, text, n_sentences):
        assert count_sentences(text) == n_sentences


class TestCheckText:
    def test_returns_the_text_without_white_space_around_it(self):
        assert check_text("\n  That sounds lonely. \n") == "That sounds lonely."

    @pytest.mark.parametrize("text", ["", "   ", "Oh no", "!!! ... ???"])
    def test_refuses_too_few_words_and_says_how_many_it_takes(self, text):
        with pytest.raises(UnusableTextError, match="at least 3 words"):
            check_text(text)

    def test_refuses_too_many_words_and_says_how_many_there_are(self):
        with pytest.raises(UnusableTextError, match="151 words, and 150 is the most"):
            check_text("word " * (MAX_WORDS + 1))

    @pytest.mark.parametrize(
        "text",
        ["உங்களை புரிந்துகொள்கிறேன் " * 40 + "நன்றி", "我很抱歉听到这个消息。"],
        ids=["many vowel signs", "no spaces"],
    )
    def test_accepts_a_text_whose_script_counts_otherwise(self, text):
        assert check_text(text) == text

    def test_refuses_too_many_characters_and_says_so(self):
        with pytest.raises(UnusableTextError, match="4,001 characters, and 4,000 is the most"):
            check_text("a b c " + "d" * (MAX_CHARACTERS - 5))

    @pytest.mark.parametrize("n_words", [MIN_WORDS, MAX_WORDS])
    def test_accepts_both_ends_of_the_range(self, n_words):
        text = " ".join(["word"] * n_words)

        assert check_text(text) == text

    @given(st.text(max_size=200))
    def test_returns_what_it_would_return_again_or_refuses(self, text):
        try:
            accepted = check_text(text)
        except UnusableTextError:
            return

        assert check_text(accepted) == accepted
        assert MIN_WORDS <= count_words(accepted) <= MAX_WORDS
