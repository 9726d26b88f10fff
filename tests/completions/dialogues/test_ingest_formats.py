"""Every format comes out the same: merged turns with roles, labels, one hash."""

import itertools
import json
import re

import pytest
from hypothesis import given

from completions.dialogues.demo import DIALOGUES
from completions.dialogues.ingest.dialogue import (
    BadRecord,
    IngestError,
    ParsedDialogue,
    normal_label,
)
from completions.dialogues.ingest.files import read_dialogues
from completions.dialogues.ingest.records import ItemRecord, OwnRecord, OwnTurn
from tests.helpers.datasets import (
    REPOSITORY,
    SEEKER,
    SUPPORTER,
    UTTERANCES,
    failed,
    hub,
    item,
    native,
    own,
    shared_file,
    write_array,
    write_lines,
)
from tests.helpers.records import parse_record

SPELLED = {"native": native, "hub": hub, "failed": failed, "own": own}
EVERY_SPELLING = pytest.mark.parametrize("spelled", SPELLED.values(), ids=SPELLED)
MERGED = [
    (SUPPORTER, "Good evening. What is on your mind?"),
    (SEEKER, "The flat is so quiet since she left."),
    (SUPPORTER, "Quiet can be loud. When is it worst?"),
]


def read(path):
    return list(read_dialogues(path))


def said(dialogue):
    return [(turn.role, turn.text) for turn in dialogue.turns]


class TestEverySpelling:
    @EVERY_SPELLING
    @pytest.mark.parametrize("write", [write_array, write_lines])
    def test_gives_the_same_turns_with_the_same_roles(self, spelled, write, tmp_path):
        (parsed,) = read(write(tmp_path / "talks", [spelled(emotion_type=None)]))

        assert said(parsed) == MERGED
        assert (parsed.n_utterances, parsed.emotion_type) == (4, "")
        assert parsed.content_hash == parse_record(native(), 1).content_hash

    @EVERY_SPELLING
    def test_keeps_labels_as_found_and_in_one_spelling(self, spelled):
        labels = {"emotion_type": "Shame", "problem_type": "Issues with Parents"}

        parsed = parse_record(spelled(**labels, situation=" At  home\n"), 1)

        assert (parsed.emotion_type, parsed.problem_type) == ("shame", "conflict with parents")
        assert parsed.source_labels.items() >= labels.items()
        assert parsed.situation == "At home"

    @pytest.mark.parametrize("spelled", [native, hub, failed])
    def test_keeps_stray_strategies_as_they_are(self, spelled):
        parsed = parse_record(spelled(strategy="Self-disclosure (mild)"), 1)

        stray = "Self-disclosure (mild)"
        assert parsed.source_labels["strategies"] == [[stray, stray], [], [stray]]

    @given(said=UTTERANCES)
    def test_loses_no_word_and_leaves_no_two_turns_of_one_role_side_by_side(self, said):
        parsed = [parse_record(spelled(*said), 1) for spelled in SPELLED.values()]

        for one in parsed:
            words = [(turn.role, word) for turn in one.turns for word in turn.text.split()]
            assert words == [(role, word) for role, text in said for word in text.split()]
            roles = [turn.role for turn in one.turns]
            assert all(a != b for a, b in itertools.pairwise(roles))
            assert one.n_utterances == len(said)
        assert len({one.content_hash for one in parsed}) == 1


class TestOwnFormat:
    def test_keeps_what_it_says_of_itself_and_its_turns(self):
        record = own(
            (SEEKER, "夜里睡不着。"),
            (SUPPORTER, "多久了。"),
            id="clinic-7",
            language="ZH-hans-cn",
            source="Written for a test",
            metadata={"domain": "debts", "wave": 2},
        )
        record["turns"][1]["strategies"] = ["Question", "Reflection"]

        parsed = parse_record(record, 1)

        assert said(parsed) == [(SEEKER, "夜里睡不着。"), (SUPPORTER, "多久了。")]
        assert (parsed.source_id, parsed.language) == ("clinic-7", "zh-Hans-CN")
        assert parsed.source_labels == {
            "source": "Written for a test",
            "metadata": {"domain": "debts", "wave": 2},
            "strategies": [[], ["Question", "Reflection"]],
        }

    def test_is_of_no_known_language_unless_it_says_so(self):
        assert parse_record(own(), 1).language == "und"
        assert parse_record(native(), 1).language == "en"

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"emotion": "fear"}, "emotion: is not a key of this format"),
            ({"a long key, with things said": 1}, "a key of another name: is not a key of this"),
            ({"language": "English!"}, "language: is not a language tag of BCP 47"),
            ({"id": "x" * 121}, "id: String should have at most 120 characters"),
            ({"turns": []}, "both a seeker and a supporter must speak"),
            ({"turns": [{"role": "user", "text": "Hi"}]}, "utterance 1: role: expected 'seeker'"),
            ({"turns": [{"text": "Hi"}]}, "utterance 1: role: is missing"),
            ({"turns": [{"role": "seeker", "text": "Hi", "at": 3}]}, "utterance 1: at: is not a"),
            ({"turns": ["Hi"]}, "utterance 1: expected an object"),
            ({"metadata": {"note": "\x00"}}, "metadata: contains a character that cannot"),
            ({"metadata": {"deep": json.loads("[" * 60 + "]" * 60)}}, "metadata: is nested deeper"),
        ],
    )
    def test_is_refused_with_its_place(self, change, message):
        with pytest.raises(IngestError) as caught:
            parse_record(own() | change, 3)

        assert str(caught.value).startswith("dialogue 3")
        assert message in str(caught.value)


class TestMixedFormats:
    @pytest.mark.parametrize(
        ("first", "second", "names"),
        [
            (native(), hub(), "is in the hub's spelling of ESConv, the first record in ESConv's n"),
            (hub(), failed(), "is in ESConv's failed dialogues, the first record in the hub's sp"),
            (own(), native(), "is in ESConv's native JSON, the first record in the plain format"),
            (native(), item(), "is in the benchmark authors' items, the first record in ESConv's"),
        ],
    )
    def test_are_a_bad_record(self, first, second, names, tmp_path):
        good, bad, also_good = read(write_lines(tmp_path / "mixed.jsonl", [first, second, first]))

        assert isinstance(good, ParsedDialogue)
        assert isinstance(also_good, ParsedDialogue)
        assert bad.place == "dialogue 2 (line 2)"
        assert names in bad.reason

    def test_of_speakers_in_one_dialogue_are_a_bad_record(self, tmp_path):
        mixed = native()
        mixed["dialog"] += failed()["dialog"]

        _, bad = read(write_array(tmp_path / "mixed.json", [native(), mixed]))

        assert bad == BadRecord(
            "dialogue 2, utterance 5",
            "speaker: expected 'seeker' or 'supporter', found 'listener'",
        )


class TestRealFiles:
    def test_of_failed_dialogues_are_read_with_their_stray_labels(self):
        dialogues = read(shared_file("esconv/FailedESConv.json"))

        assert len(dialogues) == 196
        assert all(isinstance(one, ParsedDialogue) for one in dialogues)
        assert sum(one.n_utterances for one in dialogues) == 5_230
        strategies = {
            strategy
            for one in dialogues
            for turn in one.source_labels.get("strategies", ())
            for strategy in turn
        }
        assert len(strategies) == 12
        assert all(turn.text == turn.text.strip() for one in dialogues for turn in one.turns)


class TestDocumentedFormat:
    PAGE = (REPOSITORY / "docs" / "dialogues.md").read_text(encoding="utf-8")

    def test_has_an_example_that_can_be_imported(self):
        (example,) = re.findall(r"```json\n(.*?)```", self.PAGE, re.DOTALL)

        parsed = parse_record(json.loads(example), 1)

        assert parsed.source_id == "night-12"
        assert [turn.role for turn in parsed.turns] == [SUPPORTER, SEEKER, SUPPORTER]

    @pytest.mark.parametrize(
        ("heading", "models", "prefix"),
        [
            ("Our own format", (OwnRecord, OwnTurn), "turns[]."),
            ("The authors' items", (ItemRecord,), ""),
        ],
    )
    def test_has_every_key_and_whether_it_is_required(self, heading, models, prefix):
        section = self.PAGE.partition(f"### {heading}\n")[2].partition("\n#")[0]
        listed = {
            key: needed
            for keys, needed in re.findall(
                r"^\| (`.+?) \| (required|optional) \|", section, re.MULTILINE
            )
            for key in re.findall(r"`(.+?)`", keys)
        }

        assert listed == {
            (prefix if model is not models[0] else "") + name: (
                "required" if field.is_required() else "optional"
            )
            for model in models
            for name, field in model.model_fields.items()
        }


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
        assert normal_label(raw) == normal

    def test_keep_the_scores_of_the_survey(self):
        scores = {"seeker": {"empathy": "5", "relevance": None}}

        labels = parse_record(native(survey_score=scores), 1).source_labels
        assert labels["survey_score"] == scores


class TestContentHash:
    def test_is_the_same_whatever_the_labels_the_split_and_the_spaces(self):
        whole = native((SEEKER, "One. Two."), (SUPPORTER, "Yes."))
        split = native(
            (SEEKER, " One.\n"),
            (SEEKER, "\tTwo.\u00a0 "),
            (SUPPORTER, "Yes."),
            emotion_type="fear",
        )

        one, other = (parse_record(spelled, 1) for spelled in (whole, split))

        assert said(one) == said(other) == [(SEEKER, "One. Two."), (SUPPORTER, "Yes.")]
        assert one.content_hash == other.content_hash

    def test_changes_with_the_speaker(self):
        one = native((SEEKER, "Yes."), (SUPPORTER, "Yes!"))
        other = native((SUPPORTER, "Yes."), (SEEKER, "Yes!"))

        assert parse_record(one, 1).content_hash != parse_record(other, 1).content_hash


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
