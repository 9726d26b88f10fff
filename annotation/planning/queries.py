"""What a study's plan would come to, read and worked out without writing anything (ADR-0027)."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

from django.db.models import Avg, Count, Max, QuerySet, Sum

from annotation.choices import Protocol, Purpose
from annotation.models import Comparison, Judge, Study
from annotation.planning.parts import (
    Block,
    Candidate,
    Keys,
    PlannedPair,
    PlanSummary,
    keys_of,
    summarise,
)
from annotation.studies import pace
from annotation.studies import queries as study_queries
from annotation.studies.counts import newest_keys, numbers_of
from annotation.studies.stored_figures import FiguresKind
from completions.choices import HoldState, Stratum
from completions.dialogues.normaliser import plain
from completions.leaks import queries
from completions.leaks.queries import Held, Leaks
from completions.models import Completion, Context, Hold

Written = Sequence[tuple[Candidate, str]]
"""The completions that may be compared in one context, with their texts."""


@dataclass(frozen=True)
class PlanDraft:
    """The comparisons that planning would add, and what the plan would come to.

    ``contexts`` are the database's keys of their contexts; ``leaks`` are what the filter would
    hold now; ``n_held_compared`` says in how many comparisons that exist a held or dropped
    completion is shown.
    """

    additions: Sequence[PlannedPair]
    contexts: Mapping[str, int]
    summary: PlanSummary
    held: Held
    leaks: Leaks
    n_held_compared: int


class Existing(NamedTuple):
    """A comparison that a study has: of a pair, or of a text that is rated alone.

    ``is_main`` says whether it counts for the plan; quality checks do not.
    """

    is_main: bool
    first: Candidate
    second: Candidate | None


Place: TypeAlias = tuple[int, Block, list[Existing]]
"""The key of a context, what may be compared in it, and what is there."""


def draft_plan(study: Study) -> PlanDraft:
    """Return what planning the study now would add, in five queries; nothing is written."""
    leaks = queries.find_new_leaks(study.dataset_id)
    withheld = queries.withheld(study.dataset_id).union(leaks)
    places = _places(study, withheld)
    draft = _draft_ratings if study.protocol == Protocol.LIKERT else _draft_pairs
    additions, summary = draft(study, places)
    return PlanDraft(
        additions=additions,
        contexts={block.key: pk for pk, block, _existing in places},
        summary=summary,
        held=queries.count_holds(study.dataset_id, leaks),
        leaks=leaks,
        n_held_compared=_n_compared(places, withheld),
    )


def _draft_pairs(study: Study, places: Sequence[Place]) -> tuple[list[PlannedPair], PlanSummary]:
    from annotation.planning.pairing import plan_pairs  # noqa: PLC0415 (NumPy, for few pages)

    per_context = study.pairs_per_context or None
    blocks = [block for _pk, block, _existing in places]
    pairs = plan_pairs(blocks, per_context=per_context, seed=study.seed)
    return pairs, summarise(blocks, pairs, per_context=per_context)


def _draft_ratings(_study: Study, places: Sequence[Place]) -> tuple[list[PlannedPair], PlanSummary]:
    """Return each completion that is not rated yet; there are no pairs to balance."""
    alone = [one for _pk, _block, existing in places for one in existing if not one.second]
    shown = {one.first.key for one in alone}
    additions = [
        PlannedPair(block.key, candidate, None)
        for _pk, block, _existing in places
        for candidate in block.candidates
        if candidate.key not in shown
    ]
    planned = [one.first.system for one in alone if one.is_main]
    appearances = Counter([*planned, *(one.first.system for one in additions)])
    summary = PlanSummary(
        n_planned=len(planned),
        n_added=len(additions),
        n_short=0,
        n_alike=0,
        appearances=dict(sorted(appearances.items())),
        pairs={},
        strata=(),
    )
    return additions, summary


def _places(study: Study, withheld: Collection[int]) -> list[Place]:
    """Return the contexts in use, and those that only comparisons made before are about."""
    existing = _existing(study)
    is_paired = study.protocol != Protocol.LIKERT
    of_dataset = Context.objects.in_use().filter(dataset=study.dataset_id)
    in_use = set(of_dataset.values_list("pk", flat=True))
    written = _written(study, withheld, in_use)
    contexts = Context.objects.filter(dataset=study.dataset_id).order_by("key")
    return [
        (pk, _block(key, stratum, written[pk], existing[pk], is_paired=is_paired), existing[pk])
        for pk, key, stratum in contexts.values_list("pk", "key", "stratum")
        if pk in in_use or any(one.is_main for one in existing[pk])
    ]


def _block(
    key: str, stratum: str, written: Written, existing: Sequence[Existing], *, is_paired: bool
) -> Block:
    pairs = [(is_main, (one, two)) for is_main, one, two in existing if two]
    return Block(
        key,
        stratum,
        tuple(candidate for candidate, _text in written),
        planned=tuple(pair for is_main, pair in pairs if is_main),
        taken=frozenset((one.key, two.key) for is_main, (one, two) in pairs if not is_main),
        alike=_alike(written) if is_paired else frozenset[Keys](),
    )


def _alike(written: Written) -> frozenset[Keys]:
    """Return the pairs whose two texts are the same once they are dressed alike."""
    by_text = defaultdict[str, list[Candidate]](list)
    for candidate, text in written:
        by_text[plain(text)].append(candidate)
    return frozenset(
        keys_of(one, other)
        for same in by_text.values()
        for one, other in combinations(same, 2)
        if one.system != other.system
    )


def _existing(study: Study) -> defaultdict[int, list[Existing]]:
    columns = ("pk", "system__slug", "content_hash")
    # Pairs with a deleted text are judged no more: they are neither counted nor planned anew.
    intact = study.comparisons.filter(study_queries.INTACT)
    rows = intact.order_by("pk").values_list(
        "purpose", "context", *(f"{side}__{one}" for side in ("first", "second") for one in columns)
    )
    found = defaultdict[int, list[Existing]](list)
    for purpose, context, *row in rows:
        second = Candidate(*row[3:]) if row[3] else None
        found[context].append(Existing(purpose == Purpose.MAIN, Candidate(*row[:3]), second))
    return found


def texts_of(study: Study) -> QuerySet[Completion]:
    """Return the completions of the systems that the study compares; all, where it names none."""
    texts = Completion.objects.filter(context__dataset=study.dataset_id, erased_at=None)
    chosen = study.content.get("systems")
    return texts.filter(system__slug__in=chosen) if chosen else texts


def absent_systems(study: Study) -> list[str]:
    """Return the systems that the study names and that have no completion in its dataset."""
    chosen = study.content.get("systems") or []
    there = texts_of(study).order_by().values_list("system__slug", flat=True).distinct()
    return sorted(set(chosen) - set(there)) if chosen else []


def _written(
    study: Study, withheld: Collection[int], in_use: Collection[int]
) -> defaultdict[int, list[tuple[Candidate, str]]]:
    rows = texts_of(study).values_list("context", "pk", "system__slug", "content_hash", "text")
    found = defaultdict[int, list[tuple[Candidate, str]]](list)
    for context, pk, system, content_hash, text in rows.order_by("pk"):
        if context in in_use and pk not in withheld:
            found[context].append((Candidate(pk, system, content_hash), text))
    return found


def _n_compared(places: Sequence[Place], withheld: Collection[int]) -> int:
    """Count the comparisons that exist and show a completion that would not be paired now."""
    shown = [
        {one.first.key, (one.second or one.first).key}
        for _pk, _block, existing in places
        for one in existing
        if one.is_main
    ]
    return sum(not keys.isdisjoint(withheld) for keys in shown)


# What the page of a plan shows, with the work that the plan asks for.

ORDERS = 2
"""A judge is asked about a pair in both display orders, about a message alone once."""
MOST_LIVE = 200
"""Completions of a dataset whose texts a page filters, and pairs, itself."""


def plan_figures(study: Study) -> dict[str, object]:
    """Return what planning the study now would come to, in eleven queries; nothing is written.

    ``n_wanted`` are all judgments by people of the comparisons there would be. ``judges`` are
    those that could judge: by name, with the calls, and what they cost, None while no call has told
    a price. ``lacking`` are systems with the number of contexts in which they have no completion.
    """
    draft = draft_plan(study)
    texts = _completions(study)
    n_contexts = Context.objects.in_use().filter(dataset=study.dataset_id).count()
    return {
        "n_leaks": len(draft.leaks),
        "n_held_compared": draft.n_held_compared,
        "summary": draft.summary,
        "strata": [(Stratum(one.name).label, one) for one in draft.summary.strata],
        "held": draft.held,
        "n_contexts": n_contexts,
        "n_systems": len(texts),
        "n_wanted": draft.summary.n_pairs * study.judgments_per_pair,
        "n_raters": _n_raters(study, draft.summary.n_added),
        "judges": _judges(study, draft.summary.n_pairs),
        "lacking": (
            *((name, n_contexts - n) for name, n in texts.items() if n < n_contexts),
            *((slug, n_contexts) for slug in absent_systems(study)),
        ),
    }


def _n_raters(study: Study, n_added: int) -> int:
    """Return how many raters the free slots take, with those of comparisons to be added."""
    planned = Comparison.objects.filter(study_queries.INTACT, study=study, purpose=Purpose.MAIN)
    free = planned.aggregate(n=Sum("slots_left", default=0), most=Max("slots_left", default=0))
    each = study.judgments_per_pair
    checks = study.content.get("checks") or {}
    return pace.raters_needed(
        n_judgments=n_added * each + free["n"],
        session_length=study.session_length,
        planted=checks.get("rate", 0) + checks.get("repeat_rate", 0),
        per_pair=each if n_added else free["most"],
    )


def _completions(study: Study) -> Mapping[str, int]:
    """Return in how many contexts in use each system has a completion, by its name."""
    contexts = Context.objects.in_use().filter(dataset=study.dataset_id)
    rows = (
        texts_of(study)
        .filter(context__in=contexts)
        .order_by("system__name")
        .values_list("system__name")
        .annotate(n=Count("context", distinct=True))
    )
    return dict(rows)


def _judges(study: Study, n_comparisons: int) -> tuple[tuple[str, int, Decimal | None], ...]:
    orders = 1 if study.protocol == Protocol.LIKERT else ORDERS
    n_calls = n_comparisons * orders
    judges = Judge.objects.annotate(usual=Avg("calls__cost_usd")).order_by("is_simulated", "name")
    return tuple(
        (one.name, n_calls, None if one.usual is None else Decimal(one.usual) * n_calls)
        for one in judges
    )


def _is_small(study: Study) -> bool:
    texts = Completion.objects.filter(context__dataset=study.dataset_id)
    return texts[: MOST_LIVE + 1].count() <= MOST_LIVE


def _basis(study: Study) -> object:
    """Return what a plan rests on: the study's design, what is in use, and the newest rows.

    Counting all texts would take long; those of another dataset make it old now and then.
    """
    design = (
        study.protocol,
        study.seed,
        study.pairs_per_context,
        study.judgments_per_pair,
        study.session_length,
        study.content.get("checks"),
        study.content.get("systems"),
    )
    contexts = Context.objects.filter(dataset=study.dataset_id)
    texts = Completion.objects.filter(context__dataset=study.dataset_id)
    holds = Hold.objects.filter(completion__context__dataset=study.dataset_id)
    wanted: dict[str, QuerySet[Any]] = {
        "contexts": contexts.in_use(),
        # Only what people wrote ever is: the others need not be looked at.
        "erased": texts.filter(erased_at__isnull=False, writer__isnull=False),
        **{state: holds.filter(state=state) for state in HoldState.values},
    }
    return design, numbers_of(study, wanted), newest_keys(Completion, Comparison)


PLAN = FiguresKind("plan", _is_small, _basis, lambda study, _now: plan_figures(study))
