"""What a page says beside its texts; free of the framework."""

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass

TOKEN = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
SECRET = re.compile(r'(name="csrfmiddlewaretoken" value=")[^"]*')
TAG = re.compile(r"<[a-zA-Z][^<>]*>")
NUMBER = re.compile(r"\d+")
SHORTEST = 4  # letters; a shorter name stands in too many words


@dataclass(frozen=True)
class Tag:
    """How often a tag stands on a page, its numbers aside, and those of the first."""

    n: int
    numbers: tuple[int, ...]


def tags_of(page: str) -> dict[str, Tag]:
    """Return the tags of a page, alike but for their numbers, by what they are alike in."""
    found: dict[str, Tag] = {}
    for tag in TAG.findall(page):
        shape = NUMBER.sub("#", " ".join(tag.split()))
        known = found.get(shape)
        numbers = tuple(map(int, NUMBER.findall(tag))) if known is None else known.numbers
        found[shape] = Tag(1 if known is None else known.n + 1, numbers)
    return found


def without_chance(page: str) -> str:
    """Return a page without what is drawn anew for each: lease tokens and form secrets."""
    return SECRET.sub(r"\1", TOKEN.sub("token", page))


def without_texts(page: str, texts: Iterable[str], *, blank: str) -> str:
    """Return a page whose message paragraphs say ``blank``, as often as a text stands in one."""
    for text in texts:
        page = page.replace(f">{html.escape(text)}</p>", f">{blank}</p>", 1)
    return page


def names_in(page: str, names: Iterable[str]) -> list[str]:
    """Return the names that stand in a page as words of their own, whatever their case."""
    lower = page.lower()
    return [
        name
        for name in sorted(set(names))
        if len(name) >= SHORTEST
        and name.lower() in lower
        and re.search(rf"(?<![\w-]){re.escape(name.lower())}(?![\w-])", lower)
    ]
