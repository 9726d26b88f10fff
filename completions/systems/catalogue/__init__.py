"""The systems that a lab wants completions from: TOML files, read strictly.

Other catalogues, such as that of judges, are read by the same rules. Errors name the file, the
system, the field and the reason.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from completions.files.toml import read_toml
from completions.llm.exchange import LONGEST_TIMEOUT_S, MOST_TOKENS

FOLDER = Path(__file__).resolve().parent
_TABLES = ("system", "computed")
SLUG = r"^[a-z0-9]+(-[a-z0-9]+)*$"
VARIABLE = r"^[A-Z][A-Z0-9_]*$"
ADDRESS = r"^https?://[^\s/@]+(/[^\s@]*)?$"
MODEL_ID = r"^[a-z0-9_]+/\S+$"
OF_THE_SITE = re.compile(r"^(HEART|DJANGO|DATABASE|POSTGRES|PG|REDIS|CELERY|EMAIL)_?")
"""Variables of the site itself: a model's provider has no business with what they hold."""
HIGHEST_PRICE = 10_000
"""US dollars for a million tokens: a sum that a run can count, whatever it is asked for."""
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


def _with_a_host(address: str) -> str:
    """Refuse an address whose host or port is none; the error says which."""
    _port = urlsplit(address).port
    return address


LeftOut = Literal[
    "temperature", "top_p", "max_tokens", "response_format", "stream_options", "logprobs"
]
Slug = Annotated[str, Field(pattern=SLUG, max_length=50)]
Name = Annotated[str, Field(min_length=1, max_length=120), AfterValidator(_not_simulated)]
Variable = Annotated[str, Field(pattern=VARIABLE), AfterValidator(_not_the_sites)]
Words = Annotated[str, Field(min_length=1)]
ModelId = Annotated[str, Field(pattern=MODEL_ID, max_length=120), AfterValidator(_without_address)]
Address = Annotated[str, Field(pattern=ADDRESS, max_length=200), AfterValidator(_with_a_host)]


class Strict(BaseModel):
    """A part of a catalogue: nothing in it that is not known, and never a key."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

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

    input: float = Field(ge=0, le=HIGHEST_PRICE)
    output: float = Field(ge=0, le=HIGHEST_PRICE)


class Parameters(Strict):
    """What a model needs set; ``completions.runs.services.calling`` reads every field."""

    api_key_env: Variable | None = None
    api_base_env: Variable | None = None
    """The variable that holds the address, for a model without a public one."""
    leave_out: tuple[LeftOut, ...] = Field(default=(), strict=False)
    """Wanted, but refused by the model: not sent, and recorded as dropped."""
    logprobs: bool = False
    """How probable each token was is asked for: a judge's verdict gets its probability."""
    max_tokens: int | None = Field(default=None, gt=0, le=MOST_TOKENS)
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
    api_base: Address | None = None
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


Shape = TypeVar("Shape", bound=Strict)


class CatalogueError(ValueError):
    """A catalogue cannot be read or used; each line of the message names one fault."""


def shipped() -> tuple[Path, ...]:
    """Return the catalogues that come with the platform."""
    return tuple(sorted(FOLDER.glob("*.toml")))


def load_catalogues(paths: Iterable[Path]) -> Catalogue:
    """Return what the files hold, as one catalogue.

    Raises
    ------
    CatalogueError
        If a file cannot be read or used, or two systems have one slug or one name.
    """
    read = load_files(paths, Catalogue)
    found = [(source, one) for source, catalogue in read for one in _rows(catalogue)]
    refuse_repeated_names(found, of="system")
    return Catalogue(
        system=tuple(one for _, one in found if isinstance(one, SystemEntry)),
        computed=tuple(one for _, one in found if isinstance(one, Computed)),
    )


def load_files(paths: Iterable[Path], shape: type[Shape]) -> list[tuple[str, Shape]]:
    """Return what each file holds, with the name under which errors speak of it.

    Raises
    ------
    CatalogueError
        If one cannot be read, is not of that shape, or is empty.
    """
    return [_load(path, shape) for path in paths]


def parse_file(text: str, shape: type[Shape], *, source: str) -> Shape:
    """Read the text of a file of that shape; ``source`` is named in errors.

    Raises
    ------
    CatalogueError
        If the text is not TOML, or says what the shape does not know.
    """
    try:
        found = read_toml(text)
    except ValueError as error:
        msg = f"{source}: not valid TOML: {error}"
        raise CatalogueError(msg) from error
    try:
        return shape.model_validate(_with_sources(found))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        lines = (f"{source}: {_place(fault['loc'], found)}{_reason(fault)}" for fault in faults)
        # The values themselves stay out of the message, and out of what is raised with it.
        raise CatalogueError("\n".join(lines)) from None


def refuse_repeated_names(
    found: Iterable[tuple[str, CatalogueEntry | Computed]], *, of: str
) -> None:
    """Refuse a slug or a name that two entries have, in one file or in two.

    Raises
    ------
    CatalogueError
        Naming both files; ``of`` says what the entries are.
    """
    seen: dict[tuple[str, str], str] = {}
    for source, one in found:
        for said in (("slug", one.slug), ("name", one.name)):
            if said in seen:
                field, value = said
                msg = f'{source}: {field}: "{value}" is taken by another {of} of {seen[said]}'
                raise CatalogueError(msg)
            seen[said] = source


def _load(path: Path, shape: type[Shape]) -> tuple[str, Shape]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: cannot be read: {getattr(error, 'strerror', error)}"
        raise CatalogueError(msg) from error
    found = parse_file(text, shape, source=path.name)
    if not any(found.model_dump().values()):
        msg = f"{path.name}: is empty"
        raise CatalogueError(msg)
    return path.name, found


def _rows(catalogue: Catalogue) -> tuple[SystemEntry | Computed, ...]:
    return (*catalogue.system, *catalogue.computed)


def _with_sources(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content with each fact's source spelled out."""
    sources = found.get("sources")
    if not isinstance(sources, dict):
        return dict(found)
    return {
        table: _spell_out(rows, sources) if table in _TABLES else rows
        for table, rows in found.items()
    }


def _spell_out(value: Any, sources: Mapping[str, Any]) -> Any:  # noqa: ANN401 (parsed TOML)
    if isinstance(value, list):
        return [_spell_out(one, sources) for one in value]
    if not isinstance(value, dict):
        return value
    spelled = {key: _spell_out(one, sources) for key, one in value.items()}
    source = spelled.get("source")
    if isinstance(source, str) and source in sources:
        spelled["source"] = sources[source]
    return spelled


def _place(loc: tuple[int | str, ...], found: Mapping[str, Any]) -> str:
    """Say where a fault is: "system 3 (gpt-o3): parameters.max_tokens: "."""
    if len(loc) < 2 or not isinstance(loc[1], int):  # noqa: PLR2004 (a table and a row of it)
        return "".join(f"{part}: " for part in [".".join(map(str, loc))] if part)
    row = found[str(loc[0])][loc[1]]
    slug = row.get("slug") if isinstance(row, dict) else None
    field = ".".join(map(str, loc[2:]))
    named = f" ({slug})" if isinstance(slug, str) else ""
    return f"{loc[0]} {loc[1] + 1}{named}: " + (f"{field}: " if field else "")


def _reason(fault: Mapping[str, Any]) -> str:
    return str(fault["msg"]).removeprefix("Value error, ")
