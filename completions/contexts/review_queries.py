"""Reads of the pages on one context or one candidate: all that a reviewer weighs."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from access.models import LogEntry
from completions.choices import CallState, EscalationProfile, Review, Stratum, SystemKind
from completions.contexts import adversarial, screening
from completions.contexts.adversarial.display import Curve, curve
from completions.contexts.candidate_queries import outcome
from completions.contexts.screening.highlights import (
    FiredRule,
    Marked,
    MarkedDialogue,
    legend,
    mark,
    mark_dialogue,
)
from completions.dialogues.normaliser import plain
from completions.models import Candidate, Completion, Context, Dataset, Dialogue, ScreeningCall


@dataclass(frozen=True)
class Opinion:
    """What one assistant said of a candidate; ``qualifies`` is None until it has said it."""

    assistant: str
    is_simulated: bool
    state_label: str
    qualifies: bool | None
    reason: str
    quotes: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Verdicts:
    """What the rules and the assistants found of one kind: a row of their comparison."""

    rule: str
    is_signal: bool
    fired: bool
    quotes: tuple[tuple[str, ...], ...]
    """Per assistant, the words that it names for this rule."""


@dataclass(frozen=True)
class ReadingView:
    """What a reader sees of a point in a dialogue, and what was found in it."""

    dialogue: MarkedDialogue
    situation: Marked
    reply: Marked | None
    reply_index: int
    legend: tuple[FiredRule, ...]
    is_suitable: bool | None
    """What the rules made of it; None if they never screened it."""
    opinions: tuple[Opinion, ...]
    verdicts: tuple[Verdicts, ...]


@dataclass(frozen=True)
class TurnChange:
    """One rewritten turn: pieces of the source and of the rewrite, with what differs."""

    place: int
    before: tuple[tuple[str, bool], ...]
    after: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class ContextRewrite:
    """How an adversarial context came out of its source."""

    profile_label: str
    source_key: str
    curve: Curve
    changes: tuple[TurnChange, ...]


@dataclass(frozen=True)
class ReviewEntry:
    """One entry of the log about a context."""

    at: dt.datetime
    by: str
    before: str
    after: str
    note: str


@dataclass(frozen=True)
class ContextDetails:
    """One context with all that a reviewer weighs."""

    key: str
    review: str
    review_label: str
    note: str
    is_adversarial: bool
    is_simulated: bool
    emotion: str
    problem: str
    dialogue: int
    candidate: int | None
    reading: ReadingView
    rewrite: ContextRewrite | None
    provenance: Mapping[str, Any]
    content_hash: str
    history: tuple[ReviewEntry, ...]


@dataclass(frozen=True)
class CandidateDetails:
    """One candidate with what screening found, to read."""

    pk: int
    emotion: str
    problem: str
    dialogue: int
    turn: int
    outcome: str
    reasons: tuple[str, ...]
    rules: str
    reading: ReadingView
    context_keys: tuple[str, ...]


__all__ = [
    "CandidateDetails",
    "ContextDetails",
    "ContextRewrite",
    "Opinion",
    "ReadingView",
    "ReviewEntry",
    "TurnChange",
    "Verdicts",
    "candidate_details",
    "context_details",
]

Turns = Sequence[Mapping[str, str]]


def context_details(dataset: Dataset, *, key: str) -> ContextDetails | None:
    """Return the context of that key in five queries, or None if the dataset has none."""
    contexts = dataset.contexts.select_related("dialogue", "source_context")
    context = contexts.filter(key=key).first()
    if context is None:
        return None
    candidate = _candidate_of(context)
    return ContextDetails(
        key=context.key,
        review=context.review,
        review_label=str(Review(context.review).label),
        note=context.review_note,
        is_adversarial=context.stratum == Stratum.ADVERSARIAL,
        is_simulated=context.is_simulated,
        emotion=context.dialogue.emotion_type,
        problem=context.dialogue.problem_type,
        dialogue=context.dialogue.position,
        candidate=candidate.pk if candidate else None,
        reading=_context_reading(context, candidate),
        rewrite=_rewrite(context),
        provenance=context.provenance,
        content_hash=context.content_hash,
        history=tuple(_decision(entry) for entry in _log(context)),
    )


def candidate_details(dataset: Dataset, *, pk: int) -> CandidateDetails | None:
    """Return the candidate in three queries, or None if the dataset has none of that number."""
    rows = Candidate.objects.select_related("dialogue").filter(dialogue__dataset=dataset)
    candidate = rows.filter(pk=pk).first()
    if candidate is None:
        return None
    dialogue, index = candidate.dialogue, candidate.turn_index
    keys = dialogue.contexts.filter(turn_index=index, stratum=Stratum.REGULAR).values_list("key")
    return CandidateDetails(
        pk=candidate.pk,
        emotion=dialogue.emotion_type,
        problem=dialogue.problem_type,
        dialogue=dialogue.position,
        turn=index + 1,
        outcome=outcome(candidate.reasons, is_suitable=candidate.is_suitable),
        reasons=tuple(candidate.reasons),
        rules=candidate.rules,
        reading=_reading(
            dialogue,
            dialogue.turns[: index + 1],
            findings=candidate.findings,
            reply=_next_turn(dialogue, index),
            candidate=candidate,
        ),
        context_keys=tuple(key for (key,) in keys),
    )


def _candidate_of(context: Context) -> Candidate | None:
    """Return the couplet that a context was cut at; a rewrite has none of its own."""
    if context.source_context_id is not None:
        return None
    found = Candidate.objects.filter(dialogue=context.dialogue_id, turn_index=context.turn_index)
    return found.first()


def _context_reading(context: Context, candidate: Candidate | None) -> ReadingView:
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
) -> ReadingView:
    entries, opinions = legend(findings), opinions_of(candidate)
    index = len(turns)
    # A reply that did not come from the dialogue was not screened: offsets would miss it.
    on_reply = findings if reply == _next_turn(dialogue, index - 1) else ()
    return ReadingView(
        dialogue=mark_dialogue(turns, findings, entries, is_simulated=is_simulated),
        situation=mark(dialogue.situation, findings, entries, turn=None),
        reply=mark(reply, on_reply, entries, turn=index) if reply else None,
        reply_index=index,
        legend=entries,
        is_suitable=candidate.is_suitable if candidate else None,
        opinions=opinions,
        verdicts=verdicts(entries, opinions),
    )


def _rewrite(context: Context) -> ContextRewrite | None:
    source, origin = context.source_context, context.provenance
    if source is None:
        return None
    changed: Sequence[Mapping[str, Any]] = origin.get("diff") or adversarial.diff(
        source.turns, context.turns
    )
    return ContextRewrite(
        profile_label=str(EscalationProfile(context.escalation_profile).label),
        source_key=source.key,
        curve=curve(origin.get("target", ()), origin.get("measured", ())),
        changes=tuple(_change(one["turn"] + 1, one["pieces"]) for one in changed),
    )


def _change(place: int, pieces: Sequence[tuple[str, str]]) -> TurnChange:
    def side(differing: str) -> tuple[tuple[str, bool], ...]:
        return tuple(
            (plain(words), kind == differing)
            for kind, words in pieces
            if kind in ("same", differing)
        )

    return TurnChange(place, side("removed"), side("added"))


def _log(context: Context) -> Sequence[LogEntry]:
    entries = LogEntry.objects.filter(
        subject=f"context {context.key}", action__in=("context.reviewed", "context.noted")
    )
    return list(entries.select_related("by").order_by("-at", "-pk"))


def _decision(entry: LogEntry) -> ReviewEntry:
    return ReviewEntry(
        at=entry.at,
        by=entry.by.get_username() if entry.by else "",
        before=str(Review(entry.before["review"]).label),
        after=str(Review(entry.after["review"]).label),
        note=entry.after["note"],
    )


def opinions_of(candidate: Candidate | None) -> tuple[Opinion, ...]:
    """Return the opinions that were asked for, by the name of the assistant, in one query."""
    if candidate is None:
        return ()
    calls = ScreeningCall.objects.filter(candidate=candidate).select_related("assistant")
    return tuple(_opinion(call) for call in calls.order_by("assistant__name"))


def _opinion(call: ScreeningCall) -> Opinion:
    said = call.opinion
    quotes: dict[str, tuple[str, ...]] = {}
    for found in (*said.get("signals", ()), *said.get("disqualifiers", ())):
        quotes[found["name"]] = (*quotes.get(found["name"], ()), plain(found["quote"]))
    return Opinion(
        assistant=call.assistant.name,
        is_simulated=call.assistant.is_simulated,
        state_label=str(CallState(call.state).label),
        qualifies=said.get("qualifies"),
        reason=said.get("reason", ""),
        quotes=quotes,
    )


def verdicts(entries: Sequence[FiredRule], opinions: Sequence[Opinion]) -> tuple[Verdicts, ...]:
    """Return a row for every rule that fired or that an assistant names, in their order."""
    fired = [entry.rule for entry in entries]
    named = {rule for opinion in opinions for rule in opinion.quotes}
    known = [*screening.SIGNALS, *screening.DISQUALIFIERS]
    order = [*known, *sorted({*fired, *named} - set(known))]
    return tuple(
        Verdicts(
            rule=rule,
            is_signal=rule in screening.SIGNALS,
            fired=rule in fired,
            quotes=tuple(opinion.quotes.get(rule, ()) for opinion in opinions),
        )
        for rule in order
        if rule in fired or rule in named
    )
