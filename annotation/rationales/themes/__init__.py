"""What rationales speak of: the codebook of themes, and how a model is asked for them."""

from annotation.rationales.themes.codebook import (
    CODER,
    SHIPPED,
    Codebook,
    CodebookError,
    Theme,
    answer_schema,
    coder_messages,
    coder_prompt,
    load_codebook,
    parse_codebook,
    read_themes,
)

__all__ = [
    "CODER",
    "SHIPPED",
    "Codebook",
    "CodebookError",
    "Theme",
    "answer_schema",
    "coder_messages",
    "coder_prompt",
    "load_codebook",
    "parse_codebook",
    "read_themes",
]
