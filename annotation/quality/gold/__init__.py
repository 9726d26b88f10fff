"""Gold sets as data: pairs with a known better message, read from TOML and checked."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from annotation.studies.rubric import RubricError, load_rubric
from completions.files.toml import (
    AuthoredTurn,
    Key,
    Message,
    ShippedFile,
    TomlPart,
    check_turns,
    load_shipped,
    parse_toml,
    refuse_repeats,
)

SETS = Path(__file__).parent


class GoldError(ValueError):
    """A gold set cannot be used; the message names the file, the field and the reason."""


class GoldPair(TomlPart):
    """A dialogue, a message that continues it well, and one that fails on one dimension."""

    key: Key
    dimension: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9]{0,3}$")]
    turns: Annotated[tuple[AuthoredTurn, ...], Field(min_length=2, max_length=5)]
    high: Message
    low: Message

    @model_validator(mode="after")
    def _is_a_dialogue_that_asks_for_an_answer(self) -> Self:
        check_turns(self.turns)
        if self.high == self.low:
            msg = "high and low must differ"
            raise ValueError(msg)
        return self


class GoldSet(ShippedFile):
    """Gold pairs per dimension of a rubric, and attention pairs with one message of nonsense."""

    rubric: Annotated[str, Field(min_length=1, max_length=60)]
    pairs: Annotated[tuple[GoldPair, ...], Field(min_length=1)]
    attention: tuple[GoldPair, ...] = ()

    @model_validator(mode="after")
    def _says_nothing_twice(self) -> Self:
        every = (*self.pairs, *self.attention)
        refuse_repeats(
            key=[pair.key for pair in every],
            message=[text for pair in every for text in (pair.high, pair.low)],
            dialogue=[tuple(turn.text for turn in pair.turns) for pair in every],
        )
        return self


def load_gold_set(reference: str) -> GoldSet:
    """Return a shipped gold set by its reference, such as ``heart-1``.

    Raises
    ------
    GoldError
        If there is none of that name, or its file does not hold a gold set.
    """
    parse = parse_gold_set
    return load_shipped(reference, folder=SETS, kind="gold set", parse=parse, error=GoldError)


def parse_gold_set(text: str, *, source: str) -> GoldSet:
    """Read a gold set from TOML; ``source`` is named in errors.

    Raises
    ------
    GoldError
        If the text is not TOML, a field is missing, unknown or out of range, something is said
        twice, or a dimension is not one of the rubric's.
    """
    gold = parse_toml(text, source=source, validate=GoldSet.model_validate, error=GoldError)
    _check_dimensions(gold, source)
    return gold


def _check_dimensions(gold: GoldSet, source: str) -> None:
    try:
        rubric = load_rubric(gold.rubric)
    except RubricError as error:
        msg = f"{source}: rubric: {error}"
        raise GoldError(msg) from error
    for pair in (*gold.pairs, *gold.attention):
        if pair.dimension not in rubric.keys:
            known = ", ".join(rubric.keys)
            msg = f"{source}: {pair.key}: no dimension {pair.dimension} in {gold.rubric}: {known}"
            raise GoldError(msg)
