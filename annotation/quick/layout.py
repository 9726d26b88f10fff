"""Files of texts by several systems: which layout they have, and what stands in them; pure.

``docs/studies.md`` describes them.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import comb
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from pydantic import TypeAdapter, ValidationError

from completions.dialogues.ingest.dialogue import Role, Turn, language_tag, merge, storable
from completions.dialogues.normaliser import plain
from completions.files.reading import Columns, read
from completions.files.records import FileEntry
from completions.files.refusals import InputFileError, Reason, Refused, bad_fields, refused
from completions.files.rows import MOST_ROWS
from completions.systems.importing import Words

ITEM, SYSTEM, TEXT, CONTEXT, LANGUAGE = "item", "system", "text", "context", "language"
LONG = {ITEM, SYSTEM, TEXT}
COLUMNS = Columns(known=(ITEM, SYSTEM, TEXT, CONTEXT, LANGUAGE), keeps_others=True)
FEWEST_SYSTEMS = 2
LONGEST_KEY, LONGEST_SYSTEM = 120, 80
SPEAKERS: Mapping[str, Role] = {
    "seeker": "seeker",
    "user": "seeker",
    "human": "seeker",
    "prompt": "seeker",
    "supporter": "supporter",
    "assistant": "supporter",
    "model": "supporter",
    "bot": "supporter",
}
LAYOUTS = (
    "it needs the columns item, system and text (a row for each text), or item and one column for "
    "each system (a row for each item); context and language are optional"
)
_WORDS = TypeAdapter[str](Words)


class TextItem(NamedTuple):
    """One thing that texts were written for; ``turns`` are empty where nothing came before."""

    key: str
    turns: tuple[Turn, ...] = ()
    language: str = "en"

    @property
    def stored_turns(self) -> list[dict[str, str]]:
        """Return the turns as dialogues hold them."""
        return [{"role": turn.role, "text": turn.text} for turn in self.turns]


class Text(NamedTuple):
    """What a system wrote for an item, and where it stands."""

    line: int
    item: str
    system: str
    text: str


@dataclass
class QuickFile:
    """What a file holds: items by their keys, texts, and a word on each cell that is no good."""

    items: dict[str, TextItem] = field(default_factory=dict)
    texts: list[Text] = field(default_factory=list)
    faults: list[Refused] = field(default_factory=list)
    is_wide: bool = False

    @property
    def systems(self) -> list[str]:
        """The systems in the order of the file."""
        return list(dict.fromkeys(one.system for one in self.texts))

    @property
    def n_gaps(self) -> int:
        """How many items lack the text of a system, for each system."""
        return len(self.items) * len(self.systems) - len(self.texts)

    @property
    def n_alike(self) -> int:
        """How many texts say word for word what another system says of the same item."""
        return len(self.texts) - sum(map(len, self._different().values()))

    @property
    def n_pairs(self) -> int:
        """How many pairs of different texts there are for the same items."""
        return sum(comb(len(said), 2) for said in self._different().values())

    def _different(self) -> Mapping[str, set[str]]:
        """Return the different texts of each item, as they are shown and planned."""
        said = defaultdict[str, set[str]](set)
        for one in self.texts:
            said[one.item].add(plain(one.text))
        return said


def read_quick(source: Path | BinaryIO) -> QuickFile:
    """Read a file of any layout that `completions.files.reading.read` knows.

    Raises
    ------
    InputFileError
        If it cannot be read, has neither layout, too many rows, or texts of one system alone.
    """
    reading = _Reading()
    for number, entry in enumerate(read(source, COLUMNS), start=1):
        if number > MOST_ROWS:
            msg = f"has over {MOST_ROWS:,} rows; split it into several files"
            raise InputFileError(msg)
        reading.take(entry)
    found = reading.found
    if len(found.systems) < FEWEST_SYSTEMS and not found.faults:
        msg = f"has texts of fewer than {FEWEST_SYSTEMS} systems: {LAYOUTS}"
        raise InputFileError(msg)
    return found


class _Reading:
    """A file as far as it has been read."""

    def __init__(self) -> None:
        self.found = QuickFile()
        self._lines: dict[tuple[str, str], int] = {}
        self._columns: set[str] | None = None

    def blame(self, line: int, column: str, why: str) -> None:
        self.found.faults.append(refused(line, column, Reason.UNREADABLE, why))

    def take(self, entry: FileEntry) -> None:
        """Take an entry, or tell what is wrong with it."""
        line = entry.line or entry.number
        if entry.fault or not isinstance(entry.value, dict):
            self.blame(line, "", entry.fault or "is not an object with these fields")
            return
        row = {COLUMNS.spelled(str(key)): value for key, value in entry.value.items()}
        if len(row) < len(entry.value):
            self.blame(line, "", "two of its fields have one name")
        else:
            self._add(line, row)

    def _add(self, line: int, row: Mapping[str, Any]) -> None:
        """Take a row; the first one tells the layout."""
        if self._columns is None:
            self._columns = set(row)
            self.found.is_wide = _is_wide(self._columns)
        try:
            key, written = _cell(row.get(ITEM)), [*self._written(row)]
        except ValueError as error:
            self.blame(line, "", str(error))
            return
        if not key or len(key) > LONGEST_KEY:
            self.blame(line, ITEM, f"the item needs a name of up to {LONGEST_KEY} characters")
            return
        if not self._add_item(line, key, row):
            return
        for system, text in written:
            self._add_text(line, key, system, text)

    def _written(self, row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield each system with its text; a cell without a text is a gap."""
        if not self.found.is_wide:
            yield _cell(row.get(SYSTEM)), _cell(row.get(TEXT))
            return
        for column, cell in row.items():
            if column not in {ITEM, CONTEXT, LANGUAGE, ""} and _cell(cell):
                yield _cell(column), _cell(cell)

    def _add_item(self, line: int, key: str, row: Mapping[str, Any]) -> bool:
        try:
            turns = _turns(row.get(CONTEXT))
            language = language_tag(_cell(row.get(LANGUAGE)) or "en")
        except ValueError as error:
            self.blame(line, CONTEXT, str(error))
            return False
        item = TextItem(key, turns, language)
        before = self.found.items.setdefault(key, item)
        if before != item and turns:
            self.blame(line, CONTEXT, f'"{key}" has another context or language further up')
            return False
        return True

    def _add_text(self, line: int, item: str, system: str, text: str) -> None:
        if not system or len(system) > LONGEST_SYSTEM:
            self.blame(line, SYSTEM, f"a system needs a name of up to {LONGEST_SYSTEM} characters")
            return
        at = self._lines.setdefault((item, system), line)
        if at != line:
            self.blame(line, TEXT, f'"{system}" has a text for "{item}" on line {at:,} already')
            return
        try:
            words = _WORDS.validate_python(text)
        except ValidationError as error:
            (told,) = bad_fields(error, line)
            self.blame(line, TEXT, f'the text of "{system}" {told.why}')
            return
        self.found.texts.append(Text(line, item, system, words))


def _is_wide(columns: set[str]) -> bool:
    """Say which layout the columns are.

    Raises
    ------
    InputFileError
        If they are neither.
    """
    if columns >= LONG:
        return False
    systems = columns - {ITEM, CONTEXT, LANGUAGE, ""}
    if ITEM not in columns or len(systems) < FEWEST_SYSTEMS or systems & {SYSTEM, TEXT}:
        msg = f"has the columns {', '.join(sorted(columns))}: {LAYOUTS}"
        raise InputFileError(msg)
    return True


def _cell(value: object) -> str:
    """Return a cell as text; numbers may name items.

    Raises
    ------
    ValueError
        If it is no text, or cannot be stored.
    """
    if isinstance(value, list | dict):
        msg = "has a list or an object where a text belongs"
        raise ValueError(msg)  # noqa: TRY004 (a fault of the file)
    return "" if value is None else " ".join(storable(str(value)).split())


def _turns(value: object) -> tuple[Turn, ...]:
    """Return what comes before the texts: a prompt, or the turns of a conversation.

    Raises
    ------
    ValueError
        If it looks like turns and is none.
    """
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):  # a prompt may begin with a bracket
            value = json.loads(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return merge(map(_turn, value))
    prompt = _cell(value)
    return (Turn("seeker", prompt),) if prompt else ()


def _turn(value: object) -> Turn:
    said = value if isinstance(value, dict) else {}
    speaker = SPEAKERS.get(str(said.get("role", "")).lower())
    text = _cell(said.get("text") or said.get("content"))
    if speaker is None or not text:
        msg = 'each turn needs a role ("user" or "assistant") and a text'
        raise ValueError(msg)
    return Turn(speaker, text)
