"""The formats: how each is recognised, hubs' layouts included, and what does not fit them."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from completions.dialogues.ingest.dialogue import BadRecord, ParsedDialogue, Role
from completions.dialogues.ingest.records import (
    DialogueRecord,
    EsconvRecord,
    FailedUtterance,
    HubUtterance,
    ItemRecord,
    NativeUtterance,
    OwnRecord,
)

WORD = re.compile(r"[\w-]{1,20}")
UTTERANCES = {"dialog", "turns", "dialogue_history"}


@dataclass(frozen=True)
class Format:
    """One way to write dialogues down."""

    name: str
    record: type[DialogueRecord]
    noun: str = "dialogue"


NATIVE = Format("ESConv's native JSON", EsconvRecord[NativeUtterance])
HUB = Format("the hub's spelling of ESConv", EsconvRecord[HubUtterance])
FAILED = Format("ESConv's failed dialogues", EsconvRecord[FailedUtterance])
ITEMS = Format("the benchmark authors' items", ItemRecord, noun="item")
OWN = Format("the plain format of our own", OwnRecord)

BY_SPEAKER = {
    "seeker": NATIVE,
    "supporter": NATIVE,
    "usr": HUB,
    "sys": HUB,
    "speaker": FAILED,
    "listener": FAILED,
}
EXPECTED = (
    'expected objects with "dialog" (ESConv in one of its three spellings), "dialogue_history" '
    '(the benchmark authors\' items), "turns" (the format of our own), or "messages" or '
    '"conversations" with a speaker and a text each'
)


def first_format(record: object) -> Format | None:
    """Return the format that a file is in, by its first record; None if it is in none."""
    if isinstance(record, Mapping) and isinstance(record.get("dialog"), list):
        return _spelling(record["dialog"]) or NATIVE
    found = recognised(record)
    return NATIVE if found in {None, OWN} and _is_served(record, found) else found


def _is_served(record: object, found: Format | None) -> bool:
    """Whether a record is a dialogue as hubs serve them, and not to the letter one of ours."""
    if found is OWN:
        return not _is_spelled_like_ours(record) and _served(record) is not None
    return converted(record) is not None


def recognised(record: object) -> Format | None:
    """Return the format that a record is certainly in."""
    if not isinstance(record, Mapping):
        return None
    if "dialogue_history" in record:
        return ITEMS
    if "turns" in record:
        return OWN
    return _spelling(record.get("dialog"))


def _is_spelled_like_ours(record: object) -> bool:
    """Whether some turn names its parts and its speaker as our own format does."""
    turns = record["turns"] if isinstance(record, Mapping) else None
    named = [one for one in turns if isinstance(one, Mapping)] if isinstance(turns, list) else []
    return not named or any(
        "text" in one and one.get("role") in ("seeker", "supporter") for one in named
    )


def parse(record: object, among: Format, place: str) -> ParsedDialogue | BadRecord:
    """Check a record of a file in that format, and merge it into turns."""
    try:
        return among.record.model_validate(record).parsed()
    except ValidationError as error:
        other = recognised(record)
        if among is NATIVE and other in {None, NATIVE, OWN} and (served := _served(record)):
            return served
        if other not in {None, among}:
            return BadRecord(place, f"is in {other.name}, the first record in {among.name}")
        return _explained(error, place)
    except ValueError as error:
        return BadRecord(place, str(error))


def _served(record: object) -> ParsedDialogue | None:
    """Return the dialogue of a record as hubs serve them, or None if it holds none."""
    try:
        return NATIVE.record.model_validate(converted(record)).parsed()
    except ValueError:
        return None


def _spelling(dialog: object) -> Format | None:
    """Return the spelling that the first speaker belongs to who has a known name."""
    for utterance in dialog if isinstance(dialog, list) else ():
        speaker = utterance.get("speaker") if isinstance(utterance, Mapping) else None
        if isinstance(speaker, str) and speaker in BY_SPEAKER:
            return BY_SPEAKER[speaker]
    return None


def _explained(error: ValidationError, place: str) -> BadRecord:
    """Say where the first problem of a record is; never repeat what was said in it."""
    first = error.errors(include_url=False)[0]
    fields = list(first["loc"])
    if len(fields) > 1 and isinstance(fields[1], int):
        place = f"{place}, utterance {fields[1] + 1}"
        fields = fields[2:] if fields[0] in UTTERANCES else fields[:1]
    names = [_named(str(field), "a key of another name") for field in fields]
    expected = str(first.get("ctx", {}).get("expected", ""))
    reason = _reason(first["type"], first["msg"], expected, first["input"])
    return BadRecord(place, ": ".join([*names, reason]))


def _reason(kind: str, message: str, expected: str, found: object) -> str:
    reasons = {
        "missing": "is missing",
        "model_type": "expected an object",
        "model_attributes_type": "expected an object",
        "list_type": "expected a list",
        "extra_forbidden": "is not a key of this format",
        "literal_error": f"expected {expected}, found {_named(repr(found), 'something else')}",
    }
    return reasons.get(kind, message.removeprefix("Value error, "))


def _named(text: str, otherwise: str) -> str:
    """Return a name as it is, and anything longer, which may be something said, by a word."""
    return text if WORD.fullmatch(text.strip("'")) else otherwise


# Dialogues as dataset hubs serve them, put into ESConv's native spelling: pure.
#
# A record that is in one of the formats to the letter never comes here.

LISTS = ("dialog", "dialogue", "messages", "conversations", "conversation", "turns", "utterances")
SPEAKERS = ("speaker", "role", "from")
TEXTS = ("content", "text", "value", "utterance")
LABELS = ("emotion_type", "problem_type", "experience_type", "source", "situation")
_SEEKERS = "seeker user usr human client patient visitor caller"
_SUPPORTERS = "supporter assistant sys gpt bot chatbot model ai therapist counselor counsellor"
ROLE_OF: Mapping[str, Role] = {
    **dict.fromkeys(_SEEKERS.split(), "seeker"),
    **dict.fromkeys(_SUPPORTERS.split(), "supporter"),
}
INSTRUCTIONS = frozenset({"system", "developer", "tool"})
"""Who speaks in a chat and is neither of the two: what they say is no turn."""


def converted(record: object) -> dict[str, Any] | None:
    """Return a record in ESConv's native spelling, or None if it holds no dialogue."""
    if not isinstance(record, Mapping):
        return None
    record = _unpacked(record)
    name = next((one for one in LISTS if isinstance(record.get(one), list)), None)
    if name is None:
        return None
    said = [_utterance(one) for one in record[name] if not _is_instruction(one)]
    if not said or None in said:
        return None
    labels = {key: _label(record[key]) for key in LABELS if record.get(key) is not None}
    scores = record.get("survey_score")
    more: dict[str, Any] = {"survey_score": scores} if isinstance(scores, Mapping) else {}
    language = record.get("language") or record.get("lang")
    more |= {} if language is None else {"language": language}
    source_id = next((record[key] for key in ("id", "dialog_id") if record.get(key)), None)
    more |= {} if source_id is None else {"id": str(source_id)}
    return {"dialog": said, **labels, **more}


def _unpacked(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a record without JSON in strings: a whole dialogue in one, or its list of turns."""
    found = dict(record)
    for name, value in record.items():
        if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
            inside = _loaded(value)
            if isinstance(inside, dict):
                found = {**found, **inside}
            elif isinstance(inside, list) and name in LISTS:
                found[name] = inside
    return found


def _loaded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _speaker(utterance: object) -> str:
    if not isinstance(utterance, Mapping):
        return ""
    named = next((utterance[one] for one in SPEAKERS if isinstance(utterance.get(one), str)), "")
    return str(named).strip().casefold()


def _is_instruction(utterance: object) -> bool:
    return _speaker(utterance) in INSTRUCTIONS


def _utterance(utterance: object) -> dict[str, Any] | None:
    """Return who says what; None if that is not known."""
    role = ROLE_OF.get(_speaker(utterance))
    if role is None or not isinstance(utterance, Mapping):
        return None
    text = next((utterance[one] for one in TEXTS if utterance.get(one) is not None), None)
    if isinstance(text, list):  # parts, as chats with pictures have them
        text = " ".join(str(one.get("text", "")) for one in text if isinstance(one, Mapping))
    annotation = utterance.get("annotation")
    labels = annotation if isinstance(annotation, Mapping) else utterance
    strategy = labels.get("strategy", labels.get("strategies"))
    return {
        "speaker": role,
        "content": text,
        "annotation": {} if strategy is None else {"strategy": strategy},
    }


def _label(value: object) -> object:
    """Return a label; some hubs number them."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
