"""Dialogues as dataset hubs serve them, put into ESConv's native spelling: pure.

A record that is in one of the formats to the letter never comes here.
"""

import json
from collections.abc import Mapping
from typing import Any

from completions.dialogues.ingest.dialogue import Role

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
