"""Read JSON record by record: a list, a value per line, or one object; never the whole of a list.

The standard library's decoder is asked for one value at a time. Event-based parsers read in pieces
as well; the one that was tried turned half surrogates into question marks (ADR-0012).
"""

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NoReturn, cast

from access.strict_json import DECODER
from completions.files.refusals import InputFileError

LONGEST = 10_000_000
"""Characters that one record may have: a quote that is never closed must not fill the memory."""
LONGEST_TOKEN = 12  # an escaped surrogate pair: what is so near the end may come from the cut
LISTS = frozenset({"data", "rows", "records", "items", "examples", "instances"})
"""Members of one object that hold its records; others beside them are not read."""
NOT_SPACE = re.compile(r"[^ \t\r\n]")


@dataclass(frozen=True)
class FileEntry:
    """One value of the file, or why there is none; ``line`` is known where lines are records."""

    number: int
    value: object = None
    line: int | None = None
    fault: str = ""


class Window:
    """The part of a file that is in memory, and where in the file it is."""

    def __init__(self, chunks: Iterator[str]) -> None:
        self.text = ""
        self.at = 0
        self._chunks = chunks
        self._known = (0, 1, 1)  # an index, and its line and column in the file

    def next_character(self) -> str:
        """Skip white space; return the character after it, or nothing at the end."""
        while True:
            found = NOT_SPACE.search(self.text, self.at)
            self.at = found.start() if found else len(self.text)
            if found or not self.grow():
                return self.text[self.at : self.at + 1]

    def next_line(self) -> str:
        """Return what is left of the line, and pass over it."""
        while (end := self.text.find("\n", self.at)) < 0 and self.grow():
            pass
        end = len(self.text) if end < 0 else end
        line, self.at = self.text[self.at : end], end
        return line

    def grow(self) -> bool:
        """Forget what was passed and read about as much as is left; say whether there was more."""
        n_missing = len(self.text) - self.at
        if n_missing > LONGEST:
            self.fail(f"the record that begins here has over {LONGEST:,} characters", self.at)
        fresh = next(self._chunks, "")
        while fresh and len(fresh) < n_missing and (chunk := next(self._chunks, "")):
            fresh += chunk
        if fresh:
            self._known = (0, *self.place(self.at))
            self.text = self.text[self.at :] + fresh
            self.at = 0
        return bool(fresh)

    def place(self, index: int) -> tuple[int, int]:
        """Return line and column in the file of a character that was not passed before."""
        known, line, column = self._known
        n_lines = self.text.count("\n", known, index)
        column = index - self.text.rfind("\n", known, index) if n_lines else column + index - known
        self._known = (index, line + n_lines, column)
        return line + n_lines, column

    def fail(self, reason: str, index: int) -> NoReturn:
        """Raise an InputFileError about the character at ``index``."""
        line, column = self.place(index)
        msg = f"is not valid JSON at line {line}, column {column}: {reason}"
        raise InputFileError(msg)


def records(chunks: Iterator[str]) -> Iterator[FileEntry]:
    """Yield the records of a JSON list, of JSON lines, or of one object, as they are read.

    One object is one record, unless a member such as ``data`` holds a list of them, or all its
    members are objects: then each is a record, and its name is its ``id`` if it has none.

    Raises
    ------
    InputFileError
        If it is neither; in a list or one object, at the first error of syntax. A line that is
        not JSON is an entry with its fault.
    """
    window = Window(chunks)
    first = window.next_character()
    if first == "[":
        yield from _array(window)
        _end(window, "list")
    elif first == "{":
        yield from _object(window) if _is_on_lines(window) else _lines(window)
    else:
        window.fail("expected a list, or an object in each line", window.at)


def _array(window: Window) -> Iterator[FileEntry]:
    window.at += 1
    if window.next_character() != "]":
        for number in itertools.count(1):
            yield FileEntry(number, _value(window))
            if window.next_character() == "]":
                break
            if window.next_character() != ",":
                window.fail("expected a comma or the end of the list", window.at)
            window.at += 1
            window.next_character()
    window.at += 1


def _end(window: Window, what: str) -> None:
    if window.next_character():
        window.fail(f"something follows the end of the {what}", window.at)


def _is_on_lines(window: Window) -> bool:
    """Whether the first object goes on after its line, or is all that the file holds."""
    while (end := window.text.find("\n", window.at)) < 0 and window.grow():
        pass
    line = window.text[window.at : end if end >= 0 else None]
    try:
        found = DECODER.decode(line)
    except json.JSONDecodeError as error:
        return end >= 0 and error.pos + 1 >= len(line.rstrip())
    except (ValueError, RecursionError):
        return False
    return _is_wrapped(found) and (end < 0 or not _has_more(window, end))


def _has_more(window: Window, end: int) -> bool:
    while not (found := NOT_SPACE.search(window.text, end)):
        passed = end - window.at
        if not window.grow():
            return False
        end = window.at + passed
    return found is not None


def _is_wrapped(value: object) -> bool:
    return isinstance(value, dict) and (_holds_list(value) or _is_keyed(value))


def _holds_list(value: dict[str, object]) -> bool:
    return any(isinstance(value.get(name), list) for name in LISTS)


def _is_keyed(value: dict[str, object]) -> bool:
    return bool(value) and all(isinstance(one, dict) for one in value.values())


def _object(window: Window) -> Iterator[FileEntry]:
    """Yield the records of one object: those of its list as they are read."""
    start = window.place(window.at)[0]
    members, places, list_name = dict[str, object](), dict[str, int](), ""
    for name in _names(window):
        if name in LISTS and window.next_character() == "[":
            if list_name:
                window.fail(f"{list_name} and {name} both hold records", window.at)
            list_name = name
            yield from map(_row, _array(window))
            continue
        places[name] = window.place(window.at)[0]
        members[name] = _value(window)
    _end(window, "object")
    if list_name:
        return
    if not _is_keyed(members):
        yield FileEntry(1, members, start)
        return
    for number, (name, value) in enumerate(members.items(), start=1):
        yield FileEntry(number, {"id": name, **cast("dict[str, object]", value)}, places[name])


def _names(window: Window) -> Iterator[str]:
    """Yield the name of each member, with the window at its value; leave it after the object."""
    seen = set[str]()
    window.at += 1
    if window.next_character() != "}":
        while True:
            place = window.next_character()
            name = _value(window) if place == '"' else window.fail("expected a name", window.at)
            if str(name) in seen:
                window.fail("a name stands twice in the object", window.at)
            seen.add(str(name))
            if window.next_character() != ":":
                window.fail("Expecting ':' delimiter", window.at)
            window.at += 1
            window.next_character()
            yield str(name)
            if window.next_character() == "}":
                break
            if window.next_character() != ",":
                window.fail("expected a comma or the end of the object", window.at)
            window.at += 1
    window.at += 1


def _row(entry: FileEntry) -> FileEntry:
    """Take a row out of what the rows service of a dataset hub puts around it."""
    value = entry.value
    if isinstance(value, dict) and "row_idx" in value and isinstance(value.get("row"), dict):
        return replace(entry, value=value["row"])
    return entry


def _value(window: Window) -> object:
    """Return the value that begins here, reading on as long as it may be cut off."""
    while True:
        try:
            value, end = DECODER.raw_decode(window.text, window.at)
        except json.JSONDecodeError as error:
            if not (_may_be_cut(error) and window.grow()):
                window.fail(error.msg, error.pos)
        except (ValueError, RecursionError) as error:
            window.fail(_beyond_json(error), window.at)
        else:
            if end + LONGEST_TOKEN < len(window.text) or not window.grow():
                window.at = end
                return value


def _lines(window: Window) -> Iterator[FileEntry]:
    number = 0
    while window.next_character():
        number += 1
        line, column = window.place(window.at)
        text = window.next_line()
        try:
            yield FileEntry(number, DECODER.decode(text), line)
        except json.JSONDecodeError as error:
            fault = f"not valid JSON at column {column + error.pos}: {error.msg}"
            yield FileEntry(number, None, line, fault)
        except (ValueError, RecursionError) as error:
            yield FileEntry(number, None, line, f"not valid JSON: {_beyond_json(error)}")


def _may_be_cut(error: json.JSONDecodeError) -> bool:
    """Whether the error may come from where the window ends, and not from the file."""
    at_the_end = error.pos + LONGEST_TOKEN >= len(error.doc)
    return at_the_end or error.msg.startswith("Unterminated string")


def _beyond_json(error: ValueError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "the record is nested too deep"
    return f"in the record, {error}"
