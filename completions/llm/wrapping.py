"""Take off what models and servers put around a message: thoughts, special tokens, roles, quotes.

Only what cannot be part of the message is taken off: it stands at an edge, and nothing of its kind
stands anywhere else. Where that is not certain, the answer is no text.
"""

import json
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace

ONLY_THOUGHTS = "only_thoughts"
UNCLEAR = "unclear_text"
"""Kinds of failure: nothing but thoughts came, or nobody knows where the message begins or ends."""
THOUGHTS, TOKENS, INVISIBLE, ROLE, QUOTES = (
    *("thoughts", "special tokens", "invisible characters", "role", "quotation marks"),
)
_MOST_LAYERS = 6
_TEXTS = ("text", "output_text")

_TAG = r"(?:(?:seed:)?think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)"
_TAGS = re.compile(rf"</?{_TAG}>|\[/?THINK\]|\u25c1/?think\u25b7", re.IGNORECASE)
_CHANNEL = re.compile(
    r"<\|channel\|>\s*(?P<name>\w{1,20})[^<\n]{0,60}"
    r"(?:<\|constrain\|>\s*\w{1,20}\s*)?<\|message\|>"
)
_TOKEN = re.compile(
    r"<\|[^|<>\s]{1,40}\|>|<\uff5c[^\uff5c<>\n]{1,40}\uff5c>|</?s>|<(?:bos|eos|pad|unk)>"
    r"|<(?:start|end)_of_turn>|\[/?INST\]|<</?SYS>>"
)
_SPOKEN_TO = re.compile(r"(?:assistant|model|supporter)\b[ \t]*\n?", re.IGNORECASE)
_SPEAKER = re.compile(
    r"(?:\*\*|__)?(?:supporter|assistant|counsell?or|therapist|listener|chatbot|bot|ai|model)"
    r"[ \t]{0,3}(?:[:\uff1a](?:\*\*|__)|(?:\*\*|__)?[ \t]{0,3}[:\uff1a])"
    r"(?=\s|[\"\u201c\u00ab\u201e]|\w)[ \t]*",
    re.IGNORECASE,
)
_SUSPICIOUS = re.compile(
    r"[<\[\u200b\ufeff\u2060\u25c1]|\A[^\w\s]"
    r"|\A\W*\w+[ \t]{0,3}(?:\*\*|__)?[ \t]{0,3}[:\uff1a]"
)
"""Without one of these there is nothing to take off: most texts have none."""
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Signs that count as letters or symbols, and show nothing."""
_ASIDE = "\ue000"
"""A sign that no alphabet has: it marks where an object stood."""
_PLACE = re.compile(rf"\{{{_ASIDE}(\d+)\}}")
_MOST_ASIDE = 20
_DECODER = json.JSONDecoder()
_HALF = re.compile("[\ud800-\udfff]")
_PAIRS = (
    *('""', "''", "\u201c\u201d", "\u2018\u2019", "\u201e\u201c", "\u201a\u2018", "\u00ab\u00bb"),
    *("\u00bb\u00ab", "\u201d\u201d", "\u300c\u300d", "\u300e\u300f"),
)


@dataclass(frozen=True)
class Unwrapped:
    """A message, the names of what was taken off it, and why it is none, if it is not."""

    text: str
    stripped: tuple[str, ...] = ()
    fault: str = ""


class _NoTextError(ValueError):
    """The message cannot be told from what stands around it; the words are a kind of failure."""


def unwrapped(raw: str, *, is_prose: bool = True) -> Unwrapped:
    """Return the message in an answer.

    A speaker's name and quotation marks around the whole are taken off a message to a person
    alone: ``is_prose`` is false for answers in JSON, whose strings may quote anything.
    """
    if is_prose:
        return _bare(raw.strip(), is_prose=True)
    text, objects = _set_aside(raw.strip())
    found = _bare(text, is_prose=False)
    return replace(found, text=_PLACE.sub(lambda one: objects[int(one[1])], found.text))


def _set_aside(text: str) -> tuple[str, list[str]]:
    """Return the text with a mark in place of each JSON object, and the objects.

    Whatever stands in their strings is then not looked at.
    """
    objects: list[str] = []
    if (text.startswith("{") and text.endswith("}")) or _ASIDE in text:
        return text, objects
    pieces, done, begin = list[str](), 0, text.find("{")
    for _try in range(_MOST_ASIDE):
        if begin < 0:
            break
        if end := _end_of_object(text, begin):
            pieces += [text[done:begin], f"{{{_ASIDE}{len(objects)}}}"]
            objects.append(text[begin:end])
            done = end
        begin = text.find("{", end or begin + 1)
    return "".join((*pieces, text[done:])), objects


def _end_of_object(text: str, begin: int) -> int:
    """Return where the JSON object that begins there ends, or 0 if there is none."""
    try:
        return _DECODER.raw_decode(text, begin)[1]
    except (ValueError, RecursionError):
        return 0


def _bare(text: str, *, is_prose: bool) -> Unwrapped:
    """Return the message in a text, or why there is none."""
    stripped = dict[str, None]()
    for _layer in range(_MOST_LAYERS if not is_prose or _SUSPICIOUS.search(text) else 0):
        try:
            bare = _layer_off(text, stripped, is_prose=is_prose)
        except _NoTextError as error:
            return Unwrapped(text, tuple(stripped), str(error))
        if bare == text:
            break
        text = bare
    if THOUGHTS in stripped and not is_visible(text):
        return Unwrapped(text, tuple(stripped), ONLY_THOUGHTS)
    return Unwrapped(text, tuple(stripped))


def _layer_off(text: str, stripped: dict[str, None], *, is_prose: bool) -> str:
    """Return the text without one layer of each kind, and note the kinds that were there."""
    for name, step in (*_ALWAYS, *_PROSE) if is_prose else _ALWAYS:
        if not is_prose and text.startswith("{") and text.endswith("}"):
            break
        bare = step(text).strip()
        if bare != text:
            text = bare
            stripped[name] = None
    return text


def is_visible(text: str) -> bool:
    """Say whether a reader would see anything of a text."""
    return any(unicodedata.category(one)[0] not in "CZM" and one not in _BLANK for one in text)


def text_of(content: object) -> object:
    """Return content in parts as one text, with parts that are thoughts between their tags.

    Anything else comes back as it is.
    """
    if not isinstance(content, list):
        return content
    return "".join(map(_part, content))


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    for name in ("thinking", "reasoning"):
        if part.get("type") == name:
            thought = part.get(name, part.get("text"))
            return f"<think>{text_of(thought) or ''}</think>"
    return str(part.get("text") or "") if part.get("type", "text") in _TEXTS else ""


def joined(pieces: list[str]) -> str:
    """Return pieces of a stream as one text; a character cut in two between them is whole again."""
    text = "".join(pieces)
    if not _HALF.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _without_edges(text: str) -> str:
    """Take off what nobody can see at the edges; behind a letter, a joiner can change its form."""
    return text.strip("\ufeff\u2060\u200b").lstrip("\u200c\u200d")


def _without_channels(text: str) -> str:
    """Keep the channel that is meant for the reader, where a model names channels."""
    named = list(_CHANNEL.finditer(text))
    if not named:
        return text
    finals = [one for one in named if one["name"].lower() == "final"]
    if not finals:
        raise _NoTextError(ONLY_THOUGHTS)
    if named[-1] is not finals[0]:
        raise _NoTextError(UNCLEAR)
    return text[finals[0].end() :]


def _without_thoughts(text: str) -> str:
    """Take off a block of thoughts before or behind the message, or up to a closing tag alone."""
    tags = list(_TAGS.finditer(text))
    if not tags:
        return text
    closes = [tag[0].startswith("/", 1) for tag in tags]
    if closes == [True]:
        return text[tags[0].end() :]
    if closes == [False] and not text[: tags[0].start()].strip():
        raise _NoTextError(ONLY_THOUGHTS)
    if closes[:2] == [False, True] and not text[: tags[0].start()].strip():
        return text[tags[1].end() :]
    if closes[-2:] == [False, True] and not text[tags[-1].end() :].strip():
        return text[: tags[-2].start()]
    raise _NoTextError(UNCLEAR)


def _without_tokens(text: str) -> str:
    """Take off the tokens that servers let through at the edges."""
    bare = _without_first_tokens(text)
    for token in reversed(list(_TOKEN.finditer(bare))):
        if bare[token.end() :].strip():
            raise _NoTextError(UNCLEAR)
        bare = bare[: token.start()]
    return bare


def _without_first_tokens(text: str) -> str:
    """Take off the tokens that open a turn, with the role that stands between or behind them."""
    while (first := _TOKEN.match(text)) is not None:
        text = text[first.end() :].lstrip()
        role = _SPOKEN_TO.match(text)
        if role is not None and ("start" in first[0] or _TOKEN.match(text, role.end())):
            text = text[role.end() :].lstrip()
    return text


def _without_speaker(text: str) -> str:
    found = _SPEAKER.match(text)
    return text[found.end() :] if found else text


def _without_quotes(text: str) -> str:
    """Take off quotation marks around the whole, unless some stand inside as well."""
    inside = text[1:-1]
    is_quoted = text[:1] + text[-1:] in _PAIRS and inside
    return text if not is_quoted or {text[0], text[-1]} & set(inside) else inside


_ALWAYS: tuple[tuple[str, Callable[[str], str]], ...] = (
    (INVISIBLE, _without_edges),
    (THOUGHTS, _without_channels),
    (THOUGHTS, _without_thoughts),
    (TOKENS, _without_tokens),
)
_PROSE: tuple[tuple[str, Callable[[str], str]], ...] = (
    (ROLE, _without_speaker),
    (QUOTES, _without_quotes),
)
