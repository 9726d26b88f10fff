"""Reads of LLM judges: which are registered, and what they said, counted in the database."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db import connection
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from annotation.choices import Side
from annotation.judges.ensembles import (
    EnsembleVerdict,
    JudgeVerdict,
    Order,
    Replies,
    ensemble_verdict,
    judge_verdict,
)
from annotation.models import Comparison, Exclusion, Judge, JudgeCall, Study
from completions.choices import CallState
from completions.models import Completion

ALL = "all"
"""Stands for every judge that is not simulated."""


class UnknownJudgeError(ValueError):
    """A judge was named that is not registered; the message says which there are."""


def counted_judges() -> QuerySet[Any]:
    """Return the judges, each with its ``n_calls``, by the index on the judge alone."""
    calls = JudgeCall.objects.filter(judge=OuterRef("pk")).order_by().values("judge")
    n_calls = Subquery(calls.annotate(n=Count("pk")).values("n"))
    return Judge.objects.annotate(n_calls=Coalesce(n_calls, 0))


def requested_judges(names: Collection[str]) -> list[Judge]:
    """Return the judges of these slugs, or every one that is not simulated for ``ALL`` alone.

    Raises
    ------
    UnknownJudgeError
        If one of them is not registered, or there is none.
    """
    if list(names) != [ALL]:
        return judges_named(names)
    found = list(Judge.objects.filter(is_simulated=False).order_by("slug"))
    if not found:
        msg = "no judge is registered but simulated ones: `judges sync` brings in a catalogue"
        raise UnknownJudgeError(msg)
    return found


def judges_named(slugs: Collection[str]) -> list[Judge]:
    """Return the judges of these slugs, by slug.

    Raises
    ------
    UnknownJudgeError
        If one of them is not registered.
    """
    found = list(Judge.objects.filter(slug__in=slugs).order_by("slug"))
    if unknown := sorted(set(slugs) - {judge.slug for judge in found}):
        known = ", ".join(Judge.objects.order_by("slug").values_list("slug", flat=True))
        msg = f"unknown judges {', '.join(unknown)}; known are {known or 'none'}"
        raise UnknownJudgeError(msg)
    return found


BATCH = 2000
GROUP = ("comparison_id", "judge_id")
VERDICT = "judgment__verdict"
_VALID = Q(state=CallState.DONE)


Tally = tuple[int, bool, Replies]
"""A judge, whether a text was deleted, and the counted calls that put the comparison to them."""


@dataclass(frozen=True)
class Panel:
    """The judges of a study by key, and those whom the newest decision leaves out."""

    judges: dict[int, Judge]
    excluded: frozenset[int]

    @property
    def has_simulated(self) -> bool:
        """Whether some judge of the study is simulated."""
        return any(judge.is_simulated for judge in self.judges.values())


@dataclass(frozen=True, slots=True)
class Judged:
    """One comparison: what each judge said by the judge's key, and what they say together.

    ``ensemble`` is None when there is nothing to state: a text was deleted at its writer's wish,
    or every judge asked is left out of the analysis.
    """

    comparison: int
    replies: dict[int, Replies]
    verdicts: dict[int, JudgeVerdict]
    ensemble: EnsembleVerdict | None
    is_erased: bool


def panel_of(study: Study) -> Panel:
    """Return the judges that were asked anything in the study, by name, in two queries."""
    calls = JudgeCall.objects.filter(judge=OuterRef("pk"), comparison__study=study)
    judges = Judge.objects.filter(Exists(calls)).order_by("name")
    known = {judge.pk: judge for judge in judges}
    decisions = Exclusion.objects.filter(judge__in=known).order_by("decided_at", "pk")
    newest = dict(decisions.values_list("judge_id", "is_excluded"))
    return Panel(known, frozenset(pk for pk, is_out in newest.items() if is_out))


def judged_comparisons(
    study: Study, panel: Panel, *, only: Collection[int] | None = None
) -> Iterator[Judged]:
    """Yield the comparisons put to judges, in the order in which they were planned; one query.

    The calls are counted in the database and come as one row per comparison and judge.
    """
    for comparison, rows in groupby(_rows(study, only=only), key=itemgetter(0)):
        yield _judged(comparison, [_tally(*row[1:]) for row in rows], panel)


def alike_tallies(study: Study) -> Iterator[tuple[Tally, int]]:
    """Yield each tally that occurs, and for how many comparisons; one query.

    However many calls there are, they can fall out in few ways. The sums of verdicts, which would
    tell tallies apart, are left at 0.
    """
    counts = {name: one for name, one in _counts().items() if not name.startswith("total")}
    single = _calls(study, only=None).order_by().values_list(*GROUP).annotate(**counts)
    sql, params = single.query.sql_with_params()
    names = ", ".join(map(connection.ops.quote_name, ("judge_id", *counts)))
    alike = f"SELECT {names}, count(*) FROM ({sql}) AS tally GROUP BY {names}"  # noqa: S608 (Django's)
    with connection.cursor() as cursor:
        cursor.execute(alike, params)
        for *row, n in cursor.fetchall():
            yield _tally(*row), n


def _tally(judge: int, n_erased: int, n_open: int, *calls: int) -> Tally:
    """Return the counts of a row as the rules take them: first one order's, then the other's."""
    half = len(calls) // 2
    return judge, n_erased > 0, Replies(Order(*calls[:half]), Order(*calls[half:]), n_open)


def _judged(comparison: int, tallies: Collection[Tally], panel: Panel) -> Judged:
    is_erased = any(is_erased for _judge, is_erased, _replies in tallies)
    # Whoever was asked since the panel was read is not of it.
    replies = {judge: said for judge, _is_erased, said in tallies if judge in panel.judges}
    verdicts = {judge: judge_verdict(said) for judge, said in replies.items()}
    counted = {
        panel.judges[pk].slug: one for pk, one in verdicts.items() if pk not in panel.excluded
    }
    ensemble = ensemble_verdict(counted) if counted and not is_erased else None
    return Judged(comparison, replies, verdicts, ensemble, is_erased)


def _rows(study: Study, *, only: Collection[int] | None) -> Iterator[tuple[int, ...]]:
    rows = _calls(study, only=only).order_by(*GROUP).values_list(*GROUP).annotate(**_counts())
    return rows.iterator(chunk_size=BATCH)


def _calls(study: Study, *, only: Collection[int] | None) -> QuerySet[JudgeCall]:
    calls = JudgeCall.objects.filter(comparison__study=study)
    return calls if only is None else calls.filter(comparison__in=only)


def _counts() -> dict[str, Count | Coalesce]:
    """Return the columns of a tally; texts that were deleted are few, and looked up in a list."""
    gone = Completion.objects.filter(erased_at__isnull=False).values("pk")
    erased = Comparison.objects.filter(Q(first__in=gone) | Q(second__in=gone))
    return {
        "n_erased": Count("pk", filter=Q(comparison__in=erased)),
        "n_open": Count("pk", filter=Q(ended_at__isnull=True)),
        **{
            f"{name}_{side}": number
            for side in Side
            for name, number in _numbers(Q(first_side=side)).items()
        },
    }


def _numbers(shown: Q) -> dict[str, Count | Coalesce]:
    """Count the calls with one order of display, and what their judgments say.

    The rating of a message alone counts as one that names it, as in the accounts of people.
    """
    said = shown & _VALID
    alone = Q(judgment__isnull=False, **{f"{VERDICT}__isnull": True})
    return {
        "calls": Count("pk", filter=shown),
        "first": Count("pk", filter=said & (Q(**{f"{VERDICT}__gt": 0}) | alone)),
        "second": Count("pk", filter=said & Q(**{f"{VERDICT}__lt": 0})),
        "total": Coalesce(Sum(F(VERDICT), filter=said), 0),
    }
