"""The codebook of rationales: what is shipped, and what is refused."""

import pytest

from annotation.rationales.themes import CodebookError, load_codebook, parse_codebook

THEME = """
[[themes]]
key = "warmth"
name = "Warmth"
about = "E"
means = "Warm or cold."
patterns = ['warm']
examples = ["A is warm.", "Warmer."]
counterexamples = ["A is short.", "It swarms."]
"""
HEAD = 'name = "ours"\nversion = "1"\n'


def found(text):
    return {theme.key for theme in load_codebook().themes if theme.is_in(text)}


class TestShipped:
    def test_has_themes_for_each_dimension_skills_and_form(self):
        book = load_codebook("heart-1")

        about = {theme.about for theme in book.themes}
        assert about == {"H", "E", "A", "R", "T", "skill", "form"}
        assert book.reference == "heart-1"
        assert len(book.sha256) == 64

    @pytest.mark.parametrize(
        ("text", "keys"),
        [
            ("A validates her anger and asks what happened.", {"validates", "asks"}),
            ("B JUMPS STRAIGHT TO ADVICE.", {"too-early", "doable-step"}),
            ("Shorter.", {"length"}),
            ("Better.", set()),
            ("", set()),
            (
                "A: \N{WHITE SMILING FACE} she feels heard, and it is not generic",
                {"listens", "own-details"},
            ),
        ],
        ids=["two themes", "capitals", "one word", "no theme", "no text", "signs"],
    )
    def test_finds_what_a_rationale_speaks_of(self, text, keys):
        assert found(text) == keys

    def test_finds_nothing_inside_words(self):
        assert "asks" not in found("She wears masks.")

    def test_is_named_when_another_is_asked_for(self):
        with pytest.raises(
            CodebookError, match='no codebook of rationales "heart-9"; known are heart-1'
        ):
            load_codebook("heart-9")


class TestParsing:
    def test_reads_a_codebook_of_ones_own(self):
        book = parse_codebook(HEAD + THEME)

        assert [theme.key for theme in book.themes] == ["warmth"]

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            (
                HEAD + THEME.replace("'warm'", "'hot'"),
                'warmth does not find its example "A is warm."',
            ),
            (HEAD + THEME.replace("A is short", "A warms"), 'finds its counterexample "A warms."'),
            (HEAD + THEME.replace("'warm'", "'(warm'"), "no regular expression"),
            (HEAD + THEME + THEME, "every key may be used once, found twice: warmth"),
            (HEAD, "themes"),
            (HEAD + THEME.replace('"E"', '"Q"'), "about"),
            (HEAD + THEME + "colour = 1", "colour"),
            ("name = ", "not valid TOML"),
        ],
        ids=["misses", "catches", "pattern", "twice", "empty", "dimension", "unknown", "no TOML"],
    )
    def test_refuses_what_does_not_hold_together(self, text, reason):
        with pytest.raises(CodebookError, match=reason.replace("(", r"\(")):
            parse_codebook(text)
