"""What a study's plan would come to, read and worked out without writing anything (ADR-0027)."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from django.db.models import QuerySet

from annotation.choices import Protocol, Purpose
from annotation.models import Study
from annotation.planning.pairing.parts import (
    Block,
    Candidate,
    PlannedPair,
    PlanSummary,
    keys_of,
    summarise,
)
from annotation.studies import selectors
from completions.dialogues.normaliser import plain
from completions.leaks import queries
from completions.leaks.queries import Held, Leaks
from completions.models import Completion, Context

Keys = tuple[int, int]


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


@dataclass(frozen=True)
class _Place:
    """A context, what may be compared in it, and which completions are rated alone in it.

    ``rated`` count for the plan; ``shown`` are the keys of all, quality checks included.
    """

    pk: int
    block: Block
    rated: tuple[Candidate, ...]
    shown: frozenset[int]


@dataclass
class _Existing:
    """The comparisons that a study has in one context."""

    pairs: list[tuple[Candidate, Candidate]] = field(default_factory=list)
    taken: set[Keys] = field(default_factory=set)
    rated: list[Candidate] = field(default_factory=list)
    shown: set[int] = field(default_factory=set)

    def add(self, purpose: str, first: Candidate, second: Candidate | None) -> None:
        """Sort a comparison in."""
        is_main = purpose == Purpose.MAIN
        if second is None:
            self.shown.add(first.key)
            self.rated.extend([first] * is_main)
        elif is_main:
            self.pairs.append((first, second))
        else:
            self.taken.add((first.key, second.key))


@dataclass
class _Written:
    """The completions that may be compared in one context, and their texts."""

    candidates: list[Candidate] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def alike(self) -> frozenset[Keys]:
        """Return the pairs whose two texts are the same once they are dressed alike."""
        by_text = defaultdict[str, list[Candidate]](list)
        for candidate, text in zip(self.candidates, self.texts, strict=True):
            by_text[plain(text)].append(candidate)
        return frozenset(
            keys_of(one, other)
            for same in by_text.values()
            for one, other in combinations(same, 2)
            if one.system != other.system
        )


def draft_plan(study: Study) -> PlanDraft:
    """Return what planning the study now would add, in five queries; nothing is written."""
    leaks = queries.find_new_leaks(study.dataset_id)
    withheld = queries.withheld(study.dataset_id).union(leaks)
    places = _places(study, withheld)
    draft = _draft_ratings if study.protocol == Protocol.LIKERT else _draft_pairs
    additions, summary = draft(study, places)
    return PlanDraft(
        additions=additions,
        contexts={place.block.key: place.pk for place in places},
        summary=summary,
        held=queries.count_holds(study.dataset_id, leaks),
        leaks=leaks,
        n_held_compared=_n_compared(places, withheld),
    )


def _draft_pairs(study: Study, places: Sequence[_Place]) -> tuple[list[PlannedPair], PlanSummary]:
    from annotation.planning.pairing.planning import plan_pairs  # noqa: PLC0415 (NumPy, for few pages)

    per_context = study.pairs_per_context or None
    blocks = [place.block for place in places]
    pairs = plan_pairs(blocks, per_context=per_context, seed=study.seed)
    return pairs, summarise(blocks, pairs, per_context=per_context)


def _draft_ratings(
    _study: Study, places: Sequence[_Place]
) -> tuple[list[PlannedPair], PlanSummary]:
    """Return each completion that is not rated yet; there are no pairs to balance."""
    additions = [
        PlannedPair(place.block.key, candidate, None)
        for place in places
        for candidate in place.block.candidates
        if candidate.key not in place.shown
    ]
    planned = [one.system for place in places for one in place.rated]
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


def _places(study: Study, withheld: Collection[int]) -> list[_Place]:
    """Return the contexts in use, and those that only comparisons made before are about."""
    existing = _existing(study)
    written = _written(study, withheld)
    is_paired = study.protocol != Protocol.LIKERT
    of_dataset = Context.objects.in_use().filter(dataset=study.dataset_id)
    in_use = set(of_dataset.values_list("pk", flat=True))
    contexts = Context.objects.filter(dataset=study.dataset_id).order_by("key")
    return [
        _place(
            pk,
            _block(key, stratum, written[pk] if pk in in_use else _Written(), is_paired=is_paired),
            existing[pk],
        )
        for pk, key, stratum in contexts.values_list("pk", "key", "stratum")
        if pk in in_use or existing[pk].pairs or existing[pk].rated
    ]


def _block(key: str, stratum: str, written: _Written, *, is_paired: bool) -> Block:
    alike = written.alike() if is_paired else frozenset[Keys]()
    return Block(key, stratum, tuple(written.candidates), alike=alike)


def _place(pk: int, block: Block, existing: _Existing) -> _Place:
    return _Place(
        pk,
        replace(block, planned=tuple(existing.pairs), taken=frozenset(existing.taken)),
        tuple(existing.rated),
        frozenset(existing.shown),
    )


def _existing(study: Study) -> defaultdict[int, _Existing]:
    columns = ("pk", "system__slug", "content_hash")
    # Pairs with a deleted text are judged no more: they are neither counted nor planned anew.
    intact = study.comparisons.filter(selectors.INTACT)
    rows = intact.order_by("pk").values_list(
        "purpose", "context", *(f"{side}__{one}" for side in ("first", "second") for one in columns)
    )
    found = defaultdict[int, _Existing](_Existing)
    for purpose, context, *row in rows:
        second = Candidate(*row[3:]) if row[3] else None
        found[context].add(purpose, Candidate(*row[:3]), second)
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


def _written(study: Study, withheld: Collection[int]) -> defaultdict[int, _Written]:
    rows = texts_of(study).values_list("context", "pk", "system__slug", "content_hash", "text")
    found = defaultdict[int, _Written](_Written)
    for context, pk, system, content_hash, text in rows.order_by("pk"):
        if pk not in withheld:
            found[context].candidates.append(Candidate(pk, system, content_hash))
            found[context].texts.append(text)
    return found


def _n_compared(places: Sequence[_Place], withheld: Collection[int]) -> int:
    """Count the comparisons that exist and show a completion that would not be paired now."""
    shown = [
        *({first.key, second.key} for place in places for first, second in place.block.planned),
        *({one.key} for place in places for one in place.rated),
    ]
    return sum(not keys.isdisjoint(withheld) for keys in shown)
