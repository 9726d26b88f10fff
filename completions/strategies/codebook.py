"""The codebook of strategies, and what a model is asked by it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from completions.files.toml import (
    Key,
    ShippedFile,
    TomlPart,
    load_shipped,
    parse_toml,
    refuse_repeats,
)
from completions.llm import prompts
from completions.llm.labels import LabelRequest, labels_schema
from completions.llm.prompts import Prompt, encoded

CODEBOOKS = Path(__file__).parent
SHIPPED = "heart-1"
Line = Annotated[str, Field(min_length=1, max_length=300)]


class CodebookError(ValueError):
    """A codebook cannot be used; the message names the file, the field and the reason."""


class Strategy(TomlPart):
    """One strategy of support."""

    key: Key
    name: Annotated[str, Field(min_length=1, max_length=60)]
    shows: Line
    """What in a message shows it."""
    leaves_out: Line
    """What looks like it and is not."""


class Codebook(ShippedFile):
    """The strategies in their order."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,30}$")]
    strategies: Annotated[tuple[Strategy, ...], Field(min_length=1, max_length=40)]

    @model_validator(mode="after")
    def _names_nothing_twice(self) -> Self:
        refuse_repeats(key=self.keys, name=[one.name for one in self.strategies])
        return self

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the strategies, in order."""
        return tuple(one.key for one in self.strategies)

    @property
    def request(self) -> LabelRequest:
        """What a model is asked: a label for each strategy, with a quote of the message."""
        return LabelRequest(self.keys, title="Strategies", each="strategy", text="message")


@cache
def load_codebook(reference: str = SHIPPED) -> Codebook:
    """Return a shipped codebook by its reference, such as ``heart-1``.

    Raises
    ------
    CodebookError
        If there is none of that name, or its file does not hold a codebook.
    """
    return load_shipped(
        reference, folder=CODEBOOKS, kind="codebook", parse=parse_codebook, error=CodebookError
    )


def parse_codebook(text: str, *, source: str) -> Codebook:
    """Read a codebook from TOML; ``source`` is named in errors.

    Raises
    ------
    CodebookError
        If the text is not TOML, or a field is missing, unknown or out of range, or comes twice.
    """
    return parse_toml(text, source=source, validate=Codebook.model_validate, error=CodebookError)


MATERIAL = """\
<strategies>
{strategies}
</strategies>
<dialogue>
{dialogue}
</dialogue>
<message>
{message}
</message>"""


@cache
def strategist_prompt(codebook: Codebook) -> Prompt:
    """Return the instructions, with the codebook and the answer's schema filled in."""
    around = f"{MATERIAL}\n{prompts.CORRECTION}"
    prompt = prompts.with_schema("strategist-1", labels_schema(codebook.request), around=around)
    lines = (
        f"- {one.key} ({one.name}): {one.shows} Not: {one.leaves_out}"
        for one in codebook.strategies
    )
    return replace(prompt, text=prompt.text.replace("{strategies}", "\n".join(lines)))


def strategist_messages(
    turns: Sequence[Mapping[str, str]], text: str, codebook: Codebook
) -> tuple[dict[str, str], ...]:
    """Return the chat that asks about one message; nothing in it says who wrote it."""
    shown = [{"role": turn["role"], "text": turn["text"]} for turn in turns]
    material = MATERIAL.format(
        strategies=encoded(list(codebook.keys)), dialogue=encoded(shown), message=encoded(text)
    )
    return (
        {"role": "system", "content": strategist_prompt(codebook).text},
        {"role": "user", "content": material},
    )
