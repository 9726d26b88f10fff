"""Show every message in one typographic dress, so that its dress does not give its source away.

Raters, judges and reviewers see the same dress. ``VERSION`` is part of a study's protocol: raise
it whenever some text would come out differently, so that results say which dress was worn.
"""

import re
import unicodedata
from functools import lru_cache

VERSION = "normaliser-2"
KEPT = 4096  # texts: the same turns are shown again and again
DEEPEST = 20
"""How many layers of markup are taken off: more is an attack, and each costs a look at all."""

_SIGNS = str.maketrans(
    dict.fromkeys(
        "\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}"
        "\N{SINGLE LOW-9 QUOTATION MARK}\N{SINGLE HIGH-REVERSED-9 QUOTATION MARK}"
        "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"
        "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"
        "\N{MODIFIER LETTER APOSTROPHE}\N{ACUTE ACCENT}\N{PRIME}\N{FULLWIDTH APOSTROPHE}",
        "'",
    )
    | dict.fromkeys(
        "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}"
        "\N{DOUBLE LOW-9 QUOTATION MARK}\N{DOUBLE HIGH-REVERSED-9 QUOTATION MARK}"
        "\N{LEFT-POINTING DOUBLE ANGLE QUOTATION MARK}"
        "\N{RIGHT-POINTING DOUBLE ANGLE QUOTATION MARK}"
        "\N{DOUBLE PRIME}\N{FULLWIDTH QUOTATION MARK}",
        '"',
    )
    | dict.fromkeys("\N{HYPHEN}\N{NON-BREAKING HYPHEN}\N{MINUS SIGN}", "-")
    | {"\N{HORIZONTAL ELLIPSIS}": "..."}
)
_DASHES = "\N{FIGURE DASH}\N{EN DASH}\N{EM DASH}\N{HORIZONTAL BAR}\N{TWO-EM DASH}\N{THREE-EM DASH}"
_BULLETS = "\N{BULLET}\N{TRIANGULAR BULLET}\N{HYPHEN BULLET}\N{WHITE BULLET}\N{BLACK SMALL SQUARE}"

# Formats (zero width, soft hyphen, direction marks, tags) and controls, save for white space;
# joiners stay beyond ASCII, where scripts and emoji need them. The last row only looks empty.
_INVISIBLE = re.compile(
    r"[\u0000-\u0008\u000e-\u001b\u007f-\u0084\u0086-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f"
    r"\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff\ufe00-\ufe0d"
    r"\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\uffa0]"
    r"|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)

_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*[\w+#.-]*[ \t]*$", re.MULTILINE)
_RULE = re.compile(r"^[ \t]*(?:([-*_])(?:[ \t]*\1){2,}|={3,})[ \t]*$", re.MULTILINE)
_LINE_MARKUP = re.compile(
    rf"^[ \t]*(?:#{{1,6}}|>+|[-*+{_BULLETS}{_DASHES}])[ \t]+(?:\[[ xX]\][ \t]+)?", re.MULTILINE
)
_LINK = re.compile(
    r"!?\[([^\[\]\n]+)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:[ \t]+\"[^\"\n]*\")?\)"
)
_BARE_LINK = re.compile(r"<(https?://[^\s<>]+)>")
_INLINE_TAG = re.compile(r"</?(?:b|i|u|em|strong|code)>", re.IGNORECASE)
_BLOCK_TAG = re.compile(r"</?(?:p|ul|ol|li|h[1-6])>|<br ?/?>", re.IGNORECASE)

# Emphasis stands at the edges of words: "f**k", "2 * 3" and "^_^" are none. One without a letter
# or digit in it is none either; see ``_said``. The bound keeps a hostile text from costing much.
_EMPHASIS = re.compile(
    r"(?<![^\s(\[{'\"*_~`/])"
    r"(?:(?<!\*)(?P<star>\*{1,3})(?![\s*])|(?<!_)(?P<line>_{1,3})(?![\s_])"
    r"|(?<!~)(?P<wave>~~)(?![\s~])|(?<!`)(?P<tick>`{1,3})(?![\s`]))"
    r"(?P<said>(?:(?!\n[ \t]*\n).){1,1000}?)"
    r"(?(star)(?<![\s*])(?P=star)(?!\*)|(?(line)(?<![\s_])(?P=line)(?!_)"
    r"|(?(wave)(?<![\s~])~~(?!~)|(?<![\s`])(?P=tick)(?!`))))"
    r"(?![^\s)\]}'\".,;:!?*_~`/])",
    re.DOTALL,
)
_LABEL = re.compile(r"(?<![\w*])\*\*(?![\s*])(?=[^*\n]*[^\W_*\n])([^*\n]*+(?<=[.:!?,]))\*\*(?=\w)")

_RANGE = re.compile(rf"(?<=\d)[{_DASHES}](?=\d)")
_DASH = re.compile(rf" ?[{_DASHES}]+ ?|(?<=[\w.,;!?'\")])(?: --+ |--+ ?)(?=[\w'\"(])")


@lru_cache(maxsize=KEPT)
def plain(text: str) -> str:
    """Return ``text`` as one paragraph without markup, with plain quotes, dashes and spaces.

    What is plain already comes back unchanged, and what can be seen never disappears altogether.
    """
    for _layer in range(DEEPEST):
        cleaned = _clean(text)
        undressed = _undress(cleaned) or " ".join(cleaned.split())
        if undressed == text:  # no markup stood inside other markup
            break
        text = undressed
    return text


def typed(text: str) -> str:
    """Return what somebody typed, with plain line ends and without what nobody can see.

    Forms apply it before any rule: so a length is the one that the browser counts, and signs
    without a shape are no reason.
    """
    return _seen(text.replace("\r\n", "\n").replace("\r", "\n"))


def _clean(text: str) -> str:
    return _seen(text.translate(_SIGNS))


def _seen(text: str) -> str:
    return unicodedata.normalize("NFC", _INVISIBLE.sub("", text))


def _undress(text: str) -> str:
    text = _LINE_MARKUP.sub("", _RULE.sub("", _FENCE.sub("", text)))
    text = _BLOCK_TAG.sub(" ", _INLINE_TAG.sub("", text))
    text = _BARE_LINK.sub(r"\1", _LINK.sub(r"\1", text))
    text = _EMPHASIS.sub(_said, _LABEL.sub(r"\1", text))
    text = _RANGE.sub("-", " ".join(text.split()))
    return _DASH.sub(" - ", text).strip()


def _said(emphasis: re.Match[str]) -> str:
    said = emphasis["said"]
    return said if any(map(str.isalnum, said)) else emphasis[0]
