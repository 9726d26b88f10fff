"""The gold set that ships, and what a gold set must be."""

import re
from collections import Counter

import pytest

from annotation.quality import gold
from annotation.quality.gold import GoldError
from annotation.studies.protocol import STUDIES, load_protocol
from completions.contexts import screening
from completions.dialogues.normaliser import plain
from completions.leaks.rules import find_leaks

TEXT = (gold.SETS / "heart-1.toml").read_text(encoding="utf-8")
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


def messages(pair):
    return [pair.high, pair.low]


def texts(pair):
    return [*(turn.text for turn in pair.turns), *messages(pair)]


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

    def test_messages_of_a_pair_are_about_equally_long(self, subtests):
        for pair in every_pair():
            with subtests.test(pair.key):
                high, low = (len(text) for text in messages(pair))

                assert 0.8 < high / low < 1.25

    def test_messages_have_the_form_that_was_asked_of_every_writer(self, subtests):
        for pair in every_pair():
            with subtests.test(pair.key):
                for text in messages(pair):
                    assert 20 <= len(text.split()) <= 45
                    assert SENTENCE_END.search(text)

    def test_length_does_not_give_the_answer_away(self):
        longer = sum(len(pair.high) > len(pair.low) for pair in every_pair())

        assert 0.4 <= longer / len(every_pair()) <= 0.6

    def test_the_normaliser_finds_nothing_to_change(self, subtests):
        for pair in every_pair():
            with subtests.test(pair.key):
                for text in texts(pair):
                    assert plain(text) == text
                    assert text.isascii()

    def test_no_message_names_a_source_or_its_purpose(self, subtests):
        for pair in every_pair():
            with subtests.test(pair.key):
                for text in texts(pair):
                    assert GIVES_ITSELF_AWAY.search(text) is None

    def test_the_leak_filter_would_hold_no_message_back(self, subtests):
        for pair in every_pair():
            with subtests.test(pair.key):
                for text in messages(pair):
                    assert find_leaks(text) == ()

    def test_screening_finds_nothing_that_would_remove_the_dialogue(self, subtests):
        for pair in every_pair():
            with subtests.test(pair.key):
                for text in texts(pair):
                    prescribes = pair.dimension == "T" and text == pair.low  # its very fault
                    found = screening.disqualifying(text, language="en")
                    assert {one.rule for one in found} <= ({"clinical"} if prescribes else set())


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.toml")), ids=lambda path: path.stem)
def test_a_study_that_ships_names_a_set_that_ships(path):
    study = load_protocol(path)

    assert (study.checks.gold_set == "") is (study.slug == "quick")  # there is none for any text
    if study.checks.gold_set:
        assert gold.load_gold_set(study.checks.gold_set).rubric == study.rubric


MINIMAL = """
name = "own"
version = "1"
rubric = "heart-1"
[[pairs]]
key = "one"
dimension = "H"
turns = [{ role = "supporter", text = "Hello." }, { role = "seeker", text = "I'm sad." }]
high = "I'm sorry. What is it?"
low = "Sadness is noted."
"""


class TestBadSet:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            pytest.param("name = ", "x.toml: not valid TOML: Invalid value", id="not TOML"),
            pytest.param(
                MINIMAL.replace('version = "1"', ""),
                "x.toml: version: Field required",
                id="missing",
            ),
            pytest.param(
                MINIMAL + 'hint = "x"', "x.toml: pairs.0.hint: Extra inputs", id="unknown field"
            ),
            pytest.param(
                MINIMAL.replace('role = "seeker"', 'role = "supporter"'),
                "x.toml: pairs.0: turns must alternate between seeker and supporter",
                id="one speaker twice",
            ),
            pytest.param(
                MINIMAL.replace("supporter", "x")
                .replace("seeker", "supporter")
                .replace('"x"', '"seeker"'),
                "x.toml: pairs.0: the last turn must be the seeker's",
                id="ends on the supporter",
            ),
            pytest.param(
                MINIMAL.replace("Sadness is noted.", "I'm sorry. What is it?"),
                "x.toml: pairs.0: high and low must differ",
                id="equal messages",
            ),
            pytest.param(
                MINIMAL + MINIMAL[MINIMAL.index("[[pairs]]") :],
                "x.toml: every key may be used once, found twice: one",
                id="pair twice",
            ),
            pytest.param(
                MINIMAL.replace('dimension = "H"', 'dimension = "Z"'),
                "x.toml: one: no dimension Z in heart-1: H, E, A, R, T",
                id="unknown dimension",
            ),
            pytest.param(
                MINIMAL.replace('rubric = "heart-1"', 'rubric = "heart-9"'),
                'x.toml: rubric: there is no rubric "heart-9"',
                id="unknown rubric",
            ),
        ],
    )
    def test_is_refused_with_file_field_and_reason(self, text, message):
        with pytest.raises(GoldError) as caught:
            gold.parse_gold_set(text, source="x.toml")

        assert message in str(caught.value)

    def test_unknown_reference_names_the_known_ones(self):
        with pytest.raises(GoldError, match='there is no gold set "heart-9"; known are heart-1'):
            gold.load_gold_set("heart-9")

    def test_reference_cannot_leave_the_folder(self):
        with pytest.raises(GoldError):
            gold.load_gold_set("../gold/heart-1")

    def test_file_must_be_named_after_its_content(self, tmp_path, monkeypatch):
        (tmp_path / "heart-2.toml").write_text(TEXT, encoding="utf-8")
        monkeypatch.setattr(gold, "SETS", tmp_path)

        with pytest.raises(GoldError, match=r"heart-2\.toml: holds heart-1"):
            gold.load_gold_set("heart-2")


class TestContent:
    def test_hash_does_not_depend_on_comments_and_layout(self):
        other = "# a comment\n" + TEXT.replace("\n\n", "\n\n\n")

        assert gold.parse_gold_set(other, source="x").sha256 == heart().sha256

    def test_hash_changes_with_a_word(self):
        changed = gold.parse_gold_set(TEXT.replace("Biscuit", "Cookie"), source="x")

        assert changed.sha256 != heart().sha256
