"""Weights of dimensions that applications might choose, as examples with their reasons."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field

from completions.files.toml import Key, Part, parse_toml

SHIPPED = Path(__file__).parent / "weight_examples.toml"
Weight = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]
Line = Annotated[str, Field(min_length=1, max_length=300)]


class ExamplesError(ValueError):
    """A file of examples cannot be used; the message names the field and the reason."""


class Example(Part):
    """One set of weights for the dimensions of a rubric, by their keys."""

    rubric: Key
    slug: Key
    name: Annotated[str, Field(min_length=1, max_length=40)]
    reason: Line
    weights: Mapping[str, Weight]


class _Examples(Part):
    examples: tuple[Example, ...]


def parse_examples(text: str, *, source: str) -> tuple[Example, ...]:
    """Read examples from TOML; ``source`` is named in errors.

    Raises
    ------
    ExamplesError
        If the text is not TOML, or a field is missing, unknown or out of range.
    """
    validate = _Examples.model_validate
    return parse_toml(text, source=source, validate=validate, error=ExamplesError).examples


@cache
def examples_for(rubric: str) -> tuple[Example, ...]:
    """Return the shipped examples for the rubric of that name, whatever its version."""
    text = SHIPPED.read_text(encoding="utf-8")
    return tuple(one for one in parse_examples(text, source=SHIPPED.name) if one.rubric == rubric)
