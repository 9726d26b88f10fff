"""The words of a study file: what raters read."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Line = Annotated[str, Field(min_length=1, max_length=200)]
Paragraph = Annotated[str, Field(min_length=1, max_length=2000)]
Paragraphs = Annotated[tuple[Paragraph, ...], Field(min_length=1)]
Markdown = Annotated[str, Field(min_length=1, max_length=10_000)]
Address = Annotated[str, Field(pattern=r"^(https://\S+)?$", max_length=300)]
Country = Annotated[str, Field(pattern=r"^[A-Z]{2}$")]
Strength = Annotated[int, Field(ge=1, le=5)]


class Part(BaseModel):
    """A frozen piece of a study file in which every field must be known."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class Turn(Part):
    """One message of the practice dialogue."""

    role: Literal["seeker", "supporter"]
    text: Paragraph


class Practice(Part):
    """A pair with a worked answer, shown before the first real pair; nothing of it is stored.

    A likert study has one message, ``message_a``, and needs neither winner nor strength.
    """

    turns: Annotated[tuple[Turn, ...], Field(min_length=1)]
    message_a: Paragraph
    message_b: Annotated[str, Field(max_length=2000)] = ""
    winner: Literal["A", "B", ""] = ""
    strength: Annotated[int, Field(ge=0, le=5)] = 0
    worked_answer: Paragraph

    @model_validator(mode="after")
    def _ends_on_the_seeker(self) -> Self:
        if self.turns[-1].role != "seeker":
            msg = "the last turn must be the seeker's"
            raise ValueError(msg)
        return self


class Fact(Part):
    """One named paragraph of the consent page; its text is Markdown."""

    name: Line
    text: Paragraph


class ConsentText(Part):
    """What a person agrees to before anything is stored."""

    version: Annotated[str, Field(min_length=1, max_length=20)]
    facts: Annotated[tuple[Fact, ...], Field(min_length=1)]
    content_note: Paragraph


class HelpLine(Part):
    """A service that listens; without ``countries`` (ISO 3166 codes) it is for anywhere."""

    place: Line
    countries: tuple[Country, ...] = ()
    name: Line
    contact: Annotated[str, Field(max_length=200)] = ""
    url: Address = ""


class Question(Part):
    """One question of the comprehension check; ``answer`` counts the options from 1."""

    text: Line
    options: Annotated[tuple[Line, ...], Field(min_length=2, max_length=6)]
    answer: Annotated[int, Field(ge=1)]

    @model_validator(mode="after")
    def _answer_is_an_option(self) -> Self:
        if self.answer > len(self.options):
            msg = f"answer {self.answer} is beyond the {len(self.options)} options"
            raise ValueError(msg)
        return self
