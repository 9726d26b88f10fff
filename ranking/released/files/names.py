"""Which files a release has, by what it says of itself."""

from collections.abc import Iterator, Mapping
from typing import Any

from ranking.released.files.tables import TABLES
from ranking.released.writing import SUMS

ABOUT = "release.json"
ALWAYS = (
    ABOUT,
    SUMS,
    "README.md",
    "LICENSE",
    "NOTICE",
    "croissant.json",
    "study/protocol.json",
    "study/rubric.json",
    "study/plan.json",
)
REBUILD = "REBUILD.md"
"""How to put the text back, where it is not in the release."""


def names_of_files(about: Mapping[str, Any]) -> frozenset[str]:
    """Return the paths of all files of a release whose release.json says ``about``.

    Raises
    ------
    KeyError, TypeError
        If it lacks what every release says.
    """
    return frozenset(_names(about))


def _names(about: Mapping[str, Any]) -> Iterator[str]:
    yield from ALWAYS
    if not about["dataset"]["has_text"]:
        yield REBUILD
    counts = about["counts"]
    yield from (one.path for one in TABLES if not one.is_optional or one.name in counts)
    yield from (f"prompts/{name}" for name in about["prompts"])
    for fit in about["fits"]:
        key = fit["fit"]
        yield f"ratings/{key}.json"
        yield from (f"analyses/{key}/{kind}.json" for kind in fit["analyses"])
        yield from (f"figures/{key}/{name}.svg" for name in fit["figures"])
