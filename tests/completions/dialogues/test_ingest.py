import pytest

from completions.dialogues import ingest
from completions.dialogues.demo import DIALOGUES
from tests.helpers.datasets import shared_file


def utterance(speaker, content, strategy=None):
    return {
        "speaker": speaker,
        "content": content,
        "annotation": {"strategy": strategy} if strategy else {},
    }


def record(*utterances, **labels):
    said = utterances or (utterance("seeker", "I am lost."), utterance("supporter", "Tell me."))
    return {"dialog": list(said), **labels}


class TestMerging:
    def test_joins_consecutive_utterances_of_one_speaker(self):
        parsed = ingest.parse_record(
            record(
                utterance("supporter", "Hello."),
                utterance("supporter", "How are you?", "Question"),
                utterance("seeker", "Tired."),
            ),
            1,
        )

        assert [(turn.role, turn.text) for turn in parsed.turns] == [
            ("supporter", "Hello. How are you?"),
            ("seeker", "Tired."),
        ]
        assert parsed.turns[0].strategies == ("Question",)
        assert parsed.n_utterances == 3

    def test_strips_stray_whitespace(self):
        parsed = ingest.parse_record(
            record(utterance("seeker", " a\n\tb  c\u00a0 \r\n"), utterance("supporter", "d ")), 1
        )

        assert [turn.text for turn in parsed.turns] == ["a b c", "d"]


class TestLabels:
    @pytest.mark.parametrize(
        ("raw", "normal"),
        [
            pytest.param("Issues with Parents", "conflict with parents", id="synonym"),
            pytest.param("conflict with parents", "conflict with parents", id="as it is"),
            pytest.param(" Sleep  Problems", "sleep problems", id="case and spaces"),
            pytest.param("", "", id="none"),
        ],
    )
    def test_have_one_spelling(self, raw, normal):
        assert ingest.normal_label(raw) == normal

    def test_are_kept_as_the_source_has_them(self):
        parsed = ingest.parse_record(
            record(
                utterance("seeker", "I failed."),
                utterance("supporter", "Which one?", "Question"),
                emotion_type="Shame",
                problem_type="Issues with Parents",
                survey_score={"seeker": {"empathy": "5", "relevance": None}},
            ),
            1,
        )

        assert parsed.emotion_type == "shame"
        assert parsed.source_labels == {
            "emotion_type": "Shame",
            "problem_type": "Issues with Parents",
            "survey_score": {"seeker": {"empathy": "5", "relevance": None}},
            "strategies": [[], ["Question"]],
        }


class TestContentHash:
    def test_is_the_same_whatever_the_labels_and_the_split_into_utterances(self):
        whole = record(utterance("seeker", "One. Two."), utterance("supporter", "Yes."))
        split = record(
            utterance("seeker", "One."),
            utterance("seeker", "Two. "),
            utterance("supporter", "Yes."),
            emotion_type="fear",
        )

        hashes = {ingest.parse_record(one, 1).content_hash for one in (whole, split)}

        assert len(hashes) == 1

    def test_changes_with_the_speaker(self):
        one = record(utterance("seeker", "Yes."), utterance("supporter", "Yes!"))
        other = record(utterance("supporter", "Yes."), utterance("seeker", "Yes!"))

        assert (
            ingest.parse_record(one, 1).content_hash != ingest.parse_record(other, 1).content_hash
        )


def read(path):
    return list(ingest.read_dialogues(path))


class TestDemoDialogues:
    def test_are_marked_as_written_for_the_demo(self):
        dialogues = read(DIALOGUES)

        assert len(dialogues) == 12
        assert {dialogue.source_labels["source"] for dialogue in dialogues} == {
            "Written for HEART's demo; not a record of real people"
        }
        assert all(8 <= dialogue.n_utterances <= 14 for dialogue in dialogues)


class TestESConv:
    def test_has_the_published_counts(self):
        dialogues = read(shared_file("esconv/ESConv.json"))

        assert len(dialogues) == 1300
        assert sum(dialogue.n_utterances for dialogue in dialogues) == 38_365
        assert sum(len(dialogue.turns) for dialogue in dialogues) == 30_392
        assert len({dialogue.content_hash for dialogue in dialogues}) == 1300
        assert len({dialogue.problem_type for dialogue in dialogues}) == 12
        assert len({dialogue.emotion_type for dialogue in dialogues}) == 11
