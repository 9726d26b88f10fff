"""Show every message in one typographic dress, so that its dress does not give its source away."""

import re
import unicodedata

_SIGNS = str.maketrans(
    {
        "\N{LEFT SINGLE QUOTATION MARK}": "'",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "\N{SINGLE LOW-9 QUOTATION MARK}": "'",
        "\N{MODIFIER LETTER APOSTROPHE}": "'",
        "\N{ACUTE ACCENT}": "'",
        "\N{LEFT DOUBLE QUOTATION MARK}": '"',
        "\N{RIGHT DOUBLE QUOTATION MARK}": '"',
        "\N{DOUBLE LOW-9 QUOTATION MARK}": '"',
        "\N{HORIZONTAL ELLIPSIS}": "...",
        "\N{HYPHEN}": "-",
        "\N{NON-BREAKING HYPHEN}": "-",
        "\N{ZERO WIDTH SPACE}": "",
        "\N{ZERO WIDTH NO-BREAK SPACE}": "",
        "\N{SOFT HYPHEN}": "",
    }
)
_DASH = re.compile(r"\s*[\N{EN DASH}\N{EM DASH}\N{HORIZONTAL BAR}]\s*|(?<=\S)\s*--+\s*(?=\S)")
_RANGE = re.compile(r"(?<=\d)[\N{EN DASH}](?=\d)")
_LINE_MARKUP = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+\N{BULLET}][ \t]+)", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,3}|_{1,3}|~~|`+)(?=\S)(.+?)(?<=\S)\1(?!\w)", re.DOTALL)
_LINK = re.compile(r"\[([^\]\n]+)\]\([^)\s]+\)")


def plain(text: str) -> str:
    """Return ``text`` as one paragraph without markup, with plain quotes, dashes and spaces.

    What is plain already comes back unchanged.
    """
    text = unicodedata.normalize("NFC", text.translate(_SIGNS))
    while (undressed := _undress(text)) != text:  # markup may stand inside markup
        text = undressed
    return text


def _undress(text: str) -> str:
    text = _LINK.sub(r"\1", _LINE_MARKUP.sub("", text))
    text = _EMPHASIS.sub(r"\2", text)
    text = _DASH.sub(" - ", _RANGE.sub("-", text))
    return " ".join(text.split())
