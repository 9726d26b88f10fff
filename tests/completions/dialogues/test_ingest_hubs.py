"""Dialogues as dataset hubs serve them: each layout gives the same dialogue."""

import json
from pathlib import Path
from typing import Any

import pytest

from completions.dialogues.ingest.dialogue import BadRecord, ParsedDialogue
from completions.dialogues.ingest.files import read_dialogues

SAID = [("user", "The flat is quiet."), ("assistant", "When is it worst?")]
ROLES = ["seeker", "supporter"]


def dialogue(
    name: str,
    *,
    who: str = "role",
    what: str = "content",
    speakers: tuple[str, str] = ("user", "assistant"),
    **more: Any,
) -> dict[str, Any]:
    """Return the dialogue under some names."""
    turns = [{who: one, what: text} for one, (_, text) in zip(speakers, SAID, strict=True)]
    return {name: turns, **more}


NATIVE = dialogue("dialog", who="speaker", speakers=("seeker", "supporter"))
RECORDS: dict[str, dict[str, Any]] = {
    "a whole record as a text": {"text": json.dumps(NATIVE | {"emotion_type": "sadness"})},
    "the turns as a text": {"dialog": json.dumps(NATIVE["dialog"]), "emotion_type": "sadness"},
    "speakers in capitals": dialogue("dialog", who="speaker", speakers=("Seeker", "SUPPORTER")),
    "users and assistants": dialogue("dialog", who="speaker"),
    "usr and sys in capitals": dialogue(
        "dialog", who="speaker", what="text", speakers=("USR", "SYS")
    ),
    "people and models": dialogue(
        "conversations", who="from", what="value", speakers=("human", "gpt")
    ),
    "messages": dialogue("messages"),
    "clients and therapists": dialogue(
        "conversation", who="speaker", speakers=("Client", "Therapist")
    ),
    "turns of another spelling": dialogue("turns", what="text"),
    "nothing where labels may stand": NATIVE
    | {"situation": None, "source": None, "survey_score": None, "emotion_type": None},
    "no annotation": {
        "dialog": [{**one, "annotation": None} for one in NATIVE["dialog"]],
    },
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


def read(folder: Path, *records: object, **fields: Any) -> list[ParsedDialogue | BadRecord]:
    path = folder / "talks.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return list(read_dialogues(path, **fields))


def only(folder: Path, record: object, **fields: Any) -> ParsedDialogue:
    [found] = read(folder, record, **fields)
    assert isinstance(found, ParsedDialogue), found
    return found


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_each_layout_of_a_hub_gives_the_same_turns(tmp_path, record):
    found = only(tmp_path, record)

    assert [turn.role for turn in found.turns] == ROLES
    assert [turn.text for turn in found.turns] == [text for _, text in SAID]


def test_labels_are_kept_wherever_they_stand(tmp_path):
    assert only(tmp_path, RECORDS["a whole record as a text"]).emotion_type == "sadness"
    assert only(tmp_path, RECORDS["numbers for labels"]).emotion_type == "3"
    assert only(tmp_path, RECORDS["numbers for labels"]).source_id == "12"


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("Question", ("Question",)),
        (["Question", "Others"], ("Question", "Others")),
        (None, ()),
        ([], ()),
    ],
)
def test_one_strategy_a_list_or_none_is_read(tmp_path, strategy, expected):
    first, second = NATIVE["dialog"]
    record = {"dialog": [first, {**second, "annotation": {"strategy": strategy}}]}

    assert only(tmp_path, record).turns[1].strategies == expected


def test_rows_of_a_table_hold_their_dialogue_as_text(tmp_path):
    path = tmp_path / "talks.csv"
    cell = json.dumps(NATIVE["dialog"]).replace('"', '""')
    path.write_text(f'id,dialog,emotion_type\n7,"{cell}",sadness\n', encoding="utf-8")

    [found] = read_dialogues(path)

    assert isinstance(found, ParsedDialogue)
    assert (found.source_id, found.emotion_type) == ("7", "sadness")


HEBREW = dialogue("messages") | {
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
        [found] = read(tmp_path, HEBREW | {"language": "he"}, NATIVE, language="de")[:1]

        assert str(found) == "dialogue 1: states the language he, not de"

    def test_another_script_is_never_taken_for_english(self, tmp_path):
        found = read(tmp_path, NATIVE, HEBREW)[1]

        assert "another script than English" in str(found)


def test_a_record_without_a_dialogue_is_told_with_its_place(tmp_path):
    found = read(tmp_path, NATIVE, {"messages": [{"role": "judge", "content": "Hm."}]})[1]

    assert isinstance(found, BadRecord)
    assert found.place == "dialogue 2 (line 2)"
