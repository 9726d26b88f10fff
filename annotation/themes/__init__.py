"""What rationales speak of: the codebook of themes, and rationales coded by it."""

from annotation.themes.codebook import (
    SHIPPED,
    Codebook,
    CodebookError,
    Theme,
    load_codebook,
    parse_codebook,
)

__all__ = [
    "SHIPPED",
    "Codebook",
    "CodebookError",
    "Theme",
    "load_codebook",
    "parse_codebook",
]
