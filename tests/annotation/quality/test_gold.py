"""The gold set that ships, and what a gold set must be."""

import re
from collections import Counter

import pytest

from annotation.quality import gold
from annotation.quality.gold import GoldError
from annotation.studies.protocol.files import STUDIES, load_protocol
from completions.contexts.screening.rules import disqualifying
from completions.dialogues.normaliser import plain
from completions.leaks.rules import find_leaks

SENTENCE_END = re.compile(r"[.?!]\"?$")
GIVES_ITSELF_AWAY = re.compile(
    r"\b(AI|A\.I\.|as an? (language )?model|language model|assistant|chatbot|bot|algorithm"
    r"|GPT|Claude|Gemini|Llama|OpenAI|Anthropic|Google|I cannot|I can't help|gold|attention check"
    r"|low|high)\b",
    re.IGNORECASE,
)


def heart():
    return gold.load_gold_set("heart-1")


def every_pair():
    return (*heart().pairs, *heart().attention)


class TestHeartSet:
    def test_has_five_or_more_pairs_for_each_dimension_and_four_for_attention(self):
        counts = Counter(pair.dimension for pair in heart().pairs)

        assert set(counts) == set("HEART")
        assert min(counts.values()) >= 5
        assert len(heart().attention) >= 4

    def test_changes_under_a_new_version_alone(self):
        assert heart().sha256 == (
            "8fe2efab3bfc9a0ad9811108c4cb1631fc544c0ed8349bf58c19293d7063af2e"
        )

    def test_messages_have_the_form_asked_of_every_writer_and_no_leak(self, subtests):
        for pair in every_pair():
            with subtests.test(pair.key):
                assert 0.8 < len(pair.high) / len(pair.low) < 1.25
                for text in (pair.high, pair.low):
                    assert 20 <= len(text.split()) <= 45
                    assert SENTENCE_END.search(text)
                    assert find_leaks(text) == ()

    def test_texts_are_plain_and_neither_give_themselves_away_nor_are_screened_out(self, subtests):
        for pair in every_pair():
            with subtests.test(pair.key):
                for text in (*(turn.text for turn in pair.turns), pair.high, pair.low):
                    prescribes = pair.dimension == "T" and text == pair.low  # its very fault
                    found = disqualifying(text, language="en")
                    assert plain(text) == text
                    assert text.isascii()
                    assert GIVES_ITSELF_AWAY.search(text) is None
                    assert {one.rule for one in found} <= ({"clinical"} if prescribes else set())

    def test_length_does_not_give_the_answer_away(self):
        longer = sum(len(pair.high) > len(pair.low) for pair in every_pair())

        assert 0.4 <= longer / len(every_pair()) <= 0.6


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.toml")), ids=lambda path: path.stem)
def test_a_study_that_ships_names_a_set_that_ships(path):
    study = load_protocol(path)

    assert (study.checks.gold_set == "") is (study.slug == "quick")  # there is none for any text
    if study.checks.gold_set:
        assert gold.load_gold_set(study.checks.gold_set).rubric == study.rubric


SUPPORTER = ', { role = "supporter", text = "Oh." }'
PAIR = """
[[pairs]]
key = "one"
dimension = "H"
turns = [{ role = "supporter", text = "Hello." }, { role = "seeker", text = "I'm sad."}]
high = "I'm sorry. What is it?"
low = "Sadness is noted."
"""
MINIMAL = f'name = "own"\nversion = "1"\nrubric = "heart-1"{PAIR}'


class TestBadSet:
    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            (PAIR, PAIR + 'hint = "x"', "pairs.0.hint: Extra inputs"),
            ('"seeker"', '"supporter"', "pairs.0: turns must alternate between seeker and"),
            ("}]", "}" + SUPPORTER + "]", "pairs.0: the last turn must be the seeker's"),
            ("Sadness is noted.", "I'm sorry. What is it?", "pairs.0: high and low must differ"),
            (PAIR, PAIR + PAIR, "every key may be used once, found twice: one"),
            ('"H"', '"Z"', "one: no dimension Z in heart-1: H, E, A, R, T"),
            ('"heart-1"', '"heart-9"', 'rubric: there is no rubric "heart-9"'),
        ],
        ids=[
            *("unknown field", "one speaker twice", "ends on the supporter", "equal messages"),
            *("pair twice", "unknown dimension", "unknown rubric"),
        ],
    )
    def test_is_refused_with_file_field_and_reason(self, old, new, message):
        with pytest.raises(GoldError) as caught:
            gold.parse_gold_set(MINIMAL.replace(old, new), source="x.toml")

        assert f"x.toml: {message}" in str(caught.value)

    def test_that_does_not_exist_is_refused_with_the_names_of_those_that_do(self):
        with pytest.raises(GoldError, match='there is no gold set "heart-9"; known are heart-1'):
            gold.load_gold_set("heart-9")
