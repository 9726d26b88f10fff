"""The codebook of rationales: which themes there are, and the words that they are found by."""

import re
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from completions.files.toml import Key, Part, content_hash, load_shipped, parse_toml

SHIPPED = "heart-1"
Sentence = Annotated[str, Field(min_length=1, max_length=300)]


class CodebookError(ValueError):
    """A codebook does not hold together; the message says where."""


class Theme(Part):
    """One thing that rationales speak of, with the words that it is found by."""

    key: Key
    name: Annotated[str, Field(min_length=1, max_length=60)]
    about: Literal["H", "E", "A", "R", "T", "skill", "form"]
    """The dimension of the rubric, a micro-skill of supporters, or the form of the message."""
    means: Sentence
    patterns: tuple[str, ...] = Field(min_length=1)
    examples: tuple[Sentence, ...] = Field(min_length=2)
    counterexamples: tuple[Sentence, ...] = Field(min_length=2)

    @field_validator("patterns")
    @classmethod
    def _can_be_read(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                msg = f"{pattern}: no regular expression: {error}"
                raise ValueError(msg) from error
        return patterns

    @model_validator(mode="after")
    def _keeps_its_word(self) -> Self:
        missed = [text for text in self.examples if not self.is_in(text)]
        caught = [text for text in self.counterexamples if self.is_in(text)]
        if missed or caught:
            what = "does not find its example" if missed else "finds its counterexample"
            msg = f'{self.key} {what} "{(missed or caught)[0]}"'
            raise ValueError(msg)
        return self

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{'|'.join(self.patterns)})", re.IGNORECASE)

    def is_in(self, text: str) -> bool:
        """Say whether a rationale speaks of it."""
        return self._pattern.search(text) is not None


class Codebook(Part):
    """The themes of one version."""

    name: Key
    version: Annotated[str, Field(pattern=r"^[1-9][0-9]*$")]
    themes: tuple[Theme, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        keys = [theme.key for theme in self.themes]
        if twice := sorted({key for key in keys if keys.count(key) > 1}):
            msg = f"themes with one key: {', '.join(twice)}"
            raise ValueError(msg)
        return self

    @property
    def reference(self) -> str:
        """The name under which results say what they were coded by."""
        return f"{self.name}-{self.version}"

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the themes, in order."""
        return tuple(theme.key for theme in self.themes)

    @property
    def sha256(self) -> str:
        """The hash of the canonical content."""
        return content_hash(self.model_dump(mode="json"))


def parse_codebook(text: str, source: str = "codebook") -> Codebook:
    """Read a codebook from TOML.

    Raises
    ------
    CodebookError
        If it does not hold together, with what and where.
    """

    def validate(found: Any) -> Codebook:  # noqa: ANN401 (whatever the file holds)
        return Codebook.model_validate(found)

    return parse_toml(text, source=source, validate=validate, error=CodebookError)


def load_codebook(reference: str = SHIPPED) -> Codebook:
    """Return the shipped codebook of that name and version.

    Raises
    ------
    CodebookError
        If there is none, with those that there are.
    """
    return load_shipped(
        reference,
        folder=Path(__file__).parent,
        kind="codebook of rationales",
        parse=parse_codebook,
        error=CodebookError,
    )
