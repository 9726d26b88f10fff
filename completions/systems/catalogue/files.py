"""Read catalogue files: errors name the file, the system, the field and the reason."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError

from completions.files.toml import read_toml
from completions.systems.catalogue.entries import Catalogue, Computed, Strict, SystemEntry

FOLDER = Path(__file__).resolve().parent
_TABLES = ("system", "computed")
Shape = TypeVar("Shape", bound=Strict)


class Named(Protocol):
    """What no two entries may share."""

    @property
    def slug(self) -> str:
        """The name in addresses and on the command line."""

    @property
    def name(self) -> str:
        """The name on pages."""


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
        If one cannot be read, or is not of that shape.
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


def refuse_repeated_names(found: Iterable[tuple[str, Named]], *, of: str) -> None:
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
        msg = f"{path}: cannot be read: {error}"
        raise CatalogueError(msg) from error
    return path.name, parse_file(text, shape, source=path.name)


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
