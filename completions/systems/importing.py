"""Completions of models that were made elsewhere: what a row holds, and what is refused; pure.

``docs/systems.md`` describes them.
"""

import datetime as dt
from dataclasses import dataclass
from typing import Annotated, BinaryIO, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from completions.dialogues.ingest.dialogue import Utterance
from completions.dialogues.normaliser import typed
from completions.dialogues.wording import MAX_CHARACTERS, Key, Message, Moment
from completions.files.reading import Columns
from completions.files.refusals import Reason, Refused, bad_fields, refused
from completions.files.rows import RowFile

LONGEST_SLUG = 50


@dataclass(frozen=True)
class ImportedRow:
    """One completion as it came, and where it stands: a line of a file, an index in a list."""

    position: int
    context: str
    system: str
    text: str
    model_version: str = ""
    source: str = ""
    produced_at: dt.datetime | None = None

    @property
    def line(self) -> str:
        """The text as it is shown: on one line, so that its layout cannot name its source."""
        return " ".join(self.text.split())

    @property
    def source_name(self) -> str:
        """Whose text it is."""
        return self.system


def _some(text: str) -> str:
    """Refuse a text without words; one without letters that can be seen has none."""
    if not any(sign.isalnum() for sign in typed(text)):
        msg = "has no words"
        raise ValueError(msg)
    return text


def _empty_if_null(value: object) -> object:
    return "" if value is None else value


def _line_or_empty(text: str) -> str:
    return " ".join(text.split())


Slug = Annotated[Utterance, Field(max_length=LONGEST_SLUG)]
Words = Annotated[Message, AfterValidator(_some), Field(max_length=MAX_CHARACTERS)]
Note = Annotated[Message, BeforeValidator(_empty_if_null), AfterValidator(_line_or_empty)]


class CompletionIn(BaseModel):
    """One completion."""

    model_config = ConfigDict(extra="forbid")

    context: Key = Field(description="Key of the context that it answers.")
    system: Slug = Field(description="Slug of the language model, which has to be registered.")
    text: Words = Field(description="As the model gave it; it is shown on one line.")
    model_version: Annotated[Note, Field(max_length=120)] = Field(
        default="", description="The snapshot of the model, if known."
    )
    source: Annotated[Note, Field(max_length=200)] = Field(
        default="", description="Where the text is from: a paper, a run, a data set."
    )
    produced_at: Moment = Field(
        default=None, description="When the model gave it, in ISO 8601 with its zone, if known."
    )


COLUMNS = tuple(CompletionIn.model_fields)
REQUIRED = tuple(name for name, field in CompletionIn.model_fields.items() if field.is_required())
ImportedFile: TypeAlias = RowFile[ImportedRow]


def imported_file(file: BinaryIO, *, most_rows: int) -> ImportedFile:
    """Return the completions of a file in any layout that `input_files` reads."""
    columns = Columns(COLUMNS, REQUIRED)
    return RowFile(file, columns, checked, what="completions", most_rows=most_rows)


def checked(value: object, position: int) -> ImportedRow | tuple[Refused, ...]:
    """Check what stands in a row; every field at fault is told."""
    if not isinstance(value, dict):
        return (refused(position, "", Reason.UNREADABLE, "is not an object with these fields"),)
    try:
        return ImportedRow(position, **dict(CompletionIn.model_validate(value)))
    except ValidationError as error:
        return bad_fields(error, position)
