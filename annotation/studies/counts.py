"""What a study has, counted: by the page itself of most studies, by a worker of a large one."""

import datetime as dt
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, IntegerField, Model, Q, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce

from annotation.choices import Purpose
from annotation.models import Comparison, Judgment, Study
from annotation.studies import pace
from annotation.studies import queries as study_queries
from annotation.studies.pace import Pace
from annotation.studies.stored_figures import FiguresKind
from completions.models import Completion, Context

MOST_LIVE = 50_000
"""Judgments by people, wanted by a plan, of which a page counts what is there itself."""


@dataclass(frozen=True)
class StudyTally:
    """What a study has, counted.

    ``by_people`` are all their answers: planted and repeated pairs among them, and surplus.
    ``wanted`` are the slots for people that the plan has, ``slots_left`` those not handed out.
    """

    contexts: int = 0
    completions: int = 0
    comparisons: int = 0
    by_people: int = 0
    by_judges: int = 0
    wanted: int = 0
    slots_left: int = 0

    @property
    def done(self) -> int:
        """How many of the slots for people are taken: they have a judgment, or are on a screen."""
        return max(0, self.wanted - self.slots_left)


ROWS: tuple[type[Model], ...] = (Completion, Comparison, Judgment)
"""What counts change with, when there are more."""
NO_PACE = Pace()
PLANNED = {
    "comparisons": Count("pk"),
    # Nobody will be asked about a deleted text: nothing is wanted of it any more.
    "wanted": Sum("study__judgments_per_pair", filter=study_queries.INTACT, default=0),
    "slots_left": Sum("slots_left", filter=study_queries.INTACT, default=0),
}
"""What is counted of the comparisons that count for the ratings."""


@dataclass(frozen=True)
class StudyCounts(StudyTally):
    """What a study has, and how fast judgments came of late.

    ``n_judgments`` are all rows, changed answers among them.
    """

    n_judgments: int = 0
    people: Pace = NO_PACE
    judges: Pace = NO_PACE


def study_counts(study: Study, now: dt.datetime) -> StudyCounts:
    """Count what the study has, in three queries."""
    contexts = Context.objects.filter(dataset=study.dataset_id)
    texts = Completion.objects.filter(erased_at=None, context__dataset=study.dataset_id)
    planned = Comparison.objects.filter(study=study, purpose=Purpose.MAIN).aggregate(**PLANNED)
    judged = _judged(study, now)
    return StudyCounts(
        **numbers_of(study, {"contexts": contexts, "completions": texts}),
        **planned,
        by_people=judged["by_people"],
        by_judges=judged["by_judges"],
        n_judgments=judged["all"],
        people=Pace(judged["people_in_hour"], judged["people_in_day"]),
        judges=Pace(judged["judges_in_hour"], judged["judges_in_day"]),
    )


def large_among(studies: Collection[Study]) -> list[Study]:
    """Return the studies that are too large for a page to count, in one query."""
    rows = Comparison.objects.filter(study__in=studies).order_by().values_list("study")
    n = dict(rows.annotate(n=Count("pk")))
    return [one for one in studies if n.get(one.pk, 0) * one.judgments_per_pair > MOST_LIVE]


def newest_keys(*tables: type[Model]) -> object:
    """Return what changes with every new row of the tables, of whichever study; one query.

    Counting those of one study would take long; others make its figures old now and then.
    """
    newest = (Subquery(_newest(table)) for table in tables)
    return Study.objects.values_list(*newest).first()


def has_few_judgments(study: Study, *, most: int) -> bool:
    """Say whether a study has so many judgments at most; the cost is that of reading so many."""
    given = Judgment.objects.filter(comparison__study=study)
    return given[: most + 1].count() <= most


def numbers_of(
    study: Study, rows: Mapping[str, QuerySet[Any]], **others: Coalesce
) -> dict[str, int]:
    """Return the number of each of the rows, and the other numbers, in one query."""
    numbers = {name: _number_of(found) for name, found in rows.items()}
    found: Any = Study.objects.filter(pk=study.pk).values(**numbers, **others)
    return dict(found.get())


def _number_of(rows: QuerySet[Any]) -> Coalesce:
    alone = rows.order_by().values(one=Value(1)).annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(alone, output_field=IntegerField()), 0)


def _newest(table: type[Model]) -> Any:  # noqa: ANN401 (a query for one number)
    rows: QuerySet[Model] = QuerySet(table)
    return rows.order_by("-pk").values("pk")[:1]


def _is_small(study: Study) -> bool:
    return not large_among([study])


def _judged(study: Study, now: dt.datetime) -> dict[str, int]:
    """Count judgments; a changed answer is one more among all alone."""
    hour, day = Q(submitted_at__gt=now - pace.HOUR), Q(submitted_at__gt=now - pace.DAY)
    first = Q(revises__isnull=True)
    people, judges = first & Q(rater__isnull=False), first & Q(judge__isnull=False)
    return Judgment.objects.filter(comparison__study=study).aggregate(
        all=Count("pk"),
        by_people=Count("pk", filter=people),
        by_judges=Count("pk", filter=judges),
        people_in_hour=Count("pk", filter=people & hour),
        people_in_day=Count("pk", filter=people & day),
        judges_in_hour=Count("pk", filter=judges & hour),
        judges_in_day=Count("pk", filter=judges & day),
    )


COUNTS = FiguresKind("counts", _is_small, lambda _study: newest_keys(*ROWS), study_counts)
