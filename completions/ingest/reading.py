"""Read a file of JSON record by record: an array, or one value per line; never the whole of it.

The standard library's decoder is asked for one value at a time. Event-based parsers read in pieces
as well; the one that was tried turned half surrogates into question marks (docs/adr/0020).
"""

import codecs
import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from completions.ingest.errors import IngestError

CHUNK = 1 << 16
LONGEST = 10_000_000
"""Characters that one record may have: a quote that is never closed must not fill the memory."""
LONGEST_TOKEN = 12  # an escaped surrogate pair: what is so near the end may come from the cut
NOT_SPACE = re.compile(r"[^ \t\r\n]")


@dataclass(frozen=True)
class Entry:
    """One value of the file, or why there is none; ``line`` is known where lines are records."""

    number: int
    value: object = None
    line: int | None = None
    fault: str = ""


class Window:
    """The part of a file that is in memory, and where in the file it is."""

    def __init__(self, path: Path) -> None:
        self.text = ""
        self.at = 0
        self._path = path
        self._chunks = _chunks(path)
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
        wanted = len(self.text) - self.at
        if wanted > LONGEST:
            self.fail(f"the record that begins here has over {LONGEST:,} characters", self.at)
        fresh = next(self._chunks, "")
        while fresh and len(fresh) < wanted and (chunk := next(self._chunks, "")):
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
        """Raise an IngestError about the character at ``index``."""
        line, column = self.place(index)
        msg = f"{self._path}: not valid JSON at line {line}, column {column}: {reason}"
        raise IngestError(msg)


def entries(path: Path) -> Iterator[Entry]:
    """Yield the entries of a JSON array, or of JSON lines, as they are read.

    Raises
    ------
    IngestError
        If the file cannot be read, is not UTF-8, or is neither; in an array, at the first error
        of syntax. A line that is not JSON is an entry with its fault.
    """
    window = Window(path)
    first = window.next_character()
    if first == "[":
        yield from _array(window)
    elif first == "{":
        yield from _lines(window)
    else:
        window.fail("expected a list, or an object in each line", window.at)


def _array(window: Window) -> Iterator[Entry]:
    window.at += 1
    if window.next_character() != "]":
        for number in itertools.count(1):
            yield Entry(number, _value(window))
            if window.next_character() == "]":
                break
            if window.next_character() != ",":
                window.fail("expected a comma or the end of the list", window.at)
            window.at += 1
            window.next_character()
    window.at += 1
    if window.next_character():
        window.fail("something follows the end of the list", window.at)


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


def _lines(window: Window) -> Iterator[Entry]:
    number = 0
    while window.next_character():
        number += 1
        line, column = window.place(window.at)
        text = window.next_line()
        try:
            yield Entry(number, DECODER.decode(text), line)
        except json.JSONDecodeError as error:
            fault = f"not valid JSON at column {column + error.pos}: {error.msg}"
            yield Entry(number, None, line, fault)
        except (ValueError, RecursionError) as error:
            yield Entry(number, None, line, f"not valid JSON: {_beyond_json(error)}")


def _may_be_cut(error: json.JSONDecodeError) -> bool:
    """Whether the error may come from where the window ends, and not from the file."""
    at_the_end = error.pos + LONGEST_TOKEN >= len(error.doc)
    return at_the_end or error.msg.startswith("Unterminated string")


def _beyond_json(error: ValueError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "the record is nested too deep"
    return f"in the record, {error}"


def _refuse_constant(name: str) -> NoReturn:
    msg = f"{name} is not a JSON number"
    raise ValueError(msg)


DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _chunks(path: Path) -> Iterator[str]:
    """Yield the text of a file in pieces, without its byte order mark."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    position = 0  # of the first byte that the decoder has not turned into text
    try:
        with path.open("rb") as file:
            while True:
                data = file.read(CHUNK)
                text = decoder.decode(data, final=not data)
                if shown := text if position else text.removeprefix("\ufeff"):
                    yield shown
                if not data:
                    return
                position += len(text.encode())
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror}"
        raise IngestError(msg) from error
    except UnicodeDecodeError as error:
        found, at = error.object[error.start], position + error.start
        msg = f"{path}: not UTF-8: unexpected byte 0x{found:02x} at position {at}"
        raise IngestError(msg) from error
