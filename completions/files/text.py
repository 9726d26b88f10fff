"""From the bytes of a file to its text, in pieces; never the whole of it.

UTF-8 and UTF-16 are told by a byte order mark or by their zero bytes, gzip by its first bytes.
Every other encoding is refused: a guess between the code pages would store wrong letters.
"""

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NoReturn, cast

from completions.files.refusals import SAVE_AS, InputFileError

CHUNK = 1 << 16
MOST_UNPACKED = 64_000_000
"""Bytes that an upload may unpack to: twice the largest upload, six times ESConv."""
LONGEST_LINE = 100_000
"""Characters: a message of 4,000 characters has less than half of it in any spelling."""
GZIP = b"\x1f\x8b"
PARQUET = b"PAR1"
MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
SURELY = 4
"""How many times more zero bytes stand on one side in UTF-16: a few letters have theirs there."""
SIGNS = re.compile(rb'[\n,"]')
PAIRED = re.compile(rb'\x00[\n,"]|[\n,"]\x00')
"""What stands in every file, as UTF-16 has it."""
NO_TEXT = {
    b"PK\x03\x04": f"is a workbook or an archive; {SAVE_AS}, and send that",
    b"\xd0\xcf\x11\xe0": f"is an old workbook; {SAVE_AS}, and send that",
    b"%PDF": "is a PDF; send the table or the JSON that it was made from",
}


@contextmanager
def opened(source: Path | BinaryIO) -> Iterator[BinaryIO]:
    """Give the file, unpacked if it is packed by gzip, at its beginning.

    Raises
    ------
    InputFileError
        If it cannot be opened or read, is broken gzip, or an upload that unpacks to too much.
    """
    try:
        if not isinstance(source, Path):
            file = _unpacked(source)
            if file is not source:
                _check_length(file)
            yield file
            return
        with source.open("rb") as file:
            yield _unpacked(file)
    except gzip.BadGzipFile as error:
        msg = "is no whole gzip file; pack it again"
        raise InputFileError(msg) from error
    except (EOFError, zlib.error) as error:
        msg = "is a gzip file that ends too early or is damaged; pack it again"
        raise InputFileError(msg) from error
    except OSError as error:
        msg = f"cannot be read: {error.strerror}"
        raise InputFileError(msg) from error


def too_much() -> InputFileError:
    """Return the refusal of an upload that is small and would fill the memory."""
    return InputFileError(f"unpacks to more than {MOST_UNPACKED // 10**6} MB; split it")


def beginning(file: BinaryIO) -> bytes:
    """Return the first bytes, and go back to the beginning."""
    found = file.read(CHUNK)
    file.seek(0)
    return found


def chunks(file: BinaryIO) -> Iterator[str]:
    r"""Yield the text in pieces, without its byte order mark, each line end as ``\n``.

    Raises
    ------
    InputFileError
        If it is no text, or not in the encoding that its beginning tells; with line and column.
    """
    first = beginning(file)
    encoding, mark = _encoding(first)
    file.seek(len(mark))
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding)(), translate=True)
    line, column = 1, 1
    while True:
        data = file.read(CHUNK)
        try:
            text = decoder.decode(cast("str", data), final=not data)  # bytes, by its decoder
        except UnicodeDecodeError as error:
            before = error.object[: error.start].decode(encoding)
            line, column = _after(before, line, column)
            _refuse(error, encoding, line, column)
        line, column = _after(text, line, column)
        if text:
            yield text
        if not data:
            return


def text_lines(source: Path | BinaryIO) -> Iterator[str]:
    r"""Yield the lines of a file of plain text, each with ``\n`` at its end.

    Raises
    ------
    InputFileError
        If it cannot be read as text.
    """
    with opened(source) as file:
        yield from lines(file)


def lines(file: BinaryIO) -> Iterator[str]:
    r"""Yield the lines of a file, each with ``\n`` at its end.

    Raises
    ------
    InputFileError
        As `chunks`, or if a line is longer than any row.
    """
    number, rest = 0, ""
    for chunk in chunks(file):
        *whole, rest = (rest + chunk).split("\n")
        for number, line in enumerate(whole, start=number + 1):  # noqa: B020 (it goes on counting)
            yield _bounded(line, number) + "\n"
        _bounded(rest, number + 1)
    if rest:
        yield rest + "\n"


def _unpacked(file: BinaryIO) -> BinaryIO:
    file.seek(0)
    is_packed = file.read(len(GZIP)) == GZIP
    file.seek(0)
    return cast("BinaryIO", gzip.GzipFile(fileobj=file)) if is_packed else file


def _check_length(file: BinaryIO) -> None:
    """Refuse a file that is longer than an upload may be; go back to its beginning."""
    file.seek(MOST_UNPACKED)  # gzip unpacks piece by piece on its way, and keeps none
    if file.read(1):
        raise too_much()
    file.seek(0)


def _encoding(first: bytes) -> tuple[str, bytes]:
    """Return the encoding, and the byte order mark that stands before the text."""
    for begins, why in NO_TEXT.items():
        if first.startswith(begins):
            raise InputFileError(why)
    for mark, encoding in MARKS.items():
        if first.startswith(mark):
            return encoding, mark
    if b"\x00" not in first:
        return "utf-8", b""
    if SURELY * len(PAIRED.findall(first)) < len(SIGNS.findall(first)):
        before, _, _ = first.decode("utf-8", "replace").partition("\x00")
        line, column = _after(before, 1, 1)
        msg = f"has a zero byte (NUL) at line {line:,}, column {column:,}; take it out"
        raise InputFileError(msg)
    even, odd = first[::2].count(0), first[1::2].count(0)
    if max(even, odd) > SURELY * min(even, odd):
        return ("utf-16-be" if even > odd else "utf-16-le"), b""
    msg = f"is no text; {SAVE_AS}"
    raise InputFileError(msg)


def _refuse(error: UnicodeDecodeError, encoding: str, line: int, column: int) -> NoReturn:
    name = "UTF-8" if encoding == "utf-8" else "UTF-16"
    found = error.object[error.start]
    msg = f"is not {name}: byte 0x{found:02x} at line {line:,}, column {column:,}; {SAVE_AS}"
    raise InputFileError(msg) from error


def _after(text: str, line: int, column: int) -> tuple[int, int]:
    """Return line and column after a piece of text that begins at ``line`` and ``column``."""
    n_lines = text.count("\n")
    last = len(text) - text.rfind("\n") if n_lines else column + len(text)
    return line + n_lines, last


def _bounded(line: str, number: int) -> str:
    if len(line) > LONGEST_LINE:
        msg = f"line {number:,} has over {LONGEST_LINE:,} characters"
        raise InputFileError(msg)
    return line
