"""Fields of rows with texts: what cannot be stored is refused; pure."""

import datetime as dt
import unicodedata
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from completions.dialogues.ingest.dialogue import Text, Utterance

LONGEST_KEY = 24
EARLIEST = 1990
ALLOWED_CONTROLS = "\n\t"


def plain(text: str) -> str:
    """Refuse signs that steer a machine, and name the first by its number."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for sign in text:
        if unicodedata.category(sign) == "Cc" and sign not in ALLOWED_CONTROLS:
            msg = f"contains the control character U+{ord(sign):04X}"
            raise ValueError(msg)
    return text


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
Message = Annotated[Text, AfterValidator(plain)]
Moment = Annotated[dt.datetime | None, BeforeValidator(_moment)]
