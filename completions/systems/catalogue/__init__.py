"""The systems that a lab wants completions from: TOML files, read strictly.

Other catalogues, such as that of judges, are read by the same rules.
"""

from completions.systems.catalogue.entries import (
    Catalogue,
    CatalogueEntry,
    Computed,
    Fact,
    ModelId,
    Parameters,
    Slug,
    Strict,
    SystemEntry,
)
from completions.systems.catalogue.files import (
    CatalogueError,
    load_catalogues,
    load_files,
    parse_file,
    refuse_repeated_names,
    shipped,
)

__all__ = [
    "Catalogue",
    "CatalogueEntry",
    "CatalogueError",
    "Computed",
    "Fact",
    "ModelId",
    "Parameters",
    "Slug",
    "Strict",
    "SystemEntry",
    "load_catalogues",
    "load_files",
    "parse_file",
    "refuse_repeated_names",
    "shipped",
]
