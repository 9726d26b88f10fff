"""The formats: how each is recognised, and what is said of a record that does not fit."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from completions.dialogues.ingest.dialogue import ParsedDialogue
from completions.dialogues.ingest.errors import BadRecord
from completions.dialogues.ingest.hubs import converted
from completions.dialogues.ingest.items import ItemRecord
from completions.dialogues.ingest.records import (
    FailedRecord,
    HubRecord,
    NativeRecord,
    OwnRecord,
    Record,
)

WORD = re.compile(r"[\w-]{1,20}")
UTTERANCES = {"dialog", "turns", "dialogue_history"}


@dataclass(frozen=True)
class Format:
    """One way to write dialogues down."""

    name: str
    record: type[Record]
    noun: str = "dialogue"


NATIVE = Format("ESConv's native JSON", NativeRecord)
HUB = Format("the hub's spelling of ESConv", HubRecord)
FAILED = Format("ESConv's failed dialogues", FailedRecord)
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
