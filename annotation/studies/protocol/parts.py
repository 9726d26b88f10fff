"""The parts of a study file: what raters read, how it is conducted, what is confirmatory."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from completions.files.toml import Key

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

    @field_validator("*", mode="before")
    @classmethod
    def _can_be_stored(cls, value: object) -> object:
        texts = value if isinstance(value, list | tuple) else (value,)
        if any(isinstance(one, str) and "\x00" in one for one in texts):
            msg = "the character U+0000 cannot be stored"
            raise ValueError(msg)
        return value


class Turn(Part):
    """One message of the practice dialogue."""

    role: Literal["seeker", "supporter"]
    text: Paragraph


class Practice(Part):
    """A pair with a worked answer, shown before the first real pair; nothing of it is stored.

    A likert study has one message, ``message_a``, and needs neither winner nor strength. Where
    texts are no replies there are no turns.
    """

    turns: tuple[Turn, ...] = ()
    message_a: Paragraph
    message_b: Annotated[str, Field(max_length=2000)] = ""
    winner: Literal["A", "B", ""] = ""
    strength: Annotated[int, Field(ge=0, le=5)] = 0
    worked_answer: Paragraph

    @model_validator(mode="after")
    def _ends_on_the_seeker(self) -> Self:
        if self.turns and self.turns[-1].role != "seeker":
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


class Chip(Part):
    """A reason in plain words that raters tick; ``theme`` is the key of the codebook's, if any."""

    key: Key
    words: Annotated[str, Field(min_length=1, max_length=40)]
    theme: Key | Literal[""] = ""


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


AnalysisName = Literal[
    "pairs",
    "dimensions",
    "weights",
    "likert",
    "people",
    "agreement",
    "checks",
    "fragility",
    "style",
    "bias",
    "draws",
    "raters",
    "rankers",
    "rationales",
    "strategies",
    "factors",
    "latency",
    "judge",
    "planning",
]
"""The analyses by their names in addresses; a test holds them against those that there are."""
Weight = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]
DimensionKey = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9]{0,3}$")]


class AnalysisPlan(Part):
    """The analyses named in advance; those of weighted dimensions with the weights.

    ``weights`` are by the keys of the rubric's dimensions; only their ratios matter.
    """

    confirmatory: Annotated[tuple[AnalysisName, ...], Field(min_length=1)]
    weights: Mapping[DimensionKey, Weight] = {}

    @model_validator(mode="after")
    def _each_is_named_once(self) -> Self:
        if len(set(self.confirmatory)) < len(self.confirmatory):
            msg = "confirmatory: each analysis is named once"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _weights_are_named_with_their_analysis(self) -> Self:
        if ("weights" in self.confirmatory) != bool(self.weights):
            msg = 'weights: they are given if, and only if, "weights" is confirmatory'
            raise ValueError(msg)
        if self.weights and not any(self.weights.values()):
            msg = "weights: one dimension at least needs a weight above 0"
            raise ValueError(msg)
        return self


Share = Annotated[float, Field(ge=0, le=1)]
Code = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{0,40}$")]


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


class PoolMasses(Part):
    """What the judgments of all people and of all LLM judges weigh in their combined ratings.

    Only the ratio matters. Without this each judgment counts once.
    """

    people: Annotated[float, Field(gt=0, le=1000)] = 1.0
    judges: Annotated[float, Field(gt=0, le=1000)] = 1.0


class Checks(Part):
    """Which share of what a rater is shown is planted, and what is planted.

    ``rate`` is that of gold and attention pairs, ``repeat_rate`` that of the rater's own earlier
    pairs. Both are of all pairs shown; ``gold_set`` names a file of the repository, or none.
    """

    rate: Annotated[float, Field(ge=0, le=0.5)] = 0
    repeat_rate: Annotated[float, Field(ge=0, le=0.5)] = 0
    gold_set: Annotated[str, Field(pattern=r"^([a-z][a-z0-9-]*)?$", max_length=40)] = ""

    @model_validator(mode="after")
    def _most_pairs_count(self) -> Self:
        if self.rate + self.repeat_rate > 0.5:  # noqa: PLR2004 (half)
            msg = "rate and repeat_rate together must leave at least half of the pairs"
            raise ValueError(msg)
        return self


class ResultsMinimum(Part):
    """What a leaderboard needs before it ranks anything; ``raters`` where no LLM judge judged."""

    judgments: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    raters: Annotated[int, Field(ge=0, le=10_000)] = 0
    dialogues: Annotated[int, Field(ge=0, le=10_000)] = 0


class Screening(Part):
    """Planted pairs before the first real one; too many failed ones end the session kindly."""

    pairs: Annotated[int, Field(ge=0, le=20)] = 0
    min_passed: Annotated[int, Field(ge=0, le=20)] = 0

    @model_validator(mode="after")
    def _can_be_passed(self) -> Self:
        if self.min_passed > self.pairs:
            msg = f"min_passed ({self.min_passed}) is more than pairs ({self.pairs})"
            raise ValueError(msg)
        return self


class ExclusionRules(Part):
    """When the answers of a rater are left out of the analysis, and when admins are warned.

    A rater goes who fails at least ``failed_share`` of at least ``min_checks`` checks, or whose
    times are anomalous on more than ``anomalous_share`` of at least ``min_answers`` answers: a
    robust z of log seconds per word beyond ``robust_z``, or reading faster than
    ``words_per_minute``. ``misfit`` (infit) and ``alpha`` (outlier test) only warn.
    """

    failed_share: Annotated[float, Field(gt=0, le=1)] = 0.5
    min_checks: Annotated[int, Field(ge=1, le=100)] = 4
    robust_z: Annotated[float, Field(gt=0, le=20)] = 3.5
    words_per_minute: Annotated[int, Field(ge=100, le=5000)] = 700
    anomalous_share: Share = 0.5
    min_answers: Annotated[int, Field(ge=1, le=1000)] = 5
    misfit: Annotated[float, Field(gt=1, le=10)] = 1.3
    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.01


class Codes(Part):
    """What a rater takes back to the platform, one for each way in which a session ends."""

    complete: Code = ""
    partial: Code = ""
    screened_out: Code = ""
    no_consent: Code = ""
    full: Code = ""
    closed: Code = ""
    paused: Code = ""
    timed_out: Code = ""


class Crowd(Part):
    """The crowd platform: its codes, and its address with ``{code}`` in the place of one.

    With ``signed_links`` nobody enters but by a link that Prolific signed. ``partial_pay`` says
    what somebody gets who stops early.
    """

    platform: Literal["any", "prolific", "mturk", "connect", "generic"] = "any"
    signed_links: bool = False
    codes: Codes = Codes()
    return_url: Address = ""
    pay: Annotated[str, Field(max_length=200)] = ""
    partial_pay: Annotated[str, Field(max_length=200)] = ""

    @model_validator(mode="after")
    def _platform_signs(self) -> Self:
        if self.signed_links and self.platform != "prolific":
            msg = 'signed_links is for platform = "prolific", which signs its links'
            raise ValueError(msg)
        return self
