"""Show the Markdown of a study file: consent, instructions and debrief as safe HTML.

A study's authors may write paragraphs, *emphasis*, lists, headings and https links. Everything
else, HTML above all, is shown as the characters that they typed.
"""

from collections.abc import Sequence
from functools import lru_cache

from django import template
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

register = template.Library()
DEEPEST = 6
WRITTEN = ("heading", "list", "emphasis", "link", "escape", "newline")


class _Reader(MarkdownIt):
    """CommonMark with no more than what is wanted switched on."""

    def __init__(self) -> None:
        super().__init__("zero", {"html": False, "linkify": False, "typographer": False})
        self.enable(list(WRITTEN))

    def validateLink(self, url: str) -> bool:  # noqa: N802 (the library's name)
        """Say whether an address may be linked to; others stay as they were typed."""
        return url.startswith("https://")


_reader = _Reader()


@register.filter
def markdown(text: str, top: int = 3) -> SafeString:
    """Return ``text`` as HTML, its highest heading at level ``top``."""
    return mark_safe(render(text, top=top))  # noqa: S308 (render escapes all that it does not know)


@lru_cache(maxsize=512)
def render(text: str, *, top: int = 2) -> str:
    """Return the HTML of ``text``, with its highest heading at level ``top``.

    Levels follow each other without a gap, whatever was typed, so that a page keeps one outline.
    """
    tokens = _reader.parse(text)
    _fit_headings(tokens, top=top)
    _guard_links(tokens)
    return str(_reader.renderer.render(tokens, _reader.options, {})).strip()


def _fit_headings(tokens: Sequence[Token], *, top: int) -> None:
    """Give headings the levels from ``top`` on, each at most one below the heading before it."""
    headings = [token for token in tokens if token.type in {"heading_open", "heading_close"}]
    ranks = {tag: place for place, tag in enumerate(sorted({token.tag for token in headings}))}
    level = top - 1
    for token in headings:
        if token.type == "heading_open":
            level = min(top + ranks[token.tag], level + 1, DEEPEST)
        token.tag = f"h{level}"


def _guard_links(tokens: Sequence[Token]) -> None:
    """Let no linked site see or steer the page that it was opened from."""
    for block in tokens:
        for part in block.children or ():
            if part.type == "link_open":
                part.attrs = {"href": part.attrs["href"], "rel": "noopener noreferrer"}
