"""A dataset's contexts as JSON lines: the same rows give the same bytes on any machine."""

import json
from collections.abc import Iterator

from completions.models import Context, Dataset


def context_lines(dataset: Dataset, *, with_dropped: bool = False) -> Iterator[str]:
    """Yield one line per context, regular ones first, in the order of their keys.

    Nothing in a line comes from this installation: no row numbers, times or names of people. The
    original reply is no part of it: it is a completion, and would give its source away.
    """
    contexts = dataset.contexts.all() if with_dropped else dataset.contexts.in_use()
    rows = contexts.select_related("dialogue", "source_context").order_by("-stratum", "key")
    for context in rows.iterator():
        yield json.dumps(
            _row(context, dataset), ensure_ascii=False, sort_keys=True, separators=(",", ":")
        )


def _row(context: Context, dataset: Dataset) -> dict[str, object]:
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
