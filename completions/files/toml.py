"""What study files, rubrics, gold and vetting sets share: TOML that is checked and hashed."""

import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Key = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40)]
Message = Annotated[str, Field(min_length=1, max_length=600)]


class TomlPart(BaseModel):
    """A part of an authored file: nothing in it that is not known, and nothing changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class ShippedFile(TomlPart):
    """What a shipped file holds, under a name and a version; once published it never changes."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,40}$")]
    version: Annotated[str, Field(pattern=r"^[0-9]{1,4}$")]

    @property
    def reference(self) -> str:
        """The name under which others ask for it."""
        return f"{self.name}-{self.version}"

    @property
    def sha256(self) -> str:
        """The hash of the canonical content."""
        return content_hash(self.content())

    def content(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold."""
        return self.model_dump(mode="json")


def refuse_repeats(**values: Sequence[Hashable]) -> None:
    """Refuse what comes twice; each argument is named for what its values are.

    Raises
    ------
    ValueError
        If a value comes twice.
    """
    for what, those in values.items():
        twice = [value for value, n in Counter(those).items() if n > 1]
        if twice:
            msg = f"every {what} may be used once, found twice: {twice[0]}"
            raise ValueError(msg)


class AuthoredTurn(TomlPart):
    """One message of an authored dialogue."""

    role: Literal["seeker", "supporter"]
    text: Message


def check_turns(turns: Sequence[AuthoredTurn]) -> None:
    """Refuse turns that are not a dialogue which asks for a supporter's message.

    Raises
    ------
    ValueError
        If they do not alternate, or the last is not the seeker's.
    """
    roles = [turn.role for turn in turns]
    if any(one == other for one, other in pairwise(roles)):
        msg = "turns must alternate between seeker and supporter"
        raise ValueError(msg)
    if roles[-1] != "seeker":
        msg = "the last turn must be the seeker's"
        raise ValueError(msg)


class HasReference(Protocol):
    """What is named by a name and a version."""

    @property
    def reference(self) -> str:
        """The name under which others ask for it."""
        ...


Model = TypeVar("Model")
Named = TypeVar("Named", bound=HasReference)


def read_toml(text: str) -> dict[str, Any]:
    """Return what a text in TOML says.

    Raises
    ------
    ValueError
        If it is not TOML, or nested too deep.
    """
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        msg = "nested too deep"
        raise ValueError(msg) from error


def parse_toml(
    text: str, *, source: str, validate: Callable[[Any], Model], error: type[ValueError]
) -> Model:
    """Read TOML and check it; ``source`` is named in errors.

    Raises
    ------
    ValueError
        Of the class ``error``, if the text is not TOML or ``validate`` finds fault with it.
    """
    try:
        found = read_toml(text)
    except ValueError as fault:
        msg = f"{source}: not valid TOML: {fault}"
        raise error(msg) from fault
    try:
        return validate(found)
    except ValidationError as fault:
        raise error(_explain(fault, source)) from fault


def load_shipped(
    reference: str,
    *,
    folder: Path,
    kind: str,
    parse: Callable[..., Named],
    error: type[ValueError],
) -> Named:
    """Return what the shipped file of that name and version holds; ``parse`` gets its source, too.

    Raises
    ------
    ValueError
        Of the class ``error``, if there is no such file (the message lists those that there
        are), or it holds another name or version than its own.
    """
    known = sorted(path.stem for path in folder.glob("*.toml"))
    if reference not in known:
        msg = f'there is no {kind} "{reference}"; known are {", ".join(known)}'
        raise error(msg)
    path = folder / f"{reference}.toml"
    found = parse(path.read_text(encoding="utf-8"), source=path.name)
    if found.reference != reference:
        msg = f"{path.name}: holds {found.reference}: name and version must match the file's name"
        raise error(msg)
    return found


def content_hash(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of plain values."""
    canonical = json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


SAID = {
    "string_too_short": "write something here",
    "string_too_long": "use up to {max_length} characters",
    "int_parsing": "give a whole number",
    "int_type": "give a whole number",
    "int_from_float": "give a whole number",
    "float_parsing": "give a number",
    "greater_than_equal": "give a number of {ge} or more",
    "less_than_equal": "give a number of {le} or less",
}
"""What to write instead, by pydantic's name of the fault."""


def reason_of(fault: Mapping[str, Any]) -> str:
    """Return one of pydantic's faults in our words, or in its own where we have none."""
    said = SAID.get(fault["type"], "").format_map(fault.get("ctx", {}))
    return said or str(fault["msg"].removeprefix("Value error, "))


def _explain(error: ValidationError, source: str) -> str:
    problems = []
    for one in error.errors():
        field = ".".join(map(str, one["loc"]))
        reason = reason_of(one)
        problems.append(f"{source}: {field}: {reason}" if field else f"{source}: {reason}")
    return "\n".join(problems)
