"""Judgments of a study's pairs in files that other tools wrote: which text each row prefers; pure.

A side says nothing by itself, since whoever showed the pair chose the sides: a row is taken if it
tells its texts by their systems, by their words or by their SHA-256.
"""

import datetime as dt
import hashlib
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.external.rules import BadFieldError, ExternalRow, Opinion, RowProblem
from annotation.tool_files.layouts import spelled
from annotation.tool_files.reading import ToolFile

KEYS = ("comparison", "comparison_key", "key", "context_id")
"""Columns that may hold the key of the comparison."""
SIDES = ("a", "b")
_TEXTS = {
    side: [f"{what}_{name}" for what in ("text", "response", "answer", "output") for name in names]
    for side, names in {"a": ("a", "1"), "b": ("b", "2")}.items()
}
LONGEST_RATER = 120
YEARS = range(1970, 2200)
NO_PAIR = "the study has no comparison of this key, nor of this context and these systems"
SEVERAL = "several comparisons of the study fit: give the key of one"
NO_SIDES = "its sides are not the two texts of the comparison: name their systems or give the texts"
NO_RATER = "names no rater"
NO_WINNER = "its winner is no side, no tie and neither system"
NO_NUMBER = "is no whole number"
NO_TIME = "is no time of ISO 8601 with its zone, such as 2026-01-31T18:05:00Z"


@dataclass(frozen=True)
class NamedPair:
    """A comparison of two texts, and all that a file may call it.

    ``systems`` has the names of each text's system in lower case, ``hashes`` the SHA-256 of the
    texts.
    """

    key: str
    context: str
    systems: tuple[frozenset[str], frozenset[str]]
    hashes: tuple[str, str]


@dataclass
class FileRows:
    """The rows of a file as the API takes them, the line of each, and what stays out."""

    rows: list[tuple[ExternalRow, dt.datetime | None]] = field(default_factory=list)
    """Each with when the verdict was given, if the file says."""
    lines: list[int] = field(default_factory=list)
    problems: list[RowProblem] = field(default_factory=list)
    """By their lines."""
    n_without_winner: int = 0
    n_without_strength: int = 0


def rows_of(found: ToolFile, pairs: Sequence[NamedPair], *, strength: int) -> FileRows:
    """Return the rows that name a pair and a text of it, and what is wrong with the others.

    ``strength`` is that of a preference of which the file gives none.
    """
    read, known = FileRows(), _Known(pairs)
    read.problems += [RowProblem(one.line, "", one.reason) for one in found.unreadable]
    for row, line in zip(found.rows, found.lines, strict=True):
        if row["winner"] == "" and "preferred" not in row:
            read.n_without_winner += 1
            continue
        try:
            one = _row(row, known, strength)
        except BadFieldError as error:
            read.problems.append(RowProblem(line, error.name, str(error)))
            continue
        read.rows.append(one)
        read.lines.append(line)
        read.n_without_strength += bool(one[0].opinion.preferred and not _given(row, "strength"))
    return read


class _Known:
    """A study's pairs by what files call them."""

    def __init__(self, pairs: Sequence[NamedPair]) -> None:
        self.by_key = defaultdict[str, list[NamedPair]](list)
        self.by_context = defaultdict[str, list[NamedPair]](list)
        for one in pairs:
            self.by_key[one.key].append(one)
            self.by_context[one.context].append(one)

    def pair(self, row: Mapping[str, Any]) -> NamedPair:
        keys = [_given(row, name) for name in KEYS]
        found = next((self.by_key[key] for key in keys if key in self.by_key), [])
        if not found:
            here = self.by_context.get(_given(row, "context_id"), [])
            found = [one for one in here if None not in _sides(row, one)]
        if len(found) != 1:
            raise BadFieldError(SEVERAL if found else NO_PAIR, "comparison")
        return found[0]


def _row(
    row: Mapping[str, Any], known: _Known, strength: int
) -> tuple[ExternalRow, dt.datetime | None]:
    pair, rater = known.pair(row), _given(row, "rater_id")
    if not rater or len(rater) > LONGEST_RATER:
        raise BadFieldError(NO_RATER, "rater")
    preferred = _preferred(row, pair)
    opinion = Opinion(preferred, _strength(row, strength) if preferred else None)
    return ExternalRow(pair.key, rater, opinion), _time(_given(row, "judged_at"))


def _preferred(row: Mapping[str, Any], pair: NamedPair) -> str | None:
    """Return the SHA-256 of the better text, or None for neither."""
    if "preferred" in row:
        return _given(row, "preferred") or None
    if row["winner"] == "tie":
        return None
    if row["winner"] not in SIDES:
        raise BadFieldError(NO_WINNER, "winner")
    sides = _sides(row, pair)
    if set(sides) != set(pair.hashes):
        raise BadFieldError(NO_SIDES, "preferred")
    return sides[SIDES.index(row["winner"])]


def _sides(row: Mapping[str, Any], pair: NamedPair) -> tuple[str | None, str | None]:
    """Return the hash of the text on either side; None where the row does not tell it."""
    one, two = (_side(row, side, pair) for side in SIDES)
    return one, two


def _side(row: Mapping[str, Any], side: str, pair: NamedPair) -> str | None:
    name = _given(row, f"system_{side}").casefold()
    for names, its_hash in zip(pair.systems, pair.hashes, strict=True):
        if name in names:
            return its_hash
    texts = [str(row[name]) for name in _TEXTS[side] if row.get(name)]
    spellings = [text for one in texts for text in (one, one.strip(), " ".join(one.split()))]
    hashes = [hashlib.sha256(one.encode("utf-8", "replace")).hexdigest() for one in spellings]
    return next((one for one in hashes if one in pair.hashes), None)


def _strength(row: Mapping[str, Any], otherwise: int) -> int:
    given = _given(row, "strength")
    if not given:
        return otherwise
    try:
        number = float(given)
    except ValueError:
        number = math.nan
    if not number.is_integer():
        raise BadFieldError(NO_NUMBER, "strength")
    return int(number)


def _time(given: str) -> dt.datetime | None:
    if not given:
        return None
    try:
        found = dt.datetime.fromisoformat(given)
    except ValueError:
        raise BadFieldError(NO_TIME, "judged_at") from None
    if found.tzinfo is None or found.year not in YEARS:
        raise BadFieldError(NO_TIME, "judged_at")
    return found


def _given(row: Mapping[str, Any], name: str) -> str:
    return spelled(row.get(name))
