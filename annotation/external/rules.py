"""Pure rules of judgments made elsewhere: what a row says, and what is wrong with it (ADR-0060)."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.studies.verdicts import LIKERT, Answer, InvalidAnswerError, check_answer

NO_COMPARISON = "the study has no comparison of this key: take keys from its list of comparisons"
SHARED_KEY = "several comparisons of equal texts share this key: leave the row out"
ERASED = "a text of it was deleted at its writer's wish: leave the row out"
NO_TEXT = "neither text of the comparison has this SHA-256: send that of the preferred text"
ALIKE = "both texts are the same: nothing can be preferred"
TWICE = "the same rater has a verdict on this comparison in row {first}: send one"
NO_STRENGTH = "say how much better the preferred text is"
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
    marks: Mapping[str, int]


@dataclass(frozen=True)
class RowProblem:
    """What is wrong with which field of which row, and what to do."""

    position: int
    field: str
    says: str


@dataclass(frozen=True)
class Terms:
    """What rows are held to: the study's protocol, its dimensions, its comparisons by key."""

    protocol: str
    dimensions: Sequence[str]
    pairs: Mapping[str, Sequence[KnownPair]]


class BadFieldError(ValueError):
    """A field of a row cannot be used; ``name`` is which."""

    def __init__(self, says: str, name: str) -> None:
        super().__init__(says)
        self.name = name


def read_rows(
    rows: Sequence[ExternalRow], terms: Terms, places: Sequence[int] = ()
) -> tuple[list[ReadRow], list[RowProblem]]:
    """Return the rows as they are stored, and everything that is wrong with the others.

    ``places`` says where each row stands, such as its line; without, it is its index.

    Raters get codes of the batch in the order in which they first appear: what their lab calls
    them is kept nowhere.
    """
    codes = codes_of(row.rater for row in rows)
    read, problems = list[ReadRow](), list[RowProblem]()
    given: dict[tuple[int, str], int] = {}
    for position, row in zip(places or range(len(rows)), rows, strict=True):
        try:
            one = _read(row, codes[row.rater], terms)
        except BadFieldError as error:
            problems.append(RowProblem(position, error.name, str(error)))
            continue
        first = given.setdefault((one.comparison, one.rater), position)
        if first != position:
            problems.append(RowProblem(position, "rater", TWICE.format(first=first)))
        read.append(one)
    return read, problems


def codes_of(raters: Any) -> dict[str, str]:  # noqa: ANN401 (any iterable of names)
    """Return a code for each rater of a batch, by what their lab calls them."""
    return {name: f"e{number:04d}" for number, name in enumerate(Counter(raters), start=1)}


def digest_of(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what was sent, whatever the order of its keys."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _read(row: ExternalRow, code: str, terms: Terms) -> ReadRow:
    pair = _pair(row, terms)
    if terms.protocol == LIKERT:
        answer = _alone(row)
    else:
        if row.points:
            raise BadFieldError(NO_POINTS, "points")
        marks = {name: _signed(one, pair, f"marks/{name}") for name, one in row.marks.items()}
        answer = Answer(_signed(row.opinion, pair, ""), "", marks)
    try:
        check_answer(answer, protocol=terms.protocol, dimensions=terms.dimensions)
    except InvalidAnswerError as error:
        raise BadFieldError(str(error), _field_of(answer, terms)) from error
    return ReadRow(pair.pk, code, answer.verdict, dict(answer.marks))


def _field_of(answer: Answer, terms: Terms) -> str:
    """Return the field at fault in a refused answer: the verdict if it alone is refused, too."""
    if terms.protocol == LIKERT:
        return "points"
    try:
        check_answer(
            Answer(answer.verdict, ""), protocol=terms.protocol, dimensions=terms.dimensions
        )
    except InvalidAnswerError:
        return "strength"
    return "marks"


def _pair(row: ExternalRow, terms: Terms) -> KnownPair:
    found = terms.pairs.get(row.comparison, ())
    if len(found) != 1:
        raise BadFieldError(SHARED_KEY if found else NO_COMPARISON, "comparison")
    if found[0].is_erased:
        raise BadFieldError(ERASED, "comparison")
    return found[0]


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
    if not opinion.strength:
        raise BadFieldError(NO_STRENGTH, f"{inside}strength")
    return opinion.strength if opinion.preferred == pair.first else -opinion.strength
