"""The one rule for which judgments count."""

import datetime as dt
from dataclasses import dataclass

from django.db.models import Case, CharField, Exists, F, OuterRef, Q, QuerySet, Value, When

from annotation.choices import Protocol, Purpose
from annotation.models import (
    Comparison,
    Exclusion,
    Judge,
    Judgment,
    Lease,
    Rater,
    RationaleRun,
    Study,
)
from completions.choices import CallState, Stratum
from completions.models import Completion, LabellingRun
from ranking.choices import ContextSet, EvaluatorPool

SIMULATED = Q(rater__is_simulated=True) | Q(judge__is_simulated=True)
CONTEXT_SETS: dict[str, Q] = {
    ContextSet.ALL: Q(),
    ContextSet.REGULAR: Q(context__stratum=Stratum.REGULAR),
    ContextSet.ADVERSARIAL: Q(context__stratum=Stratum.ADVERSARIAL),
}


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


def analysis_set(*, study: Study, as_of: dt.datetime) -> QuerySet[Judgment]:
    """Return the judgments of a study that count, as of a time: the rule, in one place.

    A judgment counts when it answers a main comparison of two different systems, or in a likert
    study of one message alone (the answer to a quality check or to a repeated pair does
    not), is the current revision, is not surplus, comes
    from a valid call if a judge gave it, and its evaluator is neither excluded by the newest
    decision nor withdrawn with the wish that nothing counts. It does not when a text that it
    compares was deleted at its writer's wish. A simulated rater counts in a simulated study alone.
    """
    pairs = compared(study=study, as_of=as_of)
    given = answers(study=study, as_of=as_of, pool=EvaluatorPool.COMBINED)
    return given.filter(comparison__in=pairs)


def compared(*, study: Study, as_of: dt.datetime) -> QuerySet[Comparison]:
    """Return the comparisons whose judgments may count: the one half of the rule."""
    erased = Completion.objects.filter(writer__isnull=False, erased_at__lte=as_of).values("pk")
    is_alone = study.protocol == Protocol.LIKERT
    mains = Comparison.objects.filter(study=study, purpose=Purpose.MAIN, second__isnull=is_alone)
    if is_alone:
        return mains.exclude(first__in=erased)
    return (
        mains.exclude(first__system=F("second__system"))
        .exclude(first__in=erased)
        .exclude(second__in=erased)
    )


def answers(*, study: Study, as_of: dt.datetime, pool: EvaluatorPool) -> QuerySet[Judgment]:
    """Return what counts if its comparison does, perhaps of other studies: the other half.

    In halves, the rule asks once for each comparison what else it would ask for each judgment.
    What is rare is looked up in a short list rather than joined, which leaves the database
    no choice but one look at each judgment.
    """
    revised = Judgment.objects.filter(
        revises__isnull=False, comparison__study=study, submitted_at__lte=as_of
    )
    not_main = Lease.objects.filter(
        Q(quality_check__isnull=False) | Q(repeats__isnull=False), rater__study=study
    )
    judges = Judge.objects.exclude(pk__in=_excluded("judge", as_of).values("judge"))
    by_people = Q(rater__in=_raters(study, as_of)) & ~Q(lease__in=not_main.values("pk"))
    by_judges = Q(judge__in=judges, judge_call__state=CallState.DONE)
    given = {
        EvaluatorPool.HUMAN: by_people,
        EvaluatorPool.LLM: by_judges,
        EvaluatorPool.COMBINED: by_people | by_judges,
    }
    current = Judgment.objects.filter(is_surplus=False, submitted_at__lte=as_of)
    return current.filter(given[pool]).exclude(pk__in=revised.values("revises"))


def _raters(study: Study, as_of: dt.datetime) -> QuerySet[Rater]:
    """Return the raters of the study whose answers count."""
    excluded = _excluded("rater", as_of).filter(rater__study=study)
    raters = (
        Rater.objects.filter(study=study)
        .exclude(data_kept=False, ended_at__lte=as_of)
        .exclude(pk__in=excluded.values("rater"))
    )
    return raters if study.is_simulated else raters.filter(is_simulated=False)


def selected(selection: Selection) -> QuerySet[Judgment]:
    """Return the analysis set of one selection."""
    return selected_answers(selection).filter(comparison__in=selected_pairs(selection))


def selected_pairs(selection: Selection) -> QuerySet[Comparison]:
    """Return the comparisons of one selection: the one half of its analysis set."""
    pairs = compared(study=selection.study, as_of=selection.as_of)
    return pairs.filter(CONTEXT_SETS[selection.context_set])


def selected_answers(selection: Selection) -> QuerySet[Judgment]:
    """Return the answers of one selection, perhaps of other studies: the other half."""
    given = answers(study=selection.study, as_of=selection.as_of, pool=selection.pool)
    return given.exclude(rater__in=selection.without) if selection.without else given


def n_judgments(*, study: Study, as_of: dt.datetime) -> int:
    """Return how many judgments of the study count as of a time."""
    return analysis_set(study=study, as_of=as_of).count()


OVERLAP = 2000  # keys of judgments whose transactions may still be under way


def newest_judgment() -> int:
    """Return the highest key of any judgment, or 0: one look at an index."""
    return Judgment.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def n_near(newest: int) -> int:
    """Count the judgments of all studies whose keys are at or shortly before one.

    If there are more of them later, transactions that were under way have ended since.
    """
    return Judgment.objects.filter(pk__gt=newest - OVERLAP, pk__lte=newest).count()


def n_given(*, study: Study, after: int, as_of: dt.datetime) -> int:
    """Count the judgments of a study with keys above one, whether or not they count for ratings.

    The cost is that of the judgments of all studies with such keys.
    """
    given = Judgment.objects.filter(pk__gt=after, submitted_at__lte=as_of)
    return given.filter(comparison__study=study).count()


def n_decisions(study: Study) -> int:
    """Count what may change the study's figures although no judgment came or went.

    Exclusion decisions that may concern it, deletions on request, and runs of labels that are
    over: what these found enters with the next fit (ADR-0018).
    """
    concerned, withdrawn, erased = _decided(study)
    strategies = LabellingRun.objects.filter(dataset=study.dataset_id, ended_at__isnull=False)
    themes = RationaleRun.objects.filter(study=study, ended_at__isnull=False)
    others = (one.values("pk") for one in (erased, strategies, themes))
    return concerned.count() + withdrawn.values("pk").union(*others, all=True).count()


def is_decided_after(study: Study, at: dt.datetime) -> bool:
    """Say whether a decision about the study's judgments takes effect after a time."""
    concerned, _withdrawn, _erased = _decided(study)
    return concerned.filter(decided_at__gt=at).exists() or is_deleted_after(study, at)


def is_deleted_after(study: Study, at: dt.datetime) -> bool:
    """Say whether answers or texts of the study were deleted on request after a time."""
    _concerned, withdrawn, erased = _decided(study)
    gone = withdrawn.filter(ended_at__gt=at).values("pk")
    return gone.union(erased.filter(erased_at__gt=at).values("pk"), all=True).exists()


def _decided(study: Study) -> tuple[QuerySet[Exclusion], QuerySet[Rater], QuerySet[Completion]]:
    """Return by what judgments of the study leave the set: exclusions, withdrawals, deletions."""
    concerned = Exclusion.objects.filter(Q(rater__study=study) | Q(judge__isnull=False))
    written = Completion.objects.filter(context__dataset=study.dataset_id, writer__isnull=False)
    erased = written.filter(erased_at__isnull=False)  # only what people wrote ever is
    return concerned, study.raters.filter(data_kept=False), erased


def why_left_out(*, study: Study, as_of: dt.datetime) -> Case:
    """Return for a judgment of the study why it is not in the analysis set, or empty text.

    The same rule as ``analysis_set``, told reason by reason, the first that holds; what is rare
    is looked up in a short list. The words are those of ``exports.tables.WHY_NOT``.
    """
    is_alone = study.protocol == Protocol.LIKERT
    withdrawn = Rater.objects.filter(study=study, data_kept=False, ended_at__lte=as_of)
    reasons: tuple[tuple[str, Q], ...] = (
        ("check", Q(lease__quality_check__isnull=False)),
        ("repeat", Q(lease__repeats__isnull=False)),
        ("not_main", ~Q(comparison__purpose=Purpose.MAIN)),
        ("not_main", ~Q(comparison__second__isnull=is_alone)),
        ("same_system", Q(comparison__first__system=F("comparison__second__system"))),
        ("text_erased", Q(comparison__first__erased_at__lte=as_of)),
        ("text_erased", Q(comparison__second__erased_at__lte=as_of)),
        ("later", Q(submitted_at__gt=as_of)),
        ("surplus", Q(is_surplus=True)),
        ("revised", Q(revision__submitted_at__lte=as_of)),
        ("withdrawn", Q(rater__in=withdrawn.values("pk"))),
        ("rater_excluded", Q(rater__in=_excluded("rater", as_of).values("rater"))),
        ("simulated_rater", Q(rater__is_simulated=True)),
        ("judge_excluded", Q(judge__in=_excluded("judge", as_of).values("judge"))),
        ("call_not_valid", Q(judge__isnull=False) & ~Q(judge_call__state=CallState.DONE)),
    )
    if study.is_simulated:
        reasons = tuple(one for one in reasons if one[0] != "simulated_rater")
    whens = (When(holds, then=Value(reason)) for reason, holds in reasons)
    return Case(*whens, default=Value(""), output_field=CharField())


def excluded_by(*, study: Study, as_of: dt.datetime) -> dict[tuple[str | None, str | None], str]:
    """Return the rules by which evaluators are excluded, by rater's pseudonym and judge's name."""
    raters = _excluded("rater", as_of).filter(rater__study=study)
    judges = _excluded("judge", as_of)
    return {
        **{(code, None): by for code, by in raters.values_list("rater__code", "rule")},
        **{(None, name): by for name, by in judges.values_list("judge__name", "rule")},
    }


def _excluded(evaluator: str, as_of: dt.datetime) -> QuerySet[Exclusion]:
    """Return the newest decisions as of a time, where they exclude their evaluator."""
    decided = Exclusion.objects.filter(decided_at__lte=as_of, **{f"{evaluator}__isnull": False})
    newer = decided.filter(
        Q(decided_at__gt=OuterRef("decided_at"))
        | Q(decided_at=OuterRef("decided_at"), pk__gt=OuterRef("pk")),
        **{evaluator: OuterRef(evaluator)},
    )
    return decided.filter(~Exists(newer), is_excluded=True)
