"""What a row holds; what cannot be stored is refused here."""

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)
from pydantic_core import ErrorDetails

from completions.brought.errors import Reason, Refused, refused
from completions.ingest.fields import Utterance
from completions.wording import MAX_CHARACTERS
from completions.written_files import Message, Moment

LONGEST_KEY = 24
LONGEST_SLUG = 50
LONGEST_NAME = 100


@dataclass(frozen=True)
class BroughtRow:
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


def _some(text: str) -> str:
    """Refuse a text without words; one without letters has none."""
    if not any(sign.isalnum() for sign in text):
        msg = "has no words"
        raise ValueError(msg)
    return text


def _empty_if_null(value: object) -> object:
    return "" if value is None else value


def _line_or_empty(text: str) -> str:
    return " ".join(text.split())


Key = Annotated[Utterance, Field(max_length=LONGEST_KEY)]
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
_SAID = {
    "missing": "is missing",
    "string_type": "is not a text",
    "string_unicode": "contains half of a surrogate pair",
    "string_too_long": "is too long",
    "too_long": "is too long",
    "extra_forbidden": "is not known",
}


def checked(value: object, position: int) -> BroughtRow | tuple[Refused, ...]:
    """Check what stands in a row; every field at fault is told."""
    if not isinstance(value, dict):
        return (refused(position, "", Reason.UNREADABLE, "is not an object with these fields"),)
    try:
        return BroughtRow(position, **dict(CompletionIn.model_validate(value)))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        return tuple(refused(position, _field(one), Reason.BAD_FIELD, _said(one)) for one in faults)


def once(rows: Iterable[BroughtRow | Refused]) -> Iterator[BroughtRow | Refused]:
    """Pass rows on, but one per context and system."""
    first = dict[tuple[str, str], int]()
    for row in rows:
        if isinstance(row, Refused):
            yield row
        elif (at := first.setdefault((row.context, row.system), row.position)) != row.position:
            why = f"context and system stand at {at:,} already"
            yield refused(row.position, "", Reason.REPEATED, why)
        else:
            yield row


def printable(name: object) -> str:
    """Return a name that somebody sent, so that it can be sent back."""
    return str(name)[:LONGEST_NAME].encode("utf-8", "replace").decode()


def _field(fault: ErrorDetails) -> str:
    """Return the field at fault; nothing if a name is itself no text."""
    return printable(fault["loc"][0]) if fault["loc"] else ""


def _said(fault: ErrorDetails) -> str:
    """Return what is wrong, without what stands in the row."""
    return _SAID.get(fault["type"]) or fault["msg"].removeprefix("Value error, ")
