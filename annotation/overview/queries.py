"""Reads of the console: all studies with their counts, and the rows behind the counts of one."""

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from django.core.paginator import Page, Paginator
from django.db.models import Aggregate, Count, Exists, Model, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from access.console.tables import Table, TableQuery
from annotation.choices import Protocol, Purpose
from annotation.models import Comparison, Judgment, QualityCheck, Study
from annotation.models.study import goes_by, public_name
from annotation.studies import queries as study_queries
from annotation.studies import stored_figures
from annotation.studies.counts import (
    COUNTS,
    PLANNED,
    ROWS,
    StudyCounts,
    StudyTally,
    large_among,
    newest_keys,
)
from completions.files.toml import content_hash
from completions.models import Completion, Context

Row = TypeVar("Row", bound=Model)
ON_PAGE = 50
COMPARISONS = Table(
    orders={
        "key": (gettext_lazy("Comparison"), ("public_name",)),
        "context": (gettext_lazy("Context"), ("context__key",)),
        "first": (gettext_lazy("First"), ("first__system__slug",)),
        "second": (gettext_lazy("Second"), ("second__system__slug",)),
        "left": (gettext_lazy("Slots left"), ("slots_left",)),
    },
    usual="context",
    shows={
        "open": (
            gettext_lazy("With slots left"),
            Q(study_queries.INTACT, purpose=Purpose.MAIN, slots_left__gt=0),
        ),
        "done": (gettext_lazy("With no slot left"), Q(purpose=Purpose.MAIN, slots_left=0)),
        "leased": (
            gettext_lazy("On a screen now"),
            Q(Exists(study_queries.slots_in_hand().filter(comparison=OuterRef("pk")))),
        ),
        "held": (gettext_lazy("Held by reports"), Q(held_at__isnull=False)),
        "planted": (gettext_lazy("Planted pairs"), ~Q(purpose=Purpose.MAIN)),
    },
    numbers=("left",),
)
"""Comparisons; a search is for a context, a system or a comparison's key."""
JUDGMENTS = Table(
    orders={
        "at": (gettext_lazy("When"), ("submitted_at",)),
        "who": (gettext_lazy("Who"), ("rater__code", "judge__slug")),
        "context": (gettext_lazy("Context"), ("comparison__context__key",)),
    },
    usual="-at",
    shows={
        "people": (gettext_lazy("By people"), Q(rater__isnull=False, revises__isnull=True)),
        "judges": (gettext_lazy("By judges"), Q(judge__isnull=False, revises__isnull=True)),
        "changed": (gettext_lazy("Changed answers"), Q(revises__isnull=False)),
        "surplus": (gettext_lazy("Surplus"), Q(is_surplus=True)),
    },
)
"""Judgments; a search is for a rater, a judge, a context or a comparison's key."""

KNOWN: Mapping[str, Callable[[StudyCounts], int]] = {
    "": lambda counts: counts.n_judgments,
    "people": lambda counts: counts.by_people,
    "judges": lambda counts: counts.by_judges,
}
"""Judgments whose number is counted with the study."""
CountedComparison: TypeAlias = tuple[Comparison, int, int]
"""A comparison with how many judgments people and judges gave, changed ones once."""


@dataclass(frozen=True)
class JudgmentRow:
    """One judgment as the console lists it, with the keys of its comparison and context."""

    key: str
    context: str
    at: dt.datetime
    who: str
    is_simulated: bool
    better: str
    worse: str
    words: str
    rationale: str
    notes: tuple[str, ...]


def tallied_studies(
    *, now: dt.datetime
) -> tuple[list[tuple[Study, StudyTally | None]], list[Study]]:
    """Return every study with its counts, newest first, in seven queries.

    Those of large studies are what was kept, None while nothing is; second come the studies of
    which newer ones are to be worked out.
    """
    studies = list(study_queries.studies())
    large = large_among(studies)
    basis = newest_keys(*ROWS) if large else None
    kept = {one.pk: stored_figures.read(COUNTS, one, basis=basis, now=now) for one in large}
    tallies = _tallies([one for one in studies if one.pk not in kept])
    for pk, found in kept.items():
        if found.figures is not None:
            tallies[pk] = found.figures
    rows = [(one, tallies.get(one.pk)) for one in studies]
    return rows, [one for one in large if not kept[one.pk].is_current]


def _tallies(studies: Sequence[Study]) -> dict[int, StudyTally]:
    """Count what these studies have, in four queries."""
    datasets = {one.dataset_id for one in studies}
    contexts = _by("dataset", Context.objects.filter(dataset__in=datasets), contexts=Count("pk"))
    texts = Completion.objects.filter(context__dataset__in=datasets, erased_at=None)
    completions = _by("context__dataset", texts, completions=Count("pk"))
    planned = _by(
        "study",
        Comparison.objects.filter(study__in=studies, purpose=Purpose.MAIN),
        **PLANNED,
    )
    judged = _by(
        "comparison__study",
        # A changed answer is not one more.
        Judgment.objects.filter(comparison__study__in=studies, revises__isnull=True),
        by_people=Count("pk", filter=Q(rater__isnull=False)),
        by_judges=Count("pk", filter=Q(judge__isnull=False)),
    )
    return {
        study.pk: StudyTally(
            **contexts[study.dataset_id],
            **completions[study.dataset_id],
            **planned[study.pk],
            **judged[study.pk],
        )
        for study in studies
    }


def is_intact(study: Study) -> bool:
    """Say whether the stored content still has the hash under which it was locked."""
    return not study.protocol_hash or content_hash(study.content) == study.protocol_hash


def other_versions(study: Study) -> list[str]:
    """Return the slugs of the study's other versions, in their order; one query."""
    versions = Study.objects.filter(name=study.name).exclude(pk=study.pk)
    return list(versions.order_by("version").values_list("slug", flat=True))


def active_checks(study: Study) -> QuerySet[QualityCheck]:
    """Return the quality checks that are planted."""
    return QualityCheck.objects.filter(comparison__study=study, is_active=True)


def verdict_words(*, protocol: str, verdict: int) -> str:
    """Say what a verdict holds, read from the better completion to the other."""
    size = abs(verdict)
    if protocol == Protocol.RUBRIC:
        return _("better than (%(strength)s)") % {"strength": "+" * size}
    return [_("about the same as"), _("slightly better than"), _("much better than")][size]


def _by(key: str, rows: QuerySet[Row], **counts: Aggregate) -> defaultdict[int, dict[str, int]]:
    """Return the counts of each group; a group without rows has none."""
    found = defaultdict[int, dict[str, int]](dict)
    for row in rows.values(key).order_by().annotate(**counts):
        found[row.pop(key)] = row
    return found


def judgment_row(judgment: Judgment) -> JudgmentRow:
    """Return a judgment as lists show it; its evaluator, pair and marks come with it."""
    evaluator = judgment.rater or judgment.judge
    better, words, worse = _finding(judgment)
    return JudgmentRow(
        key=judgment.comparison.public_key,
        context=judgment.comparison.context.key,
        at=judgment.submitted_at,
        who=judgment.rater.code if judgment.rater else str(getattr(judgment.judge, "name", "")),
        is_simulated=bool(evaluator and evaluator.is_simulated),
        better=better,
        worse=worse,
        words=words,
        rationale=_reasons(judgment),
        notes=tuple(_notes(judgment)),
    )


def _reasons(judgment: Judgment) -> str:
    """Return the reasons that were ticked, in the study's words, and the one that was written."""
    keys = judgment.chips.split()
    chips = study_queries.content_of(judgment.comparison.study).get("chips", ()) if keys else ()
    ticked = (chip["words"] for chip in chips if chip["key"] in keys)
    return " · ".join([*ticked, *filter(None, [judgment.rationale])])


def _finding(judgment: Judgment) -> tuple[str, str, str]:
    """Return the better system, words and the other; or the one system and its ratings."""
    pair = judgment.comparison
    if pair.second is None or judgment.verdict is None:
        marks = sorted(judgment.marks.all(), key=lambda mark: mark.pk)
        ratings = ", ".join(f"{mark.dimension} {mark.advantage}" for mark in marks)
        return pair.first.system.name, _("rated %(ratings)s") % {"ratings": ratings}, ""
    names = pair.first.system.name, pair.second.system.name
    better, worse = names if judgment.verdict >= 0 else reversed(names)
    return better, verdict_words(protocol=judgment.protocol, verdict=judgment.verdict), worse


def _notes(judgment: Judgment) -> list[str]:
    notes = []
    if judgment.revises_id is not None:
        notes.append(_("changed"))
    if judgment.is_surplus:
        notes.append(_("surplus"))
    return notes


def comparisons(study: Study, query: TableQuery) -> QuerySet[Comparison]:
    """Return the comparisons meant, in the order meant; planted ones only if they are asked for."""
    named = Comparison.objects.filter(study=study).alias(public_name=public_name())
    found = query.choose(named)
    if not query.show:
        found = found.filter(purpose=Purpose.MAIN)
    if query.q:
        found = found.filter(
            goes_by(query.q)
            | Q(context__key=query.q)
            | Q(first__system__slug=query.q)
            | Q(second__system__slug=query.q)
        )
    related = ("context", "first__system", "second__system")
    return found.select_related(*related).order_by(*query.indexed_order)


def comparison_page(
    study: Study, query: TableQuery, number: str
) -> tuple[Page[Comparison], list[CountedComparison]]:
    """Return one page of the comparisons, in three queries."""
    page = Paginator(comparisons(study, query), ON_PAGE).get_page(number)
    said = _said(Judgment.objects.filter(comparison__in=[one.pk for one in page]))
    return page, [(one, *said[one.pk]) for one in page]


def all_comparisons(study: Study, query: TableQuery) -> Iterator[CountedComparison]:
    """Yield all of the comparisons meant, in two queries."""
    said = _said(Judgment.objects.filter(comparison__study=study))
    for one in comparisons(study, query).iterator(chunk_size=1000):
        yield one, *said[one.pk]


def judgments(study: Study, query: TableQuery) -> QuerySet[Judgment]:
    """Return the judgments meant, in the order meant."""
    found = query.choose(Judgment.objects.filter(comparison__study=study))
    if query.q:
        found = found.filter(
            Q(rater__code=query.q)
            | Q(judge__slug=query.q)
            | goes_by(query.q, "comparison__")
            | Q(comparison__context__key=query.q)
        )
    return found.order_by(*query.indexed_order)


def judgment_page(
    study: Study, query: TableQuery, number: str, counts: StudyCounts | None = None
) -> tuple[Page[int], list[JudgmentRow]]:
    """Return one page of the judgments, in four queries.

    ``counts`` may be given of a large study: then nobody counts all of its judgments for a page.
    """
    # The keys are sorted, and texts come for those of the page alone: whole rows sort slowly.
    found = Paginator(judgments(study, query).values_list("pk", flat=True), ON_PAGE)
    if counts is not None and not query.q and query.show in KNOWN:
        found.count = KNOWN[query.show](counts)
    page = found.get_page(number)
    rows = _with_pairs(Judgment.objects.filter(pk__in=list(page))).in_bulk()
    return page, [judgment_row(rows[pk]) for pk in page if pk in rows]


def all_judgments(study: Study, query: TableQuery) -> Iterator[JudgmentRow]:
    """Yield all of the judgments meant; memory stays flat."""
    for one in _with_pairs(judgments(study, query)).iterator(chunk_size=1000):
        yield judgment_row(one)


def _with_pairs(found: QuerySet[Judgment]) -> QuerySet[Judgment]:
    pair = ("context", "study", "first__system", "second__system")
    related = (f"comparison__{one}" for one in pair)
    return found.select_related("rater", "judge", *related).prefetch_related("marks")


def _said(given: QuerySet[Judgment]) -> defaultdict[int, tuple[int, int]]:
    """Count the judgments of each comparison by people and by judges, changed ones once."""
    rows = (
        given.filter(revises__isnull=True)
        .order_by()
        .values_list("comparison")
        .annotate(people=Count("rater"), judges=Count("judge"))
    )
    found = defaultdict[int, tuple[int, int]](lambda: (0, 0))
    found.update({pk: (people, judges) for pk, people, judges in rows})
    return found
