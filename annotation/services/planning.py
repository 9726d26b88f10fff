"""Make a study's comparisons from the completions of its contexts."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.db import transaction

from annotation import design
from annotation.choices import Purpose
from annotation.models import Comparison, Study
from completions.models import Completion, Context
from completions.services import record

BATCH = 1000


@dataclass(frozen=True)
class PlanReport:
    """What planning did: comparisons added, in all, and appearances per system."""

    n_added: int
    n_comparisons: int
    appearances: dict[str, int]


@dataclass
class _Planned:
    """What a study has: pairs by context, how many of them are main, appearances of systems."""

    pairs: defaultdict[int, set[tuple[int, int]]] = field(default_factory=lambda: defaultdict(set))
    n_main: Counter[int] = field(default_factory=Counter)
    appearances: Counter[Hashable] = field(default_factory=Counter)


@transaction.atomic
def plan_study(*, study: Study, now: dt.datetime, by: User | None = None) -> PlanReport:
    """Add the comparisons that the study's design wants and does not have yet.

    Planning again after new completions came extends the plan and leaves what is there alone.
    A context that a reviewer dropped gets none, and keeps those that it has.
    """
    # One planner at a time; no_key, so that raters are let in meanwhile.
    study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    added = Comparison.objects.bulk_create(_wanted_comparisons(study), batch_size=BATCH)
    systems = study.comparisons.filter(purpose=Purpose.MAIN).values_list(
        "first__system__slug", "second__system__slug"
    )
    counts = Counter(slug for pair in systems for slug in pair)
    report = PlanReport(len(added), sum(counts.values()) // 2, dict(sorted(counts.items())))
    if added:
        record(
            action="study.planned",
            subject=f"study {study.slug}",
            now=now,
            by=by,
            after={"added": report.n_added, "comparisons": report.n_comparisons},
        )
    return report


def _wanted_comparisons(study: Study) -> Iterator[Comparison]:
    planned = _planned(study)
    completions = _completions_by_context(study)
    contexts = Context.objects.in_use().filter(dataset=study.dataset_id).order_by("key")
    for context in contexts.only("pk", "key"):
        pairs = design.choose_pairs(
            completions.get(context.pk, []),
            lacking=_lacking(study, planned.n_main[context.pk]),
            existing=planned.pairs[context.pk],
            appearances=planned.appearances,
            seed=study.seed,
            context_key=context.key,
        )
        for first, second in pairs:
            yield _comparison(study, context, first, second)


def _comparison(
    study: Study, context: Context, first: design.Candidate, second: design.Candidate
) -> Comparison:
    key = design.pair_key(
        context_key=context.key, first_hash=first.content_hash, second_hash=second.content_hash
    )
    return Comparison(
        study=study,
        context=context,
        first_id=first.key,
        second_id=second.key,
        key=key,
        position=design.pair_position(seed=study.seed, key=key),
        slots_left=study.judgments_per_pair,
    )


def _lacking(study: Study, n_planned: int) -> int | None:
    """Return how many pairs a context lacks; None stands for all there can be."""
    return study.pairs_per_context - n_planned if study.pairs_per_context else None


def _planned(study: Study) -> _Planned:
    planned = _Planned()
    rows = study.comparisons.values_list(
        "purpose", "context_id", "first_id", "second_id", "first__system_id", "second__system_id"
    )
    for purpose, context, first, second, *systems in rows:
        planned.pairs[context].add((first, second))
        if purpose == Purpose.MAIN:
            planned.n_main[context] += 1
            planned.appearances.update(systems)
    return planned


def _completions_by_context(study: Study) -> dict[int, list[design.Candidate]]:
    rows = Completion.objects.filter(context__dataset=study.dataset_id).values_list(
        "context_id", "pk", "system_id", "content_hash"
    )
    found: dict[int, list[design.Candidate]] = {}
    for context, pk, system, content_hash in rows:
        found.setdefault(context, []).append(design.Candidate(pk, system, content_hash))
    return found
