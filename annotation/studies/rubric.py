"""Rubrics as data: read from TOML, checked, and named by the hash of their content."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter

from completions.files.toml import content_hash, load_shipped, parse_toml

RUBRICS = Path(__file__).parent / "rubrics"

Line = Annotated[str, Field(min_length=1, max_length=400)]
STRICT = ConfigDict(extra="forbid", str_strip_whitespace=True)


class RubricError(ValueError):
    """A rubric cannot be used; the message names the file, the field and the reason."""


@dataclass(frozen=True)
class Dimension:
    """One thing that the rubric asks, with a message that scores high and one that scores low."""

    __pydantic_config__ = STRICT

    key: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9]{0,3}$")]
    name: Annotated[str, Field(min_length=1, max_length=60)]
    asks: Line
    high: Line
    low: Line
    in_short: Annotated[str, Field(max_length=60)] = ""
    """What it asks in a line, beside its marks; a rubric without one shows ``asks`` there."""


@dataclass(frozen=True)
class Rubric:
    """The dimensions in their order, and what an evaluator is to leave aside."""

    __pydantic_config__ = STRICT

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,40}$")]
    version: Annotated[str, Field(pattern=r"^[0-9]{1,4}$")]
    dimensions: Annotated[tuple[Dimension, ...], Field(min_length=1, max_length=12)]
    checklist: tuple[Line, ...]

    @property
    def reference(self) -> str:
        """The name under which study files ask for it."""
        return f"{self.name}-{self.version}"

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the dimensions, in order."""
        return tuple(dimension.key for dimension in self.dimensions)

    @property
    def in_words(self) -> str:
        """What each dimension asks, with both examples, as prompts have it."""
        return "\n".join(
            f"- {one.key} ({one.name}): {one.asks}\n  High: {one.high}\n  Low: {one.low}"
            for one in self.dimensions
        )

    @property
    def sha256(self) -> str:
        """The hash of the canonical content."""
        return content_hash(self.content())

    def content(self) -> dict[str, Any]:
        """Return the rubric as plain values that JSON can hold."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain


_ADAPTER = TypeAdapter(Rubric)


def rubric_of(content: Mapping[str, Any]) -> Rubric:
    """Return the rubric of a study file's content, which was checked when it was read."""
    return _ADAPTER.validate_python(content["rubric"])


def load_rubric(reference: str) -> Rubric:
    """Return a shipped rubric by its reference, such as ``heart-1``.

    Raises
    ------
    RubricError
        If there is none of that name, or its file does not hold a rubric.
    """
    return load_shipped(
        reference, folder=RUBRICS, kind="rubric", parse=parse_rubric, error=RubricError
    )


def parse_rubric(text: str, *, source: str) -> Rubric:
    """Read a rubric from TOML; ``source`` is named in errors.

    Raises
    ------
    RubricError
        If the text is not TOML, a field is missing, unknown or out of range, or a key is used
        twice.
    """
    rubric = parse_toml(text, source=source, validate=_ADAPTER.validate_python, error=RubricError)
    if len(set(rubric.keys)) < len(rubric.keys):
        msg = f"{source}: dimensions: every key may be used once, found {', '.join(rubric.keys)}"
        raise RubricError(msg)
    return rubric
