"""The systems that a lab wants completions from: TOML files, read strictly."""

from completions.catalogue.entries import Catalogue, Computed, Entry, Fact, Parameters
from completions.catalogue.files import CatalogueError, load_catalogues, parse_catalogue, shipped

__all__ = [
    "Catalogue",
    "CatalogueError",
    "Computed",
    "Entry",
    "Fact",
    "Parameters",
    "load_catalogues",
    "parse_catalogue",
    "shipped",
]
