"""The codebook that ships, and what a codebook must be."""

import pytest

from completions.strategies import rules
from completions.strategies.rules import CodebookError

MINIMAL = """
name = "own"
version = "1"
[[strategies]]
key = "listening"
name = "Listening"
shows = "Says back what was said."
leaves_out = "Silence."
"""


def parse(text):
    return rules.parse_codebook(text, source="own-1.toml")


class TestShippedCodebook:
    def test_has_the_fifteen_strategies_of_the_protocol(self):
        assert [one.name for one in rules.load_codebook().strategies] == [
            "Affirmation",
            "Avoiding judgment and criticism",
            "Chit-chat",
            "Clarification",
            "Collaborative planning",
            "Emotional validation",
            "Normalising experiences",
            "Offering hope",
            "Promoting self-care",
            "Providing different perspectives",
            "Reflective statements",
            "Reframing negative thoughts",
            "Sharing information",
            "Stress management",
            "Suggesting options",
        ]

    def test_never_changes_once_published(self):
        assert rules.load_codebook().sha256 == (
            "a0d075d340ddea90074fd9d98ceae8b4f6890db7935b4fc69377ca1a7e244302"
        )

    def test_has_keys_that_fit_their_column(self):
        assert max(map(len, rules.load_codebook().keys)) <= 40

    def test_is_the_only_one_of_its_name(self):
        with pytest.raises(CodebookError, match='no codebook "heart-9"; known are heart-1'):
            rules.load_codebook("heart-9")


class TestACodebook:
    def test_is_named_by_name_and_version(self):
        assert (parse(MINIMAL).reference, parse(MINIMAL).keys) == ("own-1", ("listening",))

    def test_has_a_hash_of_its_content_alone(self):
        assert parse(f"# a comment\n{MINIMAL}").sha256 == parse(MINIMAL).sha256
        assert parse(MINIMAL.replace("Silence", "Noise")).sha256 != parse(MINIMAL).sha256

    @pytest.mark.parametrize(
        ("wrong", "fault"),
        [
            ("name = ", "not valid TOML"),
            (MINIMAL.replace('"listening"', '"Listening!"'), "strategies.0.key"),
            (MINIMAL.replace("shows", "displays"), "strategies.0.shows: Field required"),
            (MINIMAL + MINIMAL[MINIMAL.index("[[") :], "every key may be used once"),
        ],
        ids=["no TOML", "no key", "an unknown field", "a key twice"],
    )
    def test_that_is_none_is_refused_with_its_place(self, wrong, fault):
        with pytest.raises(CodebookError, match=fault) as refused:
            parse(wrong)

        assert "own-1.toml" in str(refused.value)
