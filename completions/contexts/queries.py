"""Reads of lists: datasets, contexts and their review, candidates as screened; the export."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, Self

from django.core.paginator import Page, Paginator
from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils.text import Truncator

from access.console.tables import read_text, write_query
from completions.choices import Review, Stratum
from completions.contexts.funnel import OUTCOMES, opinion_outcome
from completions.contexts.funnel_counts import NO_LABEL
from completions.dialogues.normaliser import plain
from completions.dialogues.queries import n_of_dataset
from completions.models import Candidate, Context, Dataset, Dialogue, ScreeningCall

PER_PAGE = 25
LISTED_WORDS = 22
IN_USE = "IN_USE"
"""How an address asks for all that nobody dropped."""
SUITABLE, NO_SIGNAL, REMOVED = "suitable", "no-signal", "removed"
FIRST, ALONE = "first", "alone"


@dataclass(frozen=True)
class ListFilter:
    """Which rows of a list an address means; an empty field means all."""

    KNOWN: ClassVar[Mapping[str, Collection[str]]]
    """What fields may say that may not say everything."""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        """Read an address.

        Raises
        ------
        django.http.Http404
            If it asks for something that does not exist.
        """
        found = cls(**{one.name: read_text(query, one.name) for one in fields(cls)})
        for name, known in cls.KNOWN.items():
            if (value := getattr(found, name)) and value not in known:
                raise Http404
        return found

    @property
    def query(self) -> str:
        """The address' query that means this filter, without its question mark."""
        return write_query(asdict(self))

    @property
    def suffix(self) -> str:
        """The same with its question mark, to stand after an address; empty if it means all."""
        return f"?{self.query}" if self.query else ""


@dataclass(frozen=True)
class ContextFilter(ListFilter):
    """Which contexts of a dataset are meant."""

    KNOWN: ClassVar = {"review": (IN_USE, *Review.values), "stratum": Stratum.values}

    review: str = ""
    stratum: str = ""
    emotion: str = ""
    problem: str = ""
    q: str = ""

    def matches(self, review: str) -> bool:
        """Say whether a context with this review is meant, as far as reviews go."""
        if self.review == IN_USE:
            return review != Review.DROPPED
        return self.review in ("", review)

    def rows(self, dataset: Dataset) -> QuerySet[Context]:
        """Return the contexts in the order of every list: regular ones first, then by key."""
        labels = labelled(self.emotion, self.problem)
        if self.review == IN_USE:
            labels &= ~Q(review=Review.DROPPED)
        elif self.review:
            labels &= Q(review=self.review)
        if self.stratum:
            labels &= Q(stratum=self.stratum)
        if self.q:
            labels &= Q(key__icontains=self.q)
        return dataset.contexts.filter(labels).order_by("-stratum", "key")


@dataclass(frozen=True)
class QueuePosition:
    """Where one context stands among those that its filter means."""

    n: int
    n_reviewed: int
    previous: str | None
    next: str | None
    after_decision: str | None
    """Where to go on once it is decided: the next not yet reviewed, from the start again."""


def dataset_rows() -> QuerySet[Dataset]:
    """Return the datasets with ``n_dialogues`` and how far the review of their contexts is."""
    contexts = Context.objects.all()
    counts = {
        "n_dialogues": Dialogue.objects.all(),
        "n_contexts": contexts,
        "n_reviewed": contexts.exclude(review=Review.PENDING),
        "n_dropped": contexts.filter(review=Review.DROPPED),
    }
    found = Dataset.objects.filter(is_for_checks=False).order_by("name", "pk")
    return found.annotate(**{name: n_of_dataset(rows) for name, rows in counts.items()})


def labels(dataset: Dataset) -> tuple[list[str], list[str]]:
    """Return the emotions and the problems that a dataset's dialogues have, in one query."""
    pairs = list(
        dataset.dialogues.order_by().values_list("emotion_type", "problem_type").distinct()
    )
    emotions, problems = ({one[at] or NO_LABEL for one in pairs} for at in (0, 1))
    return sorted(emotions), sorted(problems)


def context_page(dataset: Dataset, filters: ContextFilter, *, page: str) -> Page[Context]:
    """Return a page of the contexts that are meant, in two queries."""
    return Paginator(filters.rows(dataset).select_related("dialogue"), PER_PAGE).get_page(page)


def queue(dataset: Dataset, filters: ContextFilter, *, key: str) -> QueuePosition:
    """Say what stands before and after a context, in one query.

    Whoever reads the contexts that wait, or all, goes on to one that waits; whoever goes
    through decisions that were made goes on to the next of these.
    """
    rows = list(replace(filters, review="").rows(dataset).values_list("key", "review"))
    place = next((at for at, (one, _) in enumerate(rows) if one == key), -1)
    before = [one for one, review in rows[: max(place, 0)] if filters.matches(review)]
    after = [one for one, review in rows[place + 1 :] if filters.matches(review)]
    round_again = [*rows[place + 1 :], *rows[: max(place, 0)]]
    waiting = [one for one, review in round_again if review == Review.PENDING]
    onwards = after if filters.review in (Review.KEPT, Review.DROPPED) else waiting
    return QueuePosition(
        n=len(rows),
        n_reviewed=sum(review != Review.PENDING for _, review in rows),
        previous=before[-1] if before else None,
        next=after[0] if after else None,
        after_decision=onwards[0] if onwards else None,
    )


def context_of_key(dataset: Dataset, key: str) -> Context | None:
    """Return the dataset's context of that key, or None."""
    rows = dataset.contexts.select_related("dialogue", "source_context")
    return rows.filter(key=key).first()


def contexts_of_keys(dataset: Dataset, keys: Sequence[str]) -> list[Context]:
    """Return the dataset's contexts among those posted keys, in the order of all who lock them."""
    known = [key for key in keys if "\0" not in key]  # which no database compares with
    return list(dataset.contexts.filter(key__in=known).order_by("pk"))


def labelled(emotion: str, problem: str) -> Q:
    """Return the condition that a row's dialogue has these labels; an empty one asks nothing."""
    labels = {"dialogue__emotion_type": emotion, "dialogue__problem_type": problem}
    return Q(
        **{name: "" if label == NO_LABEL else label for name, label in labels.items() if label}
    )


def beginning(text: str) -> str:
    """Return how a message begins, as people see it."""
    return Truncator(plain(text)).words(LISTED_WORDS)


@dataclass(frozen=True)
class CandidateFilter(ListFilter):
    """Which candidates of a dataset are meant.

    ``rule`` asks for those that it removes, former rules too; ``how`` for those that it removes
    first, or alone.
    """

    KNOWN: ClassVar = {
        "outcome": (SUITABLE, NO_SIGNAL, REMOVED),
        "how": (FIRST, ALONE),
        "opinion": OUTCOMES,
    }

    outcome: str = ""
    rule: str = ""
    how: str = ""
    opinion: str = ""
    emotion: str = ""
    problem: str = ""

    def matches(self, reasons: list[str], *, is_suitable: bool) -> bool:
        """Say whether a candidate is meant, as far as screening goes."""
        if self.outcome and self.outcome != outcome(reasons, is_suitable=is_suitable):
            return False
        if not self.rule:
            return True
        if self.how == FIRST:
            return reasons[:1] == [self.rule]
        return reasons == [self.rule] if self.how == ALONE else self.rule in reasons


def outcome(reasons: list[str], *, is_suitable: bool) -> str:
    """Say in a word what screening made of a candidate."""
    if is_suitable:
        return SUITABLE
    return REMOVED if reasons else NO_SIGNAL


def candidate_page(dataset: Dataset, filters: CandidateFilter, *, page: str) -> Page[Candidate]:
    """Return a page of the candidates that are meant, in two queries or three."""
    found: Page[Any] = Paginator(_ids(dataset, filters), PER_PAGE).get_page(page)
    rows = Candidate.objects.select_related("dialogue").in_bulk(list(found))
    found.object_list = [rows[pk] for pk in found]
    return found


def neighbours(
    dataset: Dataset, filters: CandidateFilter, *, pk: int
) -> tuple[int | None, int | None]:
    """Return what stands before and after a candidate among those that its filter means."""
    ids = _ids(dataset, filters)
    place = ids.index(pk) if pk in ids else len(ids)
    before = ids[place - 1] if 0 < place < len(ids) else None
    return before, ids[place + 1] if place + 1 < len(ids) else None


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


def context_lines(dataset: Dataset, *, with_dropped: bool = False) -> Iterator[str]:
    """Yield one line of JSON per context, regular ones first, in the order of their keys.

    The same rows give the same bytes on any machine: nothing in a line comes from this
    installation, no row numbers, times or names of people. The original reply is no part of it:
    it is a completion, and would give its source away.
    """
    contexts = dataset.contexts.all() if with_dropped else dataset.contexts.in_use()
    rows = contexts.select_related("dialogue", "source_context").order_by("-stratum", "key")
    for context in rows.iterator():
        yield json.dumps(
            _exported(context, dataset), ensure_ascii=False, sort_keys=True, separators=(",", ":")
        )


def _exported(context: Context, dataset: Dataset) -> dict[str, object]:
    dialogue, source = context.dialogue, context.source_context
    return {
        "key": context.key,
        "content_hash": context.content_hash,
        "dataset": dataset.name,
        "licence": dataset.licence,
        "stratum": context.stratum,
        "escalation_profile": context.escalation_profile,
        "source_context": source.key if source else None,
        "is_simulated": context.is_simulated,
        "review": context.review,
        "language": dialogue.language,
        "emotion_type": dialogue.emotion_type,
        "problem_type": dialogue.problem_type,
        "situation": dialogue.situation,
        "dialogue": dialogue.content_hash,
        "turn_index": context.turn_index,
        "turns": context.turns,
        "provenance": context.provenance,
    }
