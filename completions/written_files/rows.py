"""What a row holds; what cannot be stored is refused here."""

import datetime as dt
import unicodedata
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError

from completions.ingest.fields import Text, Utterance
from completions.written_files.errors import Reason, RefusedRow, refused

LONGEST_KEY = 24
LONGEST_NAME = 120
EARLIEST = 1990
ALLOWED_CONTROLS = "\n\t"


@dataclass(frozen=True)
class WrittenRow:
    """One message as the file has it, and the line on which it begins."""

    line: int
    context: str
    text: str
    author: str
    background: str = ""
    written_at: dt.datetime | None = None


def _plain(text: str) -> str:
    """Refuse signs that steer a machine, and name the first by its number."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for sign in text:
        if unicodedata.category(sign) == "Cc" and sign not in ALLOWED_CONTROLS:
            msg = f"contains the control character U+{ord(sign):04X}"
            raise ValueError(msg)
    return text


def _composed(name: str) -> str:
    """Spell a name in one way, so that one author is one author."""
    return unicodedata.normalize("NFC", name)


def _upper(value: object) -> object:
    """Read a background in any case; null and nothing are none."""
    return value.strip().upper() if isinstance(value, str) else value or ""


def _moment(value: object) -> object:
    """Read ISO 8601; null and nothing are no time. Numbers are refused, not taken for seconds."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        found = dt.datetime.fromisoformat(value.strip()) if isinstance(value, str) else None
    except ValueError:
        found = None
    if found is None or found.tzinfo is None or found.year < EARLIEST:
        msg = "is not a time of ISO 8601 with its zone from 1990 on, such as 2026-01-31T18:05:00Z"
        raise ValueError(msg)
    return found


Key = Annotated[Utterance, Field(max_length=LONGEST_KEY)]
Author = Annotated[
    Utterance, AfterValidator(_plain), AfterValidator(_composed), Field(max_length=LONGEST_NAME)
]
Message = Annotated[Text, AfterValidator(_plain)]
Background = Annotated[Literal["", "CROWD", "PEER", "CLINICIAN"], BeforeValidator(_upper)]
Moment = Annotated[dt.datetime | None, BeforeValidator(_moment)]


class Record(BaseModel):
    """The columns; others are not read."""

    context: Key
    text: Message
    author: Author
    background: Background = ""
    written_at: Moment = None


COLUMNS = tuple(Record.model_fields)
REQUIRED = tuple(name for name, field in Record.model_fields.items() if field.is_required())
_SAID = {
    "missing": "is missing",
    "string_type": "is not a text",
    "string_too_long": "is too long",
    "too_long": "is too long",
    "literal_error": "is none of crowd, peer and clinician",
}


def checked(value: object, line: int) -> WrittenRow | RefusedRow:
    """Check what stands in a row."""
    if not isinstance(value, dict):
        return refused(line, Reason.UNREADABLE, "is not an object with the columns as names")
    try:
        return WrittenRow(line, **dict(Record.model_validate(value)))
    except ValidationError as error:
        return refused(line, Reason.BAD_FIELD, _explained(error))


def _explained(error: ValidationError) -> str:
    """Return the columns at fault and why, without what stands in them."""
    faults = []
    for one in error.errors(include_url=False, include_input=False):
        reason = _SAID.get(one["type"]) or one["msg"].removeprefix("Value error, ")
        faults.append(f"column {one['loc'][0]} {reason}")
    return "; ".join(faults)
