"""From a file to dialogues, and to a word about every record that is none."""

import itertools
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from completions.dialogues.ingest.dialogue import (
    BadRecord,
    IngestError,
    ParsedDialogue,
    content_hash,
)
from completions.dialogues.ingest.formats import EXPECTED, ITEMS, Format, first_format, parse
from completions.dialogues.ingest.records import share_dialogues
from completions.files.reading import read
from completions.files.records import FileEntry
from completions.files.refusals import InputFileError

ENGLISH, LETTERS = "en", 300
TRIES = 20
"""Lines in which a first record is looked for, before the file is taken for something else."""


def read_dialogues(
    source: Path | BinaryIO, language: str = "", *, name: str = ""
) -> Iterator[ParsedDialogue | BadRecord]:
    """Yield every dialogue of a file as it is read, and every record that is none.

    ``source`` is a path, or a file open for bytes whose ``name`` refusals mention.
    ``language``, a tag of BCP 47, is that of the dialogues which state none. The first record
    that is JSON tells the format. Items of the benchmark's authors come at the
    end, when it is known which of them were cut from one dialogue.

    Raises
    ------
    IngestError
        If the file as a whole cannot be read: missing, no text, not JSON, in no known format,
        or without a single dialogue.
    """
    name = name or str(source)
    found = _entries(source, name)
    leading, among = _first(found, name)
    records = (
        _in_language(_parsed(entry, among), language, _place(entry, among))
        for entry in itertools.chain(leading, found)
    )
    yield from _with_a_dialogue(_shared(records) if among is ITEMS else records, name)


def strictly(records: Iterable[ParsedDialogue | BadRecord]) -> Iterator[ParsedDialogue]:
    """Pass dialogues on, and refuse the file at its first bad record.

    Raises
    ------
    IngestError
        If a record is bad; the message is its place and the reason.
    """
    for record in records:
        if isinstance(record, BadRecord):
            raise IngestError(record)
        yield record


def _entries(source: Path | BinaryIO, name: str) -> Iterator[FileEntry]:
    """Yield the entries of a file; what is wrong with the file is said with its name."""
    try:
        yield from read(source)
    except InputFileError as error:
        msg = f"{name}: {error}"
        raise IngestError(msg) from error


def _first(found: Iterator[FileEntry], name: str) -> tuple[list[FileEntry], Format]:
    """Return the entries up to the first that tells the format, and the format."""
    leading: list[FileEntry] = []
    for entry in itertools.islice(found, TRIES):
        leading.append(entry)
        if entry.fault:
            continue
        among = first_format(entry.value)
        if among is None:
            msg = f"{name}: unknown format: {EXPECTED}"
            raise IngestError(msg)
        return leading, among
    reason = f"line {leading[0].line}: {leading[0].fault}" if leading else "holds no dialogues"
    msg = f"{name}: {reason}"
    raise IngestError(msg)


def _place(entry: FileEntry, among: Format) -> str:
    """Return how messages name an entry, such as ``item 3 (line 4)``."""
    line = f" (line {entry.line})" if entry.line is not None else ""
    return f"{among.noun} {entry.number}{line}"


def _parsed(entry: FileEntry, among: Format) -> ParsedDialogue | BadRecord:
    place = _place(entry, among)
    if entry.fault:
        return BadRecord(place, entry.fault)
    return parse(entry.value, among, place)


def _in_language(
    record: ParsedDialogue | BadRecord, language: str, place: str
) -> ParsedDialogue | BadRecord:
    """Give a dialogue the language that was asked for, unless it states another one."""
    if isinstance(record, BadRecord):
        return record
    if language:
        if record.states_language and record.language != language:
            return BadRecord(place, f"states the language {record.language}, not {language}")
        return replace(record, language=language)
    if record.language == ENGLISH and not record.states_language and not _is_latin(record):
        return BadRecord(place, "is in another script than English, and states no language")
    return record


def _is_latin(dialogue: ParsedDialogue) -> bool:
    """Whether the first letters are Latin, by half at least."""
    if all(turn.text.isascii() for turn in dialogue.turns[:2]):
        return True
    said = itertools.chain.from_iterable(turn.text for turn in dialogue.turns)
    letters = list(itertools.islice(filter(str.isalpha, said), LETTERS))
    latin = [one for one in letters if one.isascii() or "LATIN" in unicodedata.name(one, "")]
    return 2 * len(latin) >= len(letters)


def _shared(
    records: Iterable[ParsedDialogue | BadRecord],
) -> Iterator[ParsedDialogue | BadRecord]:
    items: list[ParsedDialogue] = []
    replies: dict[str, tuple[int, str]] = {}
    for number, record in enumerate(records, start=1):
        if isinstance(record, BadRecord):
            yield record
        elif first := _other_reply(record, number, replies):
            reason = f"its history stands in {ITEMS.noun} {first} already, with another reply"
            yield BadRecord(f"{ITEMS.noun} {number}", reason)
        else:
            items.append(record)
    yield from share_dialogues(items)


def _other_reply(
    item: ParsedDialogue, number: int, replies: dict[str, tuple[int, str]]
) -> int | None:
    """Return the number of a former item with this history and another reply, and remember it.

    One context has one original reply: a second must be told, not lost.
    """
    point = item.points[0]
    if point.reply is None:
        return None
    first, reply = replies.setdefault(
        content_hash(item.turns[: point.turn_index + 1]), (number, point.reply)
    )
    return None if reply == point.reply else first


def _with_a_dialogue(
    records: Iterable[ParsedDialogue | BadRecord], name: str
) -> Iterator[ParsedDialogue | BadRecord]:
    """Pass the records on; refuse a file of which not one can be used."""
    first_bad, is_any = None, False
    for record in records:
        if isinstance(record, BadRecord):
            first_bad = first_bad or record
        else:
            is_any = True
        yield record
    if not is_any:
        msg = f"{name}: holds no dialogue that can be used; {first_bad}"
        raise IngestError(msg)
