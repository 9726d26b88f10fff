"""Trial talks as data: what newcomers write for before they are let in, read from TOML."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from completions.files.toml import (
    Key,
    TalkTurn,
    TomlPart,
    check_talk,
    content_hash,
    load_shipped,
    parse_toml,
)

SETS = Path(__file__).parent
SHIPPED = "heart-1"


class VettingError(ValueError):
    """A set of trial talks cannot be used; the message names the file, the field, the reason."""


class TrialTalk(TomlPart):
    """A talk that ends on the seeker's turn, and asks for a message."""

    key: Key
    turns: Annotated[tuple[TalkTurn, ...], Field(min_length=3, max_length=7)]

    @model_validator(mode="after")
    def _asks_for_a_message(self) -> Self:
        check_talk(self.turns)
        return self


class VettingSet(TomlPart):
    """The talks that a newcomer writes for, in the order in which they come."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,30}$")]
    version: Annotated[str, Field(pattern=r"^[0-9]{1,4}$")]
    talks: Annotated[tuple[TrialTalk, ...], Field(min_length=1, max_length=10)]

    @model_validator(mode="after")
    def _says_nothing_twice(self) -> Self:
        for what, values in (
            ("key", [talk.key for talk in self.talks]),
            ("talk", [tuple(turn.text for turn in talk.turns) for talk in self.talks]),
        ):
            twice = [value for value, n in Counter(values).items() if n > 1]
            if twice:
                msg = f"every {what} may be used once, found twice: {twice[0]}"
                raise ValueError(msg)
        return self

    @property
    def reference(self) -> str:
        """The name under which the set is asked for."""
        return f"{self.name}-{self.version}"

    @property
    def sha256(self) -> str:
        """The hash of the canonical content."""
        content: dict[str, Any] = self.model_dump(mode="json")
        return content_hash(content)


def load_vetting_set(reference: str = SHIPPED) -> VettingSet:
    """Return a shipped set of trial talks by its reference, such as ``heart-1``.

    Raises
    ------
    VettingError
        If there is none of that name, or its file does not hold such a set.
    """
    kind = "set of trial talks"
    return load_shipped(reference, folder=SETS, kind=kind, parse=_parse_file, error=VettingError)


def parse_vetting_set(text: str, *, source: str) -> VettingSet:
    """Read a set of trial talks from TOML; ``source`` is named in errors.

    Raises
    ------
    VettingError
        If the text is not TOML, or a field is missing, unknown or out of range, or a talk does
        not end on the seeker's turn, or comes twice.
    """
    return parse_toml(text, source=source, validate=VettingSet.model_validate, error=VettingError)


def _parse_file(text: str, name: str) -> VettingSet:
    return parse_vetting_set(text, source=name)
