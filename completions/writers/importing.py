"""Messages that people wrote elsewhere: what a row of a file holds, and what is refused; pure.

``docs/writers.md`` describes the files.
"""

import datetime as dt
import unicodedata
from dataclasses import dataclass
from typing import Annotated, BinaryIO, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError

from completions.dialogues.ingest.dialogue import Utterance
from completions.dialogues.wording import Key, Message, Moment, plain
from completions.files.reading import Columns
from completions.files.refusals import Reason, Refused, bad_fields, refused
from completions.files.rows import MOST_ROWS, RowFile

LONGEST_NAME = 120
BACKGROUNDS = ("", "CROWD", "PEER", "CLINICIAN")


@dataclass(frozen=True)
class WrittenRow:
    """One message as the file has it, and the line on which it begins."""

    position: int
    context: str
    text: str
    author: str
    background: str = ""
    written_at: dt.datetime | None = None

    @property
    def source_name(self) -> str:
        """Whose text it is."""
        return self.author


def _composed(name: str) -> str:
    """Spell a name in one way, so that one author is one author."""
    return unicodedata.normalize("NFC", name)


def _background(value: object) -> str:
    """Read a background in any case; null and nothing are none."""
    found = value.strip().upper() if isinstance(value, str) else value or ""
    if found not in BACKGROUNDS:
        msg = "is none of crowd, peer and clinician"
        raise ValueError(msg)
    return str(found)


Author = Annotated[
    Utterance, AfterValidator(plain), AfterValidator(_composed), Field(max_length=LONGEST_NAME)
]


class MessageRecord(BaseModel):
    """The columns; others are not read."""

    context: Key
    text: Message
    author: Author
    background: Annotated[str, BeforeValidator(_background)] = ""
    written_at: Moment = None


COLUMNS = tuple(MessageRecord.model_fields)
REQUIRED = tuple(name for name, field in MessageRecord.model_fields.items() if field.is_required())
WrittenFile: TypeAlias = RowFile[WrittenRow]


def written_file(file: BinaryIO, *, most_rows: int = MOST_ROWS) -> WrittenFile:
    """Return the messages of a file in any layout that `input_files` reads."""
    columns = Columns(COLUMNS, REQUIRED)
    return RowFile(file, columns, checked, what="messages", most_rows=most_rows)


def checked(value: object, position: int) -> WrittenRow | tuple[Refused, ...]:
    """Check what stands in a row; every field at fault is told."""
    if not isinstance(value, dict):
        return (refused(position, "", Reason.UNREADABLE, "is not an object with these fields"),)
    try:
        return WrittenRow(position, **dict(MessageRecord.model_validate(value)))
    except ValidationError as error:
        return bad_fields(error, position)
