"""Trial dialogues as data: what newcomers write for before they are let in, read from TOML."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from completions.files.toml import (
    AuthoredTurn,
    Key,
    ShippedFile,
    TomlPart,
    check_turns,
    load_shipped,
    parse_toml,
    refuse_repeats,
)

SETS = Path(__file__).parent
SHIPPED = "heart-1"


class VettingError(ValueError):
    """A vetting set cannot be used; the message names the file, the field, the reason."""


class TrialDialogue(TomlPart):
    """A dialogue that ends on the seeker's turn, and asks for a message."""

    key: Key
    turns: Annotated[tuple[AuthoredTurn, ...], Field(min_length=3, max_length=7)]

    @model_validator(mode="after")
    def _asks_for_a_message(self) -> Self:
        check_turns(self.turns)
        return self


class VettingSet(ShippedFile):
    """The dialogues that a newcomer writes for, in the order in which they come."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,30}$")]
    # The key of the published file, which never changes.
    talks: Annotated[tuple[TrialDialogue, ...], Field(min_length=1, max_length=10)]

    @model_validator(mode="after")
    def _says_nothing_twice(self) -> Self:
        refuse_repeats(
            key=[dialogue.key for dialogue in self.talks],
            dialogue=[tuple(turn.text for turn in dialogue.turns) for dialogue in self.talks],
        )
        return self


def load_vetting_set(reference: str = SHIPPED) -> VettingSet:
    """Return a shipped set of trial dialogues by its reference, such as ``heart-1``.

    Raises
    ------
    VettingError
        If there is none of that name, or its file does not hold such a set.
    """
    kind = "set of trial conversations"
    parse = parse_vetting_set
    return load_shipped(reference, folder=SETS, kind=kind, parse=parse, error=VettingError)


def parse_vetting_set(text: str, *, source: str) -> VettingSet:
    """Read a set of trial dialogues from TOML; ``source`` is named in errors.

    Raises
    ------
    VettingError
        If the text is not TOML, or a field is missing, unknown or out of range, or a dialogue does
        not end on the seeker's turn, or comes twice.
    """
    return parse_toml(text, source=source, validate=VettingSet.model_validate, error=VettingError)
