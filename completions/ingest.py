"""Read dialogues from ESConv's native JSON: pure, with the position at fault in every error."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from pydantic import AfterValidator, BaseModel, Field, ValidationError

Role = Literal["seeker", "supporter"]

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
INVISIBLE = ("Cc", "Cf", "Zl", "Zp", "Zs")  # Unicode categories that draw nothing
SYNONYMS = {"issues with parents": "conflict with parents"}


class IngestError(ValueError):
    """A file cannot be read as dialogues; the message says where and why."""


def _storable(text: str) -> str:
    if UNSTORABLE.search(text):
        msg = "contains a character that cannot be stored: NUL, or half of a surrogate pair"
        raise ValueError(msg)
    return text


def _storable_json(value: dict[str, Any]) -> dict[str, Any]:
    _storable(json.dumps(value, ensure_ascii=False, allow_nan=False).replace("\\u0000", "\x00"))
    return value


def _one_line(text: str) -> str:
    """Collapse whitespace, so that formatting cannot tell one source from another."""
    line = " ".join(text.split())
    if all(unicodedata.category(character) in INVISIBLE for character in line):
        msg = "is empty"
        raise ValueError(msg)
    return line


Text = Annotated[str, AfterValidator(_storable)]
Utterance = Annotated[Text, AfterValidator(_one_line)]
Label = Annotated[str, Field(max_length=60), AfterValidator(_storable)]
Scores = Annotated[dict[str, Any], AfterValidator(_storable_json)]


class AnnotationRecord(BaseModel):
    """What the source says about one utterance."""

    strategy: Label | None = None


class UtteranceRecord(BaseModel):
    """One utterance as the file has it."""

    speaker: Role
    content: Utterance
    annotation: AnnotationRecord = AnnotationRecord()


class DialogueRecord(BaseModel):
    """One dialogue as the file has it; keys not named here are ignored."""

    dialog: list[UtteranceRecord]
    situation: Text = ""
    emotion_type: Label = ""
    problem_type: Label = ""
    experience_type: Label = ""
    survey_score: Scores = {}
    source: Text = ""


@dataclass(frozen=True)
class Turn:
    """Consecutive utterances of one speaker, merged."""

    role: Role
    text: str
    strategies: tuple[str, ...] = ()


@dataclass(frozen=True)
class ParsedDialogue:
    """One dialogue, merged into turns, with its labels normalised and as imported."""

    turns: tuple[Turn, ...]
    n_utterances: int
    situation: str
    emotion_type: str
    problem_type: str
    source_labels: dict[str, Any]
    content_hash: str


def read_dialogues(path: Path) -> tuple[ParsedDialogue, ...]:
    """Read and check every dialogue of a file.

    Raises
    ------
    IngestError
        If the file is missing, not UTF-8, not JSON or not in ESConv's native format, or if one
        of its dialogues does not hold what a dialogue needs.
    """
    return parse_records(load_records(path))


def load_records(path: Path) -> list[object]:
    """Return the entries of a JSON file, not yet checked one by one.

    Raises
    ------
    IngestError
        If the file is missing, not UTF-8, not JSON or not in a known format.
    """
    text = _decode(path)
    try:
        content: object = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        msg = f"{path}: not valid JSON at line {error.lineno}, column {error.colno}: {error.msg}"
        raise IngestError(msg) from error
    except (ValueError, RecursionError) as error:
        msg = f"{path}: not valid JSON: {error}"
        raise IngestError(msg) from error
    return _check_format(content, path)


def parse_records(records: Iterable[object]) -> tuple[ParsedDialogue, ...]:
    """Check each entry of a file and merge it into turns; positions count from 1.

    Raises
    ------
    IngestError
        If an entry does not hold what a dialogue needs.
    """
    return tuple(parse_record(record, number) for number, record in enumerate(records, start=1))


def parse_record(record: object, number: int) -> ParsedDialogue:
    """Check one entry, the ``number``-th of its file, and merge it into turns.

    Raises
    ------
    IngestError
        If the entry does not hold what a dialogue needs.
    """
    try:
        checked = DialogueRecord.model_validate(record)
    except ValidationError as error:
        raise IngestError(_explain(error, number)) from error
    turns = merge(checked.dialog)
    if {turn.role for turn in turns} != {"seeker", "supporter"}:
        msg = f"dialogue {number}: both a seeker and a supporter must speak"
        raise IngestError(msg)
    return ParsedDialogue(
        turns=turns,
        n_utterances=len(checked.dialog),
        situation=" ".join(checked.situation.split()),
        emotion_type=normal_label(checked.emotion_type),
        problem_type=normal_label(checked.problem_type),
        source_labels=_source_labels(checked, turns),
        content_hash=content_hash(turns),
    )


def merge(utterances: Iterable[UtteranceRecord]) -> tuple[Turn, ...]:
    """Join consecutive utterances of one speaker into turns, by a space."""
    turns: list[Turn] = []
    for utterance in utterances:
        strategy = utterance.annotation.strategy
        turn = Turn(utterance.speaker, utterance.content, (strategy,) if strategy else ())
        if turns and turns[-1].role == turn.role:
            last = turns.pop()
            turn = Turn(turn.role, f"{last.text} {turn.text}", (*last.strategies, *turn.strategies))
        turns.append(turn)
    return tuple(turns)


def normal_label(label: str) -> str:
    """Return the one spelling of a label that sources spell in several ways."""
    normal = " ".join(label.split()).casefold()
    return SYNONYMS.get(normal, normal)


def content_hash(turns: Iterable[Turn]) -> str:
    """Return the SHA-256 of what is said and by whom; labels do not enter."""
    said = [[turn.role, turn.text] for turn in turns]
    canonical = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _decode(path: Path) -> str:
    try:
        return path.read_bytes().decode().removeprefix("\ufeff")
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror}"
        raise IngestError(msg) from error
    except UnicodeDecodeError as error:
        found = error.object[error.start]
        msg = f"{path}: not UTF-8: unexpected byte 0x{found:02x} at position {error.start}"
        raise IngestError(msg) from error


def _refuse_constant(name: str) -> NoReturn:
    msg = f"{name} is not a JSON number"
    raise ValueError(msg)


def _check_format(content: object, path: Path) -> list[object]:
    if content == []:
        msg = f"{path}: holds no dialogues"
        raise IngestError(msg)
    first = content[0] if isinstance(content, list) else None
    if not isinstance(content, list) or not isinstance(first, dict) or "dialog" not in first:
        msg = (
            f"{path}: unknown format: expected ESConv's native JSON, a list of dialogues that "
            f'each hold a list of utterances under "dialog"'
        )
        raise IngestError(msg)
    return content


def _explain(error: ValidationError, number: int) -> str:
    """Say where the first problem of a dialogue is; never repeat what was said in it."""
    first = error.errors()[0]
    place = [f"dialogue {number}"]
    fields = list(first["loc"])
    if len(fields) > 1 and fields[0] == "dialog":
        place.append(f"utterance {int(fields[1]) + 1}")
        fields = fields[2:]
    named = "".join(f": {field}" for field in fields)
    return f"{', '.join(place)}{named}: {_reason(first['type'], first['msg'], first['input'])}"


def _reason(kind: str, message: str, found: object) -> str:
    if kind == "missing":
        return "is missing"
    if kind in {"model_type", "list_type"}:
        return f"expected {'a list' if kind == 'list_type' else 'an object'}"
    if kind == "literal_error":
        return f"expected 'seeker' or 'supporter', found {str(found)[:40]!r}"
    return message.removeprefix("Value error, ")


def _source_labels(record: DialogueRecord, turns: Iterable[Turn]) -> dict[str, Any]:
    labels = record.model_dump(exclude={"dialog", "situation"}, exclude_defaults=True)
    strategies = [list(turn.strategies) for turn in turns]
    return labels | {"strategies": strategies} if any(strategies) else labels
