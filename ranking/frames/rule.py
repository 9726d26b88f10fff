"""The one rule for which judgments count, and the way from their rows to groups."""

import datetime as dt
from collections import Counter
from dataclasses import dataclass
from functools import partial
from itertools import product

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet

from annotation.choices import Purpose
from annotation.models import DimensionMark, Exclusion, Judgment, Study
from completions.choices import CallState, Stratum
from completions.models import Completion
from ranking.choices import ContextSet, EvaluatorPool
from ranking.groups import Group, GroupedJudgments, MarkGroup, Stamp

FIRST = "comparison__first__system__slug"
SECOND = "comparison__second__system__slug"
GROUP = ("comparison__context__dialogue__content_hash", FIRST, SECOND, "protocol", "verdict")
SIMULATED = Q(rater__is_simulated=True) | Q(judge__is_simulated=True)
POOLS: dict[str, Q] = {
    EvaluatorPool.HUMAN: Q(rater__isnull=False),
    EvaluatorPool.LLM: Q(judge__isnull=False),
    EvaluatorPool.COMBINED: Q(),
}
CONTEXT_SETS: dict[str, Q] = {
    ContextSet.ALL: Q(),
    ContextSet.REGULAR: Q(comparison__context__stratum=Stratum.REGULAR),
    ContextSet.ADVERSARIAL: Q(comparison__context__stratum=Stratum.ADVERSARIAL),
}

SELECTIONS = tuple(product(EvaluatorPool, ContextSet))


@dataclass(frozen=True)
class Selection:
    """Which judgments a fit is about: a study's, of a pool, on a set of contexts, as of a time.

    ``without`` are the keys of raters left out on trial, as if they were excluded.
    """

    study: Study
    pool: EvaluatorPool
    context_set: ContextSet
    as_of: dt.datetime
    without: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Evaluators:
    """How many people and which LLM judges gave the judgments."""

    n_raters: int
    judges: tuple[str, ...]


def analysis_set(*, study: Study, as_of: dt.datetime) -> QuerySet[Judgment]:
    """Return the judgments of a study that count, as of a time: the rule, in one place.

    A judgment counts when it answers a main comparison of two different systems (the answer to a
    quality check or to a repeated pair does not), is the current revision, is not surplus, comes
    from a valid call if a judge gave it, and its evaluator is neither excluded by the newest
    decision nor withdrawn with the wish that nothing counts. It does not when a text that it
    compares was deleted at its writer's wish. A simulated rater counts in a simulated study alone.
    """
    revised = Judgment.objects.filter(revises=OuterRef("pk"), submitted_at__lte=as_of)
    raters = _excluded("rater", as_of).filter(rater__study=study)
    return (
        Judgment.objects.filter(
            ~Exists(revised),
            Q(judge_call__isnull=True) | Q(judge_call__state=CallState.DONE),
            comparison__study=study,
            comparison__purpose=Purpose.MAIN,
            comparison__second__isnull=False,
            lease__quality_check__isnull=True,
            lease__repeats__isnull=True,
            is_surplus=False,
            submitted_at__lte=as_of,
        )
        .exclude(comparison__first__system=F("comparison__second__system"))
        .exclude(comparison__first__erased_at__lte=as_of)
        .exclude(comparison__second__erased_at__lte=as_of)
        .exclude(rater__data_kept=False, rater__ended_at__lte=as_of)
        .exclude(rater__in=raters.values("rater"))
        .exclude(Q(rater__is_simulated=True, comparison__study__is_simulated=False))
        .exclude(judge__in=_excluded("judge", as_of).values("judge"))
    )


def selected(selection: Selection) -> QuerySet[Judgment]:
    """Return the analysis set of one selection."""
    judgments = analysis_set(study=selection.study, as_of=selection.as_of).filter(
        POOLS[selection.pool], CONTEXT_SETS[selection.context_set]
    )
    return judgments.exclude(rater__in=selection.without) if selection.without else judgments


def n_judgments(*, study: Study, as_of: dt.datetime) -> int:
    """Return how many judgments of the study count as of a time."""
    return analysis_set(study=study, as_of=as_of).count()


def read_groups(selection: Selection) -> GroupedJudgments:
    """Count the selected judgments by dialogue, pair and verdict, in the database."""
    groups = read_verdicts(selection)
    return GroupedJudgments(groups, _read_marks(selection), n_decisions(selection.study))


def read_verdicts(selection: Selection) -> tuple[Group, ...]:
    """Count the same without what the ratings themselves do not need, in one query."""
    rows = (
        selected(selection)
        .values_list(*GROUP)
        .annotate(n=Count("pk"), newest=Max("pk"), n_simulated=Count("pk", filter=SIMULATED))
        .order_by(*GROUP)
    )
    return tuple(Group(*row) for row in rows)


def read_stamps(
    *, study: Study, as_of: dt.datetime
) -> dict[tuple[EvaluatorPool, ContextSet], Stamp]:
    """Return the stamp of each pool and context set that has judgments, without reading them."""
    numbers = {
        f"{kind}_{pool}_{context_set}": number(filter=POOLS[pool] & CONTEXT_SETS[context_set])
        for pool, context_set in SELECTIONS
        for kind, number in (("n", partial(Count, "pk")), ("newest", partial(Max, "pk")))
    }
    found = analysis_set(study=study, as_of=as_of).aggregate(**numbers)
    decisions = n_decisions(study)
    return {
        (pool, context_set): Stamp(n, found[f"newest_{pool}_{context_set}"], decisions)
        for pool, context_set in SELECTIONS
        if (n := found[f"n_{pool}_{context_set}"])
    }


def read_evaluators(selection: Selection) -> Evaluators:
    """Return who gave the selected judgments."""
    judgments = selected(selection)
    judges = judgments.filter(judge__isnull=False).values_list("judge__name", flat=True)
    n_raters = judgments.aggregate(n=Count("rater", distinct=True))["n"]
    return Evaluators(n_raters, tuple(judges.distinct().order_by("judge__name")))


def has_simulated_contexts(selection: Selection) -> bool:
    """Say whether any of the selected judgments is about a simulated context."""
    return selected(selection).filter(comparison__context__is_simulated=True).exists()


def n_decisions(study: Study) -> int:
    """Count the exclusion decisions that may concern the study, and the deletions on request."""
    concerned = Exclusion.objects.filter(Q(rater__study=study) | Q(judge__isnull=False))
    erased = Completion.objects.filter(context__dataset=study.dataset_id, erased_at__isnull=False)
    withdrawn = study.raters.filter(data_kept=False)
    deletions = withdrawn.values("pk").union(erased.values("pk"), all=True)
    return concerned.count() + deletions.count()


def _excluded(evaluator: str, as_of: dt.datetime) -> QuerySet[Exclusion]:
    """Return the newest decisions as of a time, where they exclude their evaluator."""
    decided = Exclusion.objects.filter(decided_at__lte=as_of, **{f"{evaluator}__isnull": False})
    newer = decided.filter(
        Q(decided_at__gt=OuterRef("decided_at"))
        | Q(decided_at=OuterRef("decided_at"), pk__gt=OuterRef("pk")),
        **{evaluator: OuterRef(evaluator)},
    )
    return decided.filter(~Exists(newer), is_excluded=True)


def _read_marks(selection: Selection) -> tuple[MarkGroup, ...]:
    """Count the marks that named a side, by system and dimension, in the database."""
    rows = (
        DimensionMark.objects.filter(judgment__in=selected(selection))
        .exclude(advantage=0)
        .values_list("dimension", f"judgment__{FIRST}", f"judgment__{SECOND}")
        .annotate(n=Count("pk"), n_first=Count("pk", filter=Q(advantage__gt=0)))
        .order_by()
    )
    wins, totals = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for dimension, first, second, n, n_first in rows:
        wins.update({(first, dimension): n_first, (second, dimension): n - n_first})
        totals.update({(first, dimension): n, (second, dimension): n})
    return tuple(MarkGroup(*key, wins[key], totals[key]) for key in sorted(totals))
