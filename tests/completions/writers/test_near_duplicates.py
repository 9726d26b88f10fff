"""Which texts are near-duplicates, and which only have phrases in common."""

import json

import numpy as np
import pytest
from numpy.typing import NDArray

from completions.writers.near_duplicates import most_like
from tests.helpers.datasets import shared_file

TEXT = (
    "Losing the allotment after nine years must feel like losing a room of your own. What did the "
    "mornings there give you that nothing else does?"
)
SAME_TALK = (
    "Nine years is a long time to tend something, and now the gate is locked. Would it help to say "
    "which part of those mornings you miss most?"
)
PHRASES = (
    ("I am so sorry to hear that.", "I am so sorry to hear that. Has she called since?"),
    (
        "I am sorry to hear that you lost the flat. Would you like to say more about it?",
        "I am sorry to hear that the exam went badly. Do you want to tell me how you feel?",
    ),
    (
        "That sounds really hard, and it makes sense that you feel this way about your brother.",
        "That sounds really hard. You carried the whole move alone, and nobody even asked.",
    ),
)


def is_like(one: str, other: str) -> bool:
    return most_like(one, [("other", other)]) is not None


class TestATextIsLike:
    @pytest.mark.parametrize(
        "other",
        [
            pytest.param(TEXT, id="itself"),
            pytest.param(TEXT.upper().replace("?", " ... "), id="itself in another dress"),
            pytest.param(TEXT.replace("ALLOTMENT".lower(), "garden"), id="itself but for a word"),
            pytest.param(f"Thank you for telling me. {TEXT} Take your time.", id="itself in more"),
            pytest.param(TEXT.partition(".")[0], id="its first sentence"),
            pytest.param(TEXT.replace("e", "e\u0301"), id="itself with accents"),
        ],
    )
    def test_whichever_comes_first(self, other):
        assert is_like(TEXT, other)
        assert is_like(other, TEXT)

    def test_a_short_one_of_the_same_words(self):
        assert is_like("You could write her a letter.", "you could write her a letter")

    def test_the_one_that_has_most_of_it(self):
        half = TEXT.split(". ")[1]
        found = most_like(TEXT, [("half", half), ("all", f"{TEXT} Or not?"), ("none", SAME_TALK)])

        assert found is not None
        assert (found.key, found.contained) == ("all", 1.0)

    def test_and_says_which_words_of_it(self):
        other = f"Tell me: {TEXT.replace('Losing', 'To lose').lower()}"

        found = most_like(TEXT, [("other", other)])

        assert found is not None
        assert found.matched == TEXT.removeprefix("Losing ").removesuffix("?")


class TestATextIsNotLike:
    @pytest.mark.parametrize(("one", "other"), [(TEXT, SAME_TALK), *PHRASES])
    def test_another_that_shares_a_dialogue_or_what_everybody_says(self, one, other):
        assert not is_like(one, other)

    @pytest.mark.parametrize("other", ["", "?!", "Oh", TEXT[:20]])
    def test_next_to_nothing(self, other):
        assert not is_like(TEXT, other)
        assert not is_like(other, TEXT)

    def test_a_very_short_one_of_the_same_words(self):
        assert not is_like("I am here.", "I am here.")


@pytest.fixture(scope="module")
def turns():
    """A thousand messages of 20 to 60 words by supporters of ESConv, of different dialogues."""
    dialogues = json.loads(shared_file("esconv/ESConv.json").read_text("utf-8"))
    picked = list[str]()
    for dialogue in dialogues:
        said = (one["content"] for one in dialogue["dialog"] if one["speaker"] == "supporter")
        picked += [text for text in said if 20 <= len(text.split()) <= 60][:1]
    return picked[:1000]


class TestOnSupportersOfEsconv:
    @pytest.mark.parametrize(
        ("one_in", "most"), [(100, 0), pytest.param(20, 2, marks=pytest.mark.full)]
    )
    def test_hardly_any_two_people_write_alike(self, turns, one_in, most):
        asked = turns[::one_in]

        alike = [
            text for text in asked if most_like(text, [(x, x) for x in turns if x is not text])
        ]

        assert len(turns) > 900
        assert len(alike) <= most

    def test_a_text_is_known_again_with_every_eighth_word_exchanged(self, turns):
        rng = np.random.default_rng(5)
        vocabulary = np.array(" ".join(turns).split())

        known = sum(is_like(_changed(text, vocabulary, rng), text) for text in turns[:200])

        assert known >= 180


def _changed(text: str, vocabulary: NDArray[np.str_], rng: np.random.Generator) -> str:
    words = text.split()
    exchanged = rng.random(len(words)) < 1 / 8
    return " ".join(np.where(exchanged, rng.choice(vocabulary, len(words)), words))
