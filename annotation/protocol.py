"""Study files: read from TOML, checked, and named by the hash of their content."""

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

STUDIES = Path(__file__).parent / "studies"

TAKEN = frozenset({"contexts"})
"""Addresses below the console's that are not a study's."""


def _free(slug: str) -> str:
    if slug in TAKEN:
        msg = f"{slug!r} is an address of the console"
        raise ValueError(msg)
    return slug


Slug = Annotated[
    str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=50), AfterValidator(_free)
]
Line = Annotated[str, Field(min_length=1, max_length=200)]
Paragraph = Annotated[str, Field(min_length=1, max_length=2000)]
Paragraphs = Annotated[tuple[Paragraph, ...], Field(min_length=1)]
Address = Annotated[str, Field(pattern=r"^(https://\S+)?$", max_length=300)]
Strength = Annotated[int, Field(ge=1, le=5)]


class ProtocolError(ValueError):
    """A study file cannot be used; the message names the file, the field and the reason."""


class Part(BaseModel):
    """A frozen piece of a study file in which every field must be known."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class Turn(Part):
    """One message of the practice dialogue."""

    role: Literal["seeker", "supporter"]
    text: Paragraph


class Practice(Part):
    """A pair with a worked answer, shown before the first real pair; nothing of it is stored."""

    turns: Annotated[tuple[Turn, ...], Field(min_length=1)]
    message_a: Paragraph
    message_b: Paragraph
    winner: Literal["A", "B"]
    strength: Strength
    worked_answer: Paragraph

    @model_validator(mode="after")
    def _ends_on_the_seeker(self) -> Self:
        if self.turns[-1].role != "seeker":
            msg = "the last turn must be the seeker's"
            raise ValueError(msg)
        return self


class Fact(Part):
    """One named paragraph of the consent page."""

    name: Line
    text: Paragraph


class ConsentText(Part):
    """What a person agrees to before anything is stored."""

    version: Annotated[str, Field(min_length=1, max_length=20)]
    facts: Annotated[tuple[Fact, ...], Field(min_length=1)]
    content_note: Paragraph


class HelpLine(Part):
    """A service that listens."""

    place: Line
    name: Line
    contact: Annotated[str, Field(max_length=200)] = ""
    url: Address = ""


class SoftScores(Part):
    """The strengths for which the five-point answers "slightly" and "much" stand in a fit."""

    slightly: Strength = 2
    much: Strength = 4

    @model_validator(mode="after")
    def _much_is_more(self) -> Self:
        if self.slightly >= self.much:
            msg = f'"slightly" ({self.slightly}) must be less than "much" ({self.much})'
            raise ValueError(msg)
        return self


class StudyProtocol(Part):
    """Everything that fixes a study: its numbers, its seed and every word that raters read."""

    slug: Slug
    title: Annotated[str, Field(min_length=1, max_length=120)]
    protocol: Literal["preference", "rubric"]
    rubric: Line
    seed: Annotated[str, Field(min_length=1, max_length=64)]
    judgments_per_pair: Annotated[int, Field(ge=1, le=1000)]
    pairs_per_context: Annotated[int, Field(ge=0, le=30_000)]
    session_length: Annotated[int, Field(ge=1, le=1000)]
    lease_minutes: Annotated[int, Field(ge=1, le=1440)] = 30
    min_rationale_length: Annotated[int, Field(ge=0, le=1000)]
    soft_scores: SoftScores = SoftScores()
    question: Line
    invitation: Paragraph
    consent: ConsentText
    instructions: Paragraphs
    practice: Practice
    debrief: Paragraphs
    help_lines: Annotated[tuple[HelpLine, ...], Field(min_length=1)]
    contact: Annotated[str, Field(max_length=200)] = ""
    completion_code: Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{0,40}$")] = ""
    return_url: Address = ""

    @model_validator(mode="after")
    def _practice_is_on_the_scale(self) -> Self:
        scale = {self.soft_scores.slightly, self.soft_scores.much}
        if self.protocol == "preference" and self.practice.strength not in scale:
            msg = f"practice.strength must be one of {sorted(scale)}, which the five points have"
            raise ValueError(msg)
        return self

    def content(self, rubric: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a study stores: this file as plain values, with the rubric itself."""
        return {**self.model_dump(mode="json"), "rubric": dict(rubric)}

    def mentions(self, words: Iterable[str]) -> list[str]:
        """Return those of ``words`` that occur in what raters read, whatever their case."""
        read = self.model_dump_json(exclude={"rubric"}).casefold()
        return [word for word in words if word.casefold() in read]


def content_hash(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of a study's content."""
    canonical = json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def load_protocol(path: Path) -> StudyProtocol:
    """Read and check a study file.

    Raises
    ------
    ProtocolError
        If the file cannot be read, is not TOML, or a field is missing, unknown or out of range.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror}"
        raise ProtocolError(msg) from error
    except UnicodeDecodeError as error:
        msg = f"{path}: not UTF-8: unexpected byte at position {error.start}"
        raise ProtocolError(msg) from error
    return parse_protocol(text, source=path.name)


def parse_protocol(text: str, *, source: str) -> StudyProtocol:
    """Read a study from TOML; ``source`` is named in errors.

    Raises
    ------
    ProtocolError
        If the text is not TOML, or a field is missing, unknown or out of range.
    """
    try:
        return StudyProtocol.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        msg = f"{source}: not valid TOML: {error}"
        raise ProtocolError(msg) from error
    except ValidationError as error:
        raise ProtocolError(_explain(error, source)) from error


def _explain(error: ValidationError, source: str) -> str:
    problems = []
    for one in error.errors():
        field = ".".join(map(str, one["loc"]))
        reason = one["msg"].removeprefix("Value error, ")
        problems.append(f"{source}: {field}: {reason}" if field else f"{source}: {reason}")
    return "\n".join(problems)
