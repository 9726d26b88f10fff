"""Make a context of a rewrite that passed every check, with all that led to it."""

import datetime as dt
from collections.abc import Sequence

from access.log import record
from completions.choices import RewriteState, Stratum
from completions.contexts import adversarial
from completions.dialogues.cutting import digest, turns_hash
from completions.models import Assistant, Context, Rewrite, RewriteCall

Turns = list[dict[str, str]]


def accept(call: RewriteCall, turns: Turns, measured: Sequence[int], now: dt.datetime) -> None:
    """Make the rewrite, as last written and rated, a context."""
    rewrite, source = call.rewrite, call.rewrite.source_context
    content_hash = turns_hash(turns)
    context = Context.objects.create(
        dataset=source.dataset,
        dialogue=source.dialogue,
        key=digest(f"{source.key} {rewrite.profile} {content_hash}")[:24],
        turn_index=source.turn_index,
        turns=turns,
        stratum=Stratum.ADVERSARIAL,
        escalation_profile=rewrite.profile,
        source_context=source,
        is_simulated=rewrite.rewriter.is_simulated or rewrite.hostility_rater.is_simulated,
        provenance=_provenance(call, turns, measured),
        content_hash=content_hash,
        slots_left=source.dataset.completions_per_context,
        created_at=now,
    )
    Rewrite.objects.filter(pk=rewrite.pk).update(
        state=RewriteState.ACCEPTED, ended_at=now, context=context
    )
    record(
        action="context.rewritten",
        subject=f"context {context.key}",
        now=now,
        after={"source_context": source.key, "profile": rewrite.profile, "rounds": call.round},
    )


def _provenance(call: RewriteCall, turns: Turns, measured: Sequence[int]) -> dict[str, object]:
    """Say what a rewrite was made from, by whom, how, and what it changed."""
    rewrite, source = call.rewrite, call.rewrite.source_context
    return {
        "source_context": source.key,
        "dialogue": source.dialogue.content_hash,
        "turn_index": source.turn_index,
        "cell": [source.dialogue.emotion_type, source.dialogue.problem_type],
        "profile": rewrite.profile,
        "target": rewrite.target,
        "measured": list(measured),
        "rounds": call.round,
        "rewriter": _who(rewrite.rewriter, adversarial.rewriter_prompt()),
        "hostility_rater": _who(rewrite.hostility_rater, adversarial.hostility_rater_prompt()),
        "diff": adversarial.diff(source.turns, turns),
    }


def _who(assistant: Assistant, prompt: adversarial.Prompt) -> dict[str, object]:
    return {
        "model_id": assistant.model_id,
        "is_simulated": assistant.is_simulated,
        "prompt": prompt.name,
        "prompt_hash": prompt.hash,
    }
