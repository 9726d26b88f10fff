"""The judges that a lab may ask: TOML files, read by the same rules as catalogues of systems."""

from collections.abc import Iterable
from pathlib import Path

from pydantic import Field

from completions.systems import catalogue
from completions.systems.catalogue import CatalogueEntry, ModelId, Slug, Strict

JUDGES = Path(__file__).resolve().parent


class JudgeEntry(CatalogueEntry):
    """A judge of a catalogue."""

    family: Slug
    """Maker of the model, never guessed from its name: it never judges its own family."""
    model_id: ModelId


class JudgeCatalogue(Strict):
    """One file: its judges, in its order."""

    judge: tuple[JudgeEntry, ...] = Field(default=(), strict=False)


def shipped() -> tuple[Path, ...]:
    """Return the catalogues of judges that come with the platform."""
    return tuple(sorted(JUDGES.glob("*.toml")))


def load_judges(paths: Iterable[Path]) -> tuple[JudgeEntry, ...]:
    """Return the judges of all the files.

    Raises
    ------
    completions.systems.catalogue.CatalogueError
        If a file cannot be read or used, or two judges have one slug or one name.
    """
    read = catalogue.load_files(paths, JudgeCatalogue)
    found = [(source, one) for source, held in read for one in held.judge]
    catalogue.refuse_repeated_names(found, of="judge")
    return tuple(one for _, one in found)
