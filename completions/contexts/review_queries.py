"""Reads of the pages on one context or one candidate: all that a reviewer weighs."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from access.models import LogEntry
from completions.choices import Review, Stratum, SystemKind
from completions.contexts.rewrite_display import diff
from completions.contexts.screening.highlights import FiredRule, legend, mark, mark_dialogue
from completions.contexts.screening.rules import DISQUALIFIERS, SIGNALS
from completions.dialogues.normaliser import plain
from completions.models import Candidate, Completion, Context, Dataset, Dialogue, ScreeningCall

Reading: TypeAlias = Mapping[str, Any]
"""What a reader sees of a point in a dialogue, and what was found in it, for the page.

``is_suitable`` is what the rules made of it, None if they never screened it; ``verdicts`` has a
row for each rule.
"""
Turns = Sequence[Mapping[str, str]]


def candidate_of_key(dataset: Dataset, *, pk: int) -> Candidate | None:
    """Return the dataset's candidate of that number, or None."""
    rows = Candidate.objects.select_related("dialogue").filter(dialogue__dataset=dataset)
    return rows.filter(pk=pk).first()


def candidate_of(context: Context) -> Candidate | None:
    """Return the couplet that a context was cut at; a rewrite has none of its own."""
    if context.source_context_id is not None:
        return None
    found = Candidate.objects.filter(dialogue=context.dialogue_id, turn_index=context.turn_index)
    return found.first()


def contexts_of(candidate: Candidate) -> Sequence[Context]:
    """Return the regular context that a candidate became, if it became one."""
    found = Context.objects.filter(dialogue=candidate.dialogue_id, stratum=Stratum.REGULAR)
    return list(found.filter(turn_index=candidate.turn_index))


def candidate_reading(candidate: Candidate) -> Reading:
    """Read a candidate with all that screening found, in one query."""
    dialogue, index = candidate.dialogue, candidate.turn_index
    return _reading(
        dialogue,
        dialogue.turns[: index + 1],
        findings=candidate.findings,
        reply=_next_turn(dialogue, index),
        candidate=candidate,
    )


def context_reading(context: Context, candidate: Candidate | None) -> Reading:
    """Read a context with the findings by which it was chosen, or else those of its couplet."""
    findings = context.provenance.get("findings")
    if findings is None:
        findings = candidate.findings if candidate else []
    original = Completion.objects.filter(context=context, system__kind=SystemKind.ORIGINAL)
    reply = original.values_list("text", flat=True).first()
    return _reading(
        context.dialogue,
        context.turns,
        findings=findings,
        reply=reply or _next_turn(context.dialogue, context.turn_index),
        candidate=candidate,
        is_simulated=context.is_simulated,
    )


def _next_turn(dialogue: Dialogue, index: int) -> str:
    turn: dict[str, str] = next(iter(dialogue.turns[index + 1 : index + 2]), {"text": ""})
    return turn["text"]


def _reading(
    dialogue: Dialogue,
    turns: Turns,
    *,
    findings: Sequence[Mapping[str, Any]],
    reply: str,
    candidate: Candidate | None,
    is_simulated: bool = False,
) -> Reading:
    entries, opinions = legend(findings), _opinions_of(candidate)
    index = len(turns)
    # A reply that did not come from the dialogue was not screened: offsets would miss it.
    on_reply = findings if reply == _next_turn(dialogue, index - 1) else ()
    return {
        "dialogue": mark_dialogue(turns, findings, entries, is_simulated=is_simulated),
        "situation": mark(dialogue.situation, findings, entries, turn=None),
        "reply": mark(reply, on_reply, entries, turn=index) if reply else None,
        "reply_index": index,
        "legend": entries,
        "is_suitable": candidate.is_suitable if candidate else None,
        "opinions": opinions,
        "verdicts": _verdicts(entries, opinions),
    }


def changes(context: Context) -> Sequence[Mapping[str, Any]]:
    """Return what a rewrite changed in its source, as `rewrite_display.diff` has it."""
    source = context.source_context
    if source is None:
        return ()
    stored: Sequence[Mapping[str, Any]] = context.provenance.get("diff", ())
    return stored or diff(source.turns, context.turns)


def history(context: Context) -> list[tuple[LogEntry, str]]:
    """Return every decision about a context with its name, the newest first, in one query."""
    entries = LogEntry.objects.filter(
        subject=f"context {context.key}", action__in=("context.reviewed", "context.noted")
    )
    return [
        (entry, str(Review(entry.after["review"]).label))
        for entry in entries.select_related("by").order_by("-at", "-pk")
    ]


def _opinions_of(candidate: Candidate | None) -> tuple[ScreeningCall, ...]:
    """Return the opinions that were asked for, by the name of the assistant, in one query."""
    if candidate is None:
        return ()
    calls = ScreeningCall.objects.filter(candidate=candidate).select_related("assistant")
    return tuple(calls.order_by("assistant__name"))


def _quotes(call: ScreeningCall) -> Mapping[str, Sequence[str]]:
    """Return the words that an assistant names for each rule."""
    said, quotes = call.opinion, defaultdict[str, list[str]](list)
    for found in (*said.get("signals", ()), *said.get("disqualifiers", ())):
        quotes[found["name"]].append(plain(found["quote"]))
    return quotes


def _verdicts(
    entries: Sequence[FiredRule], opinions: Sequence[ScreeningCall]
) -> list[dict[str, Any]]:
    """Return a row for every rule that fired or that an assistant names, in their order.

    Its ``quotes`` are the words that each assistant names for the rule.
    """
    fired, quotes = [entry.rule for entry in entries], [_quotes(one) for one in opinions]
    named = {rule for one in quotes for rule in one}
    known = [*SIGNALS, *DISQUALIFIERS]
    order = [*known, *sorted({*fired, *named} - set(known))]
    return [
        {
            "rule": rule,
            "is_signal": rule in SIGNALS,
            "fired": rule in fired,
            "quotes": [one.get(rule, ()) for one in quotes],
        }
        for rule in order
        if rule in fired or rule in named
    ]
