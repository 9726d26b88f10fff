"""What a catalogue may say of a system; whatever else it says is refused.

Catalogues of other things that are asked, such as judges, are made of the same parts.
"""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from completions.llm.exchange import LONGEST_TIMEOUT_S

SLUG = r"^[a-z0-9]+(-[a-z0-9]+)*$"
VARIABLE = r"^[A-Z][A-Z0-9_]*$"
ADDRESS = r"^https?://[^\s/@]+(/[^\s@]*)?$"
MODEL_ID = r"^[a-z0-9_]+/\S+$"
OF_THE_SITE = re.compile(r"^(HEART|DJANGO|DATABASE|POSTGRES|PG|REDIS|CELERY|EMAIL)_?")
"""Variables of the site itself: a model's provider has no business with what they hold."""
SECRETS = frozenset({"api_key", "key", "password", "secret", "token"})


def _not_simulated(name: str) -> str:
    """Refuse the word that marks what the offline provider answers."""
    if "simulated" in name.lower():
        msg = "the word is kept for what the offline provider answers"
        raise ValueError(msg)
    return name


def _not_the_sites(name: str) -> str:
    """Refuse a variable that would send the site's own secrets to a provider."""
    if OF_THE_SITE.match(name):
        msg = "the variable is one of the site's own; name one of the provider's"
        raise ValueError(msg)
    return name


def _without_address(model_id: str) -> str:
    """Refuse an address in a model's id, where some providers of LiteLLM would follow it."""
    if "://" in model_id:
        msg = "an address is no part of a model's id; say it in api_base"
        raise ValueError(msg)
    return model_id


LeftOut = Literal[
    "temperature", "top_p", "max_tokens", "response_format", "stream_options", "logprobs"
]
Slug = Annotated[str, Field(pattern=SLUG, max_length=50)]
Name = Annotated[str, Field(min_length=1, max_length=120), AfterValidator(_not_simulated)]
Variable = Annotated[str, Field(pattern=VARIABLE), AfterValidator(_not_the_sites)]
Words = Annotated[str, Field(min_length=1)]
ModelId = Annotated[str, Field(pattern=MODEL_ID, max_length=120), AfterValidator(_without_address)]


class Strict(BaseModel):
    """A part of a catalogue: nothing in it that is not known, and never a key."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _no_secret(cls, found: Any) -> Any:  # noqa: ANN401 (whatever the file holds)
        """Refuse a key by the name of its field, so that no error repeats it."""
        if isinstance(found, dict) and (secret := sorted(SECRETS & set(found))):
            msg = f"{secret[0]}: a key is never written down; name its variable in api_key_env"
            raise ValueError(msg)
        return found


class Price(Strict):
    """US dollars for a million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)


class Parameters(Strict):
    """What a model needs set; ``completions.runs.services.calling`` reads every field."""

    api_key_env: Variable | None = None
    api_base_env: Variable | None = None
    """The variable that holds the address, for a model without a public one."""
    leave_out: tuple[LeftOut, ...] = Field(default=(), strict=False)
    """Wanted, but refused by the model: not sent, and recorded as dropped."""
    logprobs: bool = False
    """How probable each token was is asked for: a judge's verdict gets its probability."""
    max_tokens: int | None = Field(default=None, gt=0)
    opening: Words | None = None
    """Said in the user's role before a chat that the assistant begins."""
    price: Price | None = None
    """What it costs, where LiteLLM does not list it."""
    reasoning_effort: Literal["none", "disable", "minimal", "low", "medium", "high"] | None = None
    schema_mode: Literal["json_schema", "json_object", "prompt"] | None = None
    """How it is asked for JSON: by a schema, by the wish for an object, or in words alone."""
    stream_options: bool = True
    """Whether a stream may be asked to count its tokens."""
    system_role: Literal["system", "developer", "user"] | None = None
    """The role of instructions; ``user`` puts them before the first message."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    timeout_s: float | None = Field(default=None, gt=0, le=LONGEST_TIMEOUT_S)
    token_limit: Literal["max_tokens", "max_completion_tokens"] | None = None
    """What the limit of tokens is called, where LiteLLM does not know it."""
    top_p: float | None = Field(default=None, gt=0, le=1)

    def as_stored(self) -> dict[str, Any]:
        """Return what is set, as JSON holds it."""
        return self.model_dump(mode="json", exclude_defaults=True)


class Fact(Strict):
    """A number from outside, and where it is from."""

    value: int | float
    source: Words


class CatalogueEntry(Strict):
    """What is in a catalogue under a slug and a name, and how it is asked if it is a model."""

    slug: Slug
    name: Name
    api_base: str | None = Field(default=None, pattern=ADDRESS, max_length=200)
    note: Words | None = None
    parameters: Parameters = Parameters()

    @model_validator(mode="after")
    def _has_one_address(self) -> Self:
        if self.api_base is not None and self.parameters.api_base_env is not None:
            msg = "api_base and parameters.api_base_env both name an address"
            raise ValueError(msg)
        return self


class SystemEntry(CatalogueEntry):
    """A system of the catalogue."""

    kind: Literal["model", "original"]
    family: Slug | None = None
    """Maker of the model, never guessed from its name: a judge does not judge its own family."""
    model_id: ModelId | None = None
    facts: dict[str, Fact] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        """Hold that a model says who made it and how it is asked, and nothing else does."""
        identity = {"family": self.family, "model_id": self.model_id}
        missing = sorted(field for field, value in identity.items() if value is None)
        if self.kind == "model" and missing:
            msg = f"a model needs {' and '.join(missing)}"
            raise ValueError(msg)
        identity["api_base"] = self.api_base
        given = sorted(field for field, value in identity.items() if value is not None)
        given += ["parameters"] if self.parameters.as_stored() else []
        if self.kind != "model" and given:
            msg = f"only a model has {' and '.join(given)}"
            raise ValueError(msg)
        return self


class Computed(Strict):
    """A row of leaderboards that is made of a system's completions; it has no row of its own."""

    slug: Slug
    name: Name
    of: Slug
    note: Words | None = None
    facts: dict[str, Fact] = Field(default_factory=dict)


class Catalogue(Strict):
    """One file: its systems, in its order."""

    sources: dict[str, Words] = Field(default_factory=dict)
    system: tuple[SystemEntry, ...] = Field(default=(), strict=False)
    computed: tuple[Computed, ...] = Field(default=(), strict=False)


def _says_so(name: str) -> str:
    """Refuse a name that would let a simulated system pass for a real one."""
    if "simulated" not in name.lower():
        msg = 'the name of a simulated system holds the word "simulated"'
        raise ValueError(msg)
    return name


class SimulatedEntry(SystemEntry):
    """A system that the offline provider answers: its name says so, and it has no key."""

    # Looser than a file's name in one thing: the word that is refused there is demanded here.
    name: Annotated[str, Field(min_length=1, max_length=120), AfterValidator(_says_so)]

    @model_validator(mode="after")
    def _is_answered_here(self) -> Self:
        """Refuse what would say that a call goes anywhere else."""
        told = self.parameters
        if self.kind != "model":
            msg = "only a model is simulated"
            raise ValueError(msg)
        if self.api_base or told.api_base_env or told.api_key_env:
            msg = "the offline provider answers a simulated system: it has no address and no key"
            raise ValueError(msg)
        return self


class ImportedEntry(SystemEntry):
    """A system whose texts are imported: it names its maker, and nothing asks it."""

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        """Refuse what would only matter if it were asked."""
        if self.family is None or self.kind != "model":
            msg = "a system whose texts are imported is a model, and names who made it"
            raise ValueError(msg)
        if self.api_base or self.parameters.as_stored():
            msg = "without a model to ask there is no address, key, price or setting"
            raise ValueError(msg)
        return self
