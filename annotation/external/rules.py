"""Pure rules of judgments made elsewhere (ADR-0060): what rows say, and what is wrong with them."""

import datetime as dt
import hashlib
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.studies.verdicts import LIKERT, Answer, InvalidAnswerError, check_answer
from annotation.tool_files.layouts import spelled
from annotation.tool_files.reading import ToolFile

NO_COMPARISON = "the study has no comparison of this key: take keys from its list of comparisons"
SHARED_KEY = "several comparisons of equal texts share this key: leave the row out"
ERASED = "a text of it was deleted at its writer's wish: leave the row out"
NO_TEXT = "neither text of the comparison has this SHA-256: send that of the preferred text"
ALIKE = "both texts are the same: nothing can be preferred"
TWICE = "the same rater has a verdict on this comparison in row {first}: send one"
NO_STRENGTH = "say how much better the preferred text is, by a number from 1 up"
NO_POINTS = "points are of studies that rate messages alone: send what is preferred"
POINTS_ALONE = "the study rates messages alone: send points, and nothing preferred"
NO_PREFERENCE = "nothing is preferred, so there is no strength: send null or leave it out"


@dataclass(frozen=True)
class Opinion:
    """Which text is better, by its SHA-256 or None for neither, and by how many steps."""

    preferred: str | None
    strength: int | None


@dataclass(frozen=True)
class ExternalRow:
    """A verdict as another lab sends it: ``points`` where messages are rated alone."""

    comparison: str
    rater: str
    opinion: Opinion
    marks: Mapping[str, Opinion] = field(default_factory=dict)
    points: Mapping[str, int] = field(default_factory=dict)
    judged_at: dt.datetime | None = None
    """When the verdict was given, if the lab says."""


@dataclass(frozen=True)
class KnownPair:
    """A comparison that a row may name: its key in the database, and the hashes of its texts."""

    pk: int
    first: str
    second: str | None
    is_erased: bool = False


@dataclass(frozen=True)
class ReadRow:
    """A row in the canonical frame: positive verdicts and marks favour the first text."""

    comparison: int
    rater: str
    verdict: int | None
    marks: dict[str, int]
    judged_at: dt.datetime | None


@dataclass(frozen=True)
class RowProblem:
    """What is wrong with which field of which row, and what to do."""

    position: int
    field: str
    says: str


class BadFieldError(ValueError):
    """A field of a row cannot be used; ``name`` is which."""

    def __init__(self, says: str, name: str) -> None:
        super().__init__(says)
        self.name = name


def read_rows(
    rows: Sequence[ExternalRow],
    pairs: Mapping[str, Sequence[KnownPair]],
    *,
    protocol: str,
    dimensions: Sequence[str],
    places: Sequence[int] = (),
) -> tuple[list[ReadRow], list[RowProblem]]:
    """Return the rows as they are stored, and everything that is wrong with the others.

    ``pairs`` are the study's comparisons by key, and ``places`` says where each row stands, such
    as its line; without, it is its index.

    Raters get codes of the batch in the order in which they first appear: what their lab calls
    them is kept nowhere.
    """
    raters = dict.fromkeys(row.rater for row in rows)
    codes = {name: f"e{number:04d}" for number, name in enumerate(raters, start=1)}
    read, problems = list[ReadRow](), list[RowProblem]()
    given: dict[tuple[int, str], int] = {}
    for position, row in zip(places or range(len(rows)), rows, strict=True):
        try:
            pair = _pair(row, pairs)
            answer = _answer(row, pair, protocol=protocol, dimensions=dimensions)
        except BadFieldError as error:
            problems.append(RowProblem(position, error.name, str(error)))
            continue
        first = given.setdefault((pair.pk, row.rater), position)
        if first != position:
            problems.append(RowProblem(position, "rater", TWICE.format(first=first)))
        marks = dict(answer.marks)
        read.append(ReadRow(pair.pk, codes[row.rater], answer.verdict, marks, row.judged_at))
    return read, problems


def _pair(row: ExternalRow, pairs: Mapping[str, Sequence[KnownPair]]) -> KnownPair:
    found = pairs.get(row.comparison, ())
    if len(found) != 1:
        raise BadFieldError(SHARED_KEY if found else NO_COMPARISON, "comparison")
    if found[0].is_erased:
        raise BadFieldError(ERASED, "comparison")
    return found[0]


def _answer(
    row: ExternalRow, pair: KnownPair, *, protocol: str, dimensions: Sequence[str]
) -> Answer:
    """Return what a row says in the canonical frame, if the protocol admits it."""
    answer = _alone(row) if protocol == LIKERT else _compared(row, pair)
    try:
        check_answer(answer, protocol=protocol, dimensions=dimensions)
    except InvalidAnswerError as error:
        field_at_fault = _field_of(answer, protocol=protocol, dimensions=dimensions)
        raise BadFieldError(str(error), field_at_fault) from error
    return answer


def _field_of(answer: Answer, *, protocol: str, dimensions: Sequence[str]) -> str:
    """Return the field at fault in a refused answer: the verdict if it alone is refused, too."""
    if protocol == LIKERT:
        return "points"
    try:
        check_answer(Answer(answer.verdict, ""), protocol=protocol, dimensions=dimensions)
    except InvalidAnswerError:
        return "strength"
    return "marks"


def _compared(row: ExternalRow, pair: KnownPair) -> Answer:
    if row.points:
        raise BadFieldError(NO_POINTS, "points")
    marks = {name: _signed(one, pair, f"marks/{name}") for name, one in row.marks.items()}
    return Answer(_signed(row.opinion, pair, ""), "", marks)


def _alone(row: ExternalRow) -> Answer:
    if row.opinion.preferred is not None or row.opinion.strength is not None or row.marks:
        raise BadFieldError(POINTS_ALONE, "preferred")
    return Answer(None, "", row.points)


def _signed(opinion: Opinion, pair: KnownPair, where: str) -> int:
    """Return an opinion as a number: positive for the first text, 0 for neither."""
    inside = f"{where}/" if where else ""
    if opinion.preferred is None:
        if opinion.strength:
            raise BadFieldError(NO_PREFERENCE, f"{inside}strength")
        return 0
    if pair.first == pair.second:
        raise BadFieldError(ALIKE, f"{inside}preferred")
    if opinion.preferred not in (pair.first, pair.second):
        raise BadFieldError(NO_TEXT, f"{inside}preferred")
    if not opinion.strength or opinion.strength < 0:
        raise BadFieldError(NO_STRENGTH, f"{inside}strength")
    return opinion.strength if opinion.preferred == pair.first else -opinion.strength


# Rows of files that other tools wrote.
#
# A side says nothing by itself, since whoever showed the pair chose the sides: a row is taken if it
# tells its texts by their systems, by their words or by their SHA-256.

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

    rows: list[ExternalRow] = field(default_factory=list)
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
        if row["winner"] == "":
            read.n_without_winner += 1
            continue
        try:
            one = _row(row, known, strength)
        except BadFieldError as error:
            read.problems.append(RowProblem(line, error.name, str(error)))
            continue
        read.rows.append(one)
        read.lines.append(line)
        read.n_without_strength += bool(one.opinion.preferred and not _given(row, "strength"))
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


def _row(row: Mapping[str, Any], known: _Known, strength: int) -> ExternalRow:
    pair, rater = known.pair(row), _given(row, "rater_id")
    if not rater or len(rater) > LONGEST_RATER:
        raise BadFieldError(NO_RATER, "rater")
    preferred = _preferred(row, pair)
    opinion = Opinion(preferred, _strength(row, strength) if preferred else None)
    judged_at = _time(_given(row, "judged_at"))
    return ExternalRow(pair.key, rater, opinion, judged_at=judged_at)


def _preferred(row: Mapping[str, Any], pair: NamedPair) -> str | None:
    """Return the SHA-256 of the better text, or None for neither."""
    if row["winner"] is None:
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
