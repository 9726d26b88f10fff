"""Read a page, or a piece of one: its forms, its talk and its messages."""

from collections.abc import Collection
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"})


@dataclass
class Form:
    """What a browser would post: the address, the fields as they stand, choices and buttons.

    ``is_swapped`` says that a browser with scripts gets the next piece of the page alone.
    """

    action: str
    is_swapped: bool = False
    fields: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)
    buttons: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Page:
    """An answer of the site: where it came from, and what is on it."""

    path: str
    status: int
    forms: list[Form] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    turns: list[str] = field(default_factory=list)

    def count_words(self, *, known: Collection[str] = ()) -> int:
        """Return how much there is to read: the talk, save for known turns, and the messages."""
        new = [turn for turn in self.turns if turn not in known]
        return sum(len(text.split()) for text in (*new, *self.messages))


def read_page(html: str, *, path: str, status: int) -> Page:
    """Return what is on a page."""
    reader = _Reader(Page(path, status))
    reader.feed(html)
    reader.close()
    return reader.page


class _Reader(HTMLParser):
    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page = page
        self._open: list[tuple[str, str]] = []
        self._form: Form | None = None
        self._textarea = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._form = Form(given.get("action", ""), "hx-post" in given)
            self.page.forms.append(self._form)
        elif given.get("name") and self._form is not None:
            self._take(self._form, tag, given)
        if tag not in VOID:
            self._open.append((tag, given.get("class", "")))
            self._begin(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass
        if tag == "form":
            self._form = None
        elif tag == "textarea":
            self._textarea = ""

    def handle_data(self, data: str) -> None:
        if self._textarea and self._form is not None:
            self._form.fields[self._textarea] += data.removeprefix("\n")
        if (texts := self._texts()) is not None:
            texts[-1] += data

    def _begin(self, tag: str) -> None:
        """Start a new text where a paragraph of the talk or of a message begins."""
        if tag == "p" and (texts := self._texts()) is not None:
            texts.append("")

    def _texts(self) -> list[str] | None:
        """Return the list that a paragraph belongs to here, if to any."""
        if not self._open or "p" not in (tag for tag, _classes in self._open):
            return None
        inside = {name for _tag, classes in self._open for name in classes.split()}
        if "message" in inside:
            return self.page.messages
        return self.page.turns if "turn" in inside else None

    def _take(self, form: Form, tag: str, given: dict[str, str]) -> None:
        name, value = given["name"], given.get("value", "")
        if tag == "button":
            form.buttons.append((name, value))
        elif tag == "textarea":
            form.fields[name] = ""
            self._textarea = name
        elif given.get("type") == "radio":
            form.choices.setdefault(name, []).append(value)
        elif given.get("type") != "checkbox":
            form.fields[name] = value
