"""Reads of the console's lists of candidates: what screening made of every couplet."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from django.core.paginator import Paginator

from access.console.table_query import read_query, write_query
from completions.contexts import screening
from completions.contexts.funnel import opinion_outcome
from completions.contexts.queries import PER_PAGE, ListPage, UnknownFilterError, beginning, labelled
from completions.models import Candidate, Dataset, ScreeningCall

SUITABLE, NO_SIGNAL, REMOVED = "suitable", "no-signal", "removed"
FIRST, ALONE = "first", "alone"
OPINIONS = ("agreed", "disagreed", "invalid", "failed", "waiting")


@dataclass(frozen=True)
class CandidateFilter:
    """Which candidates of a dataset are meant; an empty field means all.

    ``rule`` asks for those that it removes; ``how`` for those that it removes first, or alone.
    """

    outcome: str = ""
    rule: str = ""
    how: str = ""
    opinion: str = ""
    emotion: str = ""
    problem: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "CandidateFilter":
        """Read an address; rules may be those of former times.

        Raises
        ------
        UnknownFilterError
            If it asks for an outcome that does not exist.
        """
        found = read_query(cls, query)
        for value, known in (
            (found.outcome, (SUITABLE, NO_SIGNAL, REMOVED)),
            (found.how, (FIRST, ALONE)),
            (found.opinion, OPINIONS),
        ):
            if value and value not in known:
                raise UnknownFilterError(value)
        return found

    @property
    def query(self) -> str:
        """The address' query that means this filter, without its question mark."""
        return write_query(asdict(self))

    def matches(self, reasons: list[str], *, is_suitable: bool) -> bool:
        """Say whether a candidate is meant, as far as screening goes."""
        if self.outcome and self.outcome != outcome(reasons, is_suitable=is_suitable):
            return False
        if not self.rule:
            return True
        if self.how == FIRST:
            return reasons[:1] == [self.rule]
        return reasons == [self.rule] if self.how == ALONE else self.rule in reasons


@dataclass(frozen=True)
class CandidateRow:
    """One candidate as the console lists it."""

    pk: int
    dialogue: int
    turn: int
    emotion: str
    problem: str
    outcome: str
    reasons: tuple[str, ...]
    last: str


@dataclass(frozen=True)
class Neighbours:
    """What stands before and after a candidate among those that its filter means."""

    n: int
    previous: int | None
    next: int | None


def outcome(reasons: list[str], *, is_suitable: bool) -> str:
    """Say in a word what screening made of a candidate."""
    if is_suitable:
        return SUITABLE
    return REMOVED if reasons else NO_SIGNAL


def candidate_page(
    dataset: Dataset, filters: CandidateFilter, *, page: str
) -> ListPage[CandidateRow]:
    """Return a page of the candidates that are meant, in two queries or three."""
    found = Paginator(_ids(dataset, filters), PER_PAGE).get_page(page)
    rows = Candidate.objects.select_related("dialogue").in_bulk(list(found.object_list))
    return ListPage.of((_row(rows[pk]) for pk in found.object_list), found)


def neighbours(dataset: Dataset, filters: CandidateFilter, *, pk: int) -> Neighbours:
    """Say what stands before and after a candidate."""
    ids = _ids(dataset, filters)
    place = ids.index(pk) if pk in ids else len(ids)
    return Neighbours(
        n=len(ids),
        previous=ids[place - 1] if 0 < place < len(ids) else None,
        next=ids[place + 1] if place + 1 < len(ids) else None,
    )


def rule_names() -> tuple[str, ...]:
    """Return the rules that remove, in their order."""
    return screening.DISQUALIFIERS


def _ids(dataset: Dataset, filters: CandidateFilter) -> list[int]:
    """Return the candidates that are meant, in the order of the source.

    Reasons are a list in one column, which the two databases would search differently.
    """
    rows = Candidate.objects.filter(
        labelled(filters.emotion, filters.problem), dialogue__dataset=dataset
    ).order_by("dialogue__position", "dialogue", "turn_index")
    ids = [
        pk
        for pk, reasons, is_suitable in rows.values_list("pk", "reasons", "is_suitable")
        if filters.matches(reasons, is_suitable=is_suitable)
    ]
    if not filters.opinion:
        return ids
    candidates = _with_opinion(dataset, filters.opinion)
    return [pk for pk in ids if pk in candidates]


def _with_opinion(dataset: Dataset, name: str) -> set[int]:
    calls = ScreeningCall.objects.filter(candidate__dialogue__dataset=dataset).order_by()
    rows = calls.values_list("candidate", "state", "opinion", "candidate__is_suitable")
    return {
        candidate
        for candidate, state, opinion, is_suitable in rows
        if opinion_outcome(state, opinion, is_suitable=is_suitable) == name
    }


def _row(candidate: Candidate) -> CandidateRow:
    dialogue = candidate.dialogue
    return CandidateRow(
        pk=candidate.pk,
        dialogue=dialogue.position,
        turn=candidate.turn_index + 1,
        emotion=dialogue.emotion_type,
        problem=dialogue.problem_type,
        outcome=outcome(candidate.reasons, is_suitable=candidate.is_suitable),
        reasons=tuple(candidate.reasons),
        last=beginning(dialogue.turns[candidate.turn_index]["text"]),
    )
