"""Every format comes out the same: merged turns with roles, labels, one hash."""

import itertools
import json
import re

import pytest
from hypothesis import given

from completions.dialogues.demo import DIALOGUES
from completions.dialogues.ingest.dialogue import BadRecord, IngestError, ParsedDialogue
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
    parse_record,
    shared_file,
    write_array,
    write_lines,
)

SPELLED = {"native": native, "hub": hub, "failed": failed, "own": own}
EVERY_SPELLING = pytest.mark.parametrize("spelled", SPELLED.values(), ids=SPELLED)
MERGED = [
    (SUPPORTER, "Good evening. What is on your mind?"),
    (SEEKER, "The flat is so quiet since she left."),
    (SUPPORTER, "Quiet can be loud. When is it worst?"),
]


def read(path):
    return list(read_dialogues(path))


def only(folder, record, **fields):
    """Return the dialogue of a file that has this record alone."""
    (found,) = read_dialogues(write_lines(folder / "talks.jsonl", [record]), **fields)
    assert isinstance(found, ParsedDialogue), found
    return found


def said(dialogue):
    return [(turn.role, turn.text) for turn in dialogue.turns]


class TestEverySpelling:
    @EVERY_SPELLING
    def test_gives_the_same_turns_with_the_same_roles(self, spelled, tmp_path):
        parsed = only(tmp_path, spelled(emotion_type=None))

        assert said(parsed) == MERGED
        assert (parsed.n_utterances, parsed.emotion_type) == (4, "")
        assert parsed.content_hash == parse_record(native(), 1).content_hash

    @EVERY_SPELLING
    def test_keeps_labels_as_found_and_in_one_spelling(self, spelled):
        labels = {"emotion_type": "Sudden  Shame", "problem_type": "Issues with Parents"}

        parsed = parse_record(spelled(**labels, situation=" At  home\n"), 1)

        assert parsed.emotion_type == "sudden shame"
        assert parsed.problem_type == "conflict with parents"
        assert parsed.source_labels.items() >= labels.items()
        assert parsed.situation == "At home"

    @pytest.mark.parametrize("spelled", [native, hub, failed])
    def test_keeps_stray_strategies_and_scores_as_they_are(self, spelled):
        stray, scores = "Self-disclosure (mild)", {"seeker": {"empathy": "5", "relevance": None}}

        labels = parse_record(spelled(strategy=stray, survey_score=scores), 1).source_labels

        assert labels["strategies"] == [[stray, stray], [], [stray]]
        assert labels["survey_score"] == scores

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


SAID = [("user", "The flat is quiet."), ("assistant", "When is it worst?")]


def dialogue(name, *, who="role", what="content", speakers=("user", "assistant"), **more):
    """Return the dialogue as a dataset hub may serve it, under some names."""
    turns = [{who: one, what: text} for one, (_, text) in zip(speakers, SAID, strict=True)]
    return {name: turns, **more}


NATIVE = dialogue("dialog", who="speaker", speakers=("seeker", "supporter"))
RECORDS = {
    "a whole record as a text": {"text": json.dumps(NATIVE | {"emotion_type": "sadness"})},
    "the turns as a text": {"dialog": json.dumps(NATIVE["dialog"]), "emotion_type": "sadness"},
    "speakers in capitals": dialogue("dialog", who="speaker", speakers=("Seeker", "SUPPORTER")),
    "users and assistants": dialogue("dialog", who="speaker"),
    "in capitals": dialogue("dialog", who="speaker", what="text", speakers=("USR", "SYS")),
    "models": dialogue("conversations", who="from", what="value", speakers=("human", "gpt")),
    "messages": dialogue("messages"),
    "therapists": dialogue("conversation", who="speaker", speakers=("Client", "Therapist")),
    "turns of another spelling": dialogue("turns", what="text"),
    "nothing where labels may stand": NATIVE
    | {"situation": None, "source": None, "survey_score": None, "emotion_type": None},
    "no annotation": {"dialog": [{**one, "annotation": None} for one in NATIVE["dialog"]]},
    "numbers for labels": NATIVE | {"emotion_type": 3, "problem_type": 7, "id": 12},
    "parts of content": {
        "messages": [
            {"role": role, "content": [{"type": "text", "text": text}]} for role, text in SAID
        ]
    },
    "instructions before the talk": {
        "messages": [{"role": "system", "content": "Be kind."}, *dialogue("messages")["messages"]]
    },
}


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_each_layout_of_a_hub_gives_the_same_turns(tmp_path, record):
    turns = [(role, text) for role, (_, text) in zip((SEEKER, SUPPORTER), SAID, strict=True)]

    assert said(only(tmp_path, record)) == turns


def test_labels_are_kept_wherever_they_stand(tmp_path):
    assert only(tmp_path, RECORDS["a whole record as a text"]).emotion_type == "sadness"
    assert only(tmp_path, RECORDS["numbers for labels"]).emotion_type == "3"
    assert only(tmp_path, RECORDS["numbers for labels"]).source_id == "12"


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [("Question", ("Question",)), (["Question", "Others"], ("Question", "Others")), (None, ())],
)
def test_one_strategy_a_list_or_none_is_read(tmp_path, strategy, expected):
    first, second = NATIVE["dialog"]
    record = {"dialog": [first, {**second, "annotation": {"strategy": strategy}}]}

    assert only(tmp_path, record).turns[1].strategies == expected


def test_rows_of_a_table_hold_their_dialogue_as_text(tmp_path):
    path = tmp_path / "talks.csv"
    cell = json.dumps(NATIVE["dialog"]).replace('"', '""')
    path.write_text(f'id,dialog,emotion_type\n7,"{cell}",sadness\n', encoding="utf-8")

    (found,) = read(path)

    assert (found.source_id, found.emotion_type) == ("7", "sadness")


HEBREW = {
    "messages": [
        {"role": "user", "content": "הדירה שקטה כל כך."},
        {"role": "assistant", "content": "מתי זה הכי קשה?"},
    ]
}


class TestLanguage:
    def test_what_the_file_states_is_kept(self, tmp_path):
        assert only(tmp_path, HEBREW | {"language": "he"}).language == "he"
        assert only(tmp_path, NATIVE | {"lang": "de"}).language == "en"  # no key of ESConv's
        assert only(tmp_path, dialogue("messages", lang="de")).language == "de"

    def test_what_was_asked_for_holds_where_nothing_is_stated(self, tmp_path):
        assert only(tmp_path, HEBREW, language="he").language == "he"
        assert only(tmp_path, NATIVE, language="de").language == "de"

    def test_another_language_than_asked_for_is_told(self, tmp_path):
        path = write_lines(tmp_path / "talks.jsonl", [HEBREW | {"language": "he"}, NATIVE])

        found, _ = read_dialogues(path, language="de")

        assert str(found) == "dialogue 1 (line 1): states the language he, not de"

    def test_another_script_is_never_taken_for_english(self, tmp_path):
        _, found = read(write_lines(tmp_path / "talks.jsonl", [NATIVE, HEBREW]))

        assert str(found).startswith("dialogue 2 (line 2): is in another script than English")


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
            "dialogue 2, utterance 5", "speaker: expected 'seeker' or 'supporter', found 'listener'"
        )


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


class TestContentHash:
    def test_is_the_same_whatever_the_labels_the_split_and_the_spaces(self):
        whole = native((SEEKER, "One. Two."), (SUPPORTER, "Yes."))
        split = native(
            (SEEKER, " One.\n"), (SEEKER, "\tTwo.\u00a0 "), (SUPPORTER, "Yes."), emotion_type="fear"
        )

        one, other = (parse_record(spelled, 1) for spelled in (whole, split))

        assert said(one) == said(other) == [(SEEKER, "One. Two."), (SUPPORTER, "Yes.")]
        assert one.content_hash == other.content_hash

    def test_changes_with_the_speaker(self):
        one = native((SEEKER, "Yes."), (SUPPORTER, "Yes!"))
        other = native((SUPPORTER, "Yes."), (SEEKER, "Yes!"))

        assert parse_record(one, 1).content_hash != parse_record(other, 1).content_hash


def test_the_demos_dialogues_are_marked_as_written_for_it():
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

    def test_has_failed_dialogues_that_are_read_with_their_stray_labels(self):
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
