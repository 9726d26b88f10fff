"""What was judged: systems, contexts, completions and comparisons."""

from collections import defaultdict
from collections.abc import Iterator
from statistics import median
from typing import Any

from annotation.models import Comparison
from completions.choices import CallState, SystemKind
from completions.models import Completion, Context, GenerationCall, System
from ranking.releases.building.contents import Contents

BATCH = 2000
Rows = Iterator[dict[str, Any]]


def systems(contents: Contents) -> Rows:
    """Yield the systems whose completions are compared, by slug."""
    slugs = Completion.objects.filter(context__in=contents.contexts).values("system")
    measured = _measured(contents)
    for row in System.objects.filter(pk__in=slugs).order_by("slug"):
        yield {
            "slug": row.slug,
            "name": row.name,
            "kind": row.kind,
            "family": row.family,
            "model_id": row.model_id,
            "parameters": row.parameters,
            "is_simulated": row.is_simulated,
            "intelligence_index": _fact(row, "intelligence_index"),
            "published_ttft_ms": _fact(row, "median_ttft_ms"),
            "measured_ttft_ms": measured.get(row.pk),
        }


def contexts(contents: Contents) -> Rows:
    """Yield the contexts, in the order of their keys."""
    rows = Context.objects.filter(pk__in=contents.contexts)
    rows = rows.select_related("dialogue", "source_context").order_by("pk")
    for row in rows.iterator(chunk_size=BATCH):
        yield {
            "key": row.key,
            "dialogue": row.dialogue.content_hash,
            "dialogue_position": row.dialogue.position,
            "turn_index": row.turn_index,
            "content_hash": row.content_hash,
            "stratum": row.stratum,
            "escalation_profile": row.escalation_profile,
            "source_context": row.source_context.key if row.source_context else None,
            "language": row.dialogue.language,
            "emotion_type": row.dialogue.emotion_type,
            "problem_type": row.dialogue.problem_type,
            "is_simulated": row.is_simulated,
            "turns": row.turns if contents.shares_text else None,
        }


def completions(contents: Contents) -> Rows:
    """Yield the completions that are compared, in the order of their keys.

    Who wrote one is not read. A reply of the source dialogue is under the dataset's licence.
    """
    names = contents.completions
    rows = Completion.objects.filter(context__in=contents.contexts).order_by("pk")
    fields = ("pk", "context__key", "system__slug", "system__kind", "text", "content_hash")
    brought = ("brought", "brought__source", "brought__model_version")
    found = rows.values_list(*fields, *brought).iterator(chunk_size=BATCH)
    for pk, context, system, kind, text, digest, elsewhere, source, version in found:
        if pk in names:
            is_kept_back = kind == SystemKind.ORIGINAL and not contents.shares_text
            yield {
                "id": names[pk],
                "context": context,
                "system": system,
                "content_hash": digest if text else "",
                "is_erased": not text,
                "is_brought_in": elsewhere is not None,
                "source": source or None,
                "model_version": version or None,
                "text": None if is_kept_back or not text else text,
            }


def comparisons(contents: Contents) -> Rows:
    """Yield the comparisons, in the order of their keys.

    Where a text was deleted, neither the key nor the place that is drawn from it is told: who
    guesses the text could hold the guess against them.
    """
    names = contents.completions
    rows = Comparison.objects.filter(study=contents.study).order_by("pk")
    fields = ("pk", "key", "context__key", "first", "second", "purpose", "position")
    found = rows.values_list(*fields, "first__erased_at", "second__erased_at")
    for pk, key, context, first, second, purpose, position, *erased in found.iterator(
        chunk_size=BATCH
    ):
        is_erased = any(erased)
        yield {
            "id": contents.comparisons[pk],
            "key": contents.pair(key) if is_erased else key,
            "context": context,
            "first": names[first],
            "second": None if second is None else names[second],
            "purpose": purpose,
            "position": None if is_erased else position,
        }


def _measured(contents: Contents) -> dict[int, float]:
    """Return what `ranking.judgments.frames.DatabaseSources` measures, system by system."""
    calls = GenerationCall.objects.filter(
        context__dataset=contents.study.dataset_id, state=CallState.DONE, ttft_ms__isnull=False
    )
    times = defaultdict[int, list[int]](list)
    for system, ttft_ms in calls.values_list("system", "ttft_ms").iterator():
        times[system].append(int(ttft_ms or 0))
    return {system: float(median(found)) for system, found in times.items()}


def _fact(row: System, name: str) -> float | None:
    fact = row.facts.get(name)
    return None if fact is None else float(fact["value"])
