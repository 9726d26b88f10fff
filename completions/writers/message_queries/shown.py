"""One message with all that a reviewer weighs, near-duplicates beside it, and no author."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from completions.choices import MessageState, MessageVerdict, Stratum
from completions.contexts.adversarial.display import pieces
from completions.contexts.screening.highlights import MarkedDialogue, mark_dialogue
from completions.dialogues import wording
from completions.leaks import rules
from completions.models import (
    Completion,
    Context,
    Dataset,
    Message,
    MessageDecision,
    MessageRevision,
)
from completions.writers import presubmit_checks
from completions.writers.message_queries.queue import messages_of
from completions.writers.message_queries.rules import (
    REASONS,
    SIGNALS,
    Obstacle,
    Situation,
    is_copy,
    obstacle,
    signals_of,
)

SOURCES: Mapping[str, str | Promise] = {
    "own": _("an earlier message of the same writer"),
    "another": _("another reply to this conversation"),
    "original": _("what the supporter of the source dialogue says"),
}
"""What a text is like, by the ``of`` of its flag."""
Flag = Mapping[str, Any]


@dataclass(frozen=True)
class Copy:
    """A text that the message is like; without ``other`` it is not there any more.

    ``mine`` and ``other`` are words in pieces, each with whether it is in one of the two alone.
    """

    source: str
    share: int
    mine: tuple[tuple[str, bool], ...]
    other: tuple[tuple[str, bool], ...]


def copies_of(revision: MessageRevision, context: Context) -> tuple[Copy, ...]:
    """Return what the version was found to be like, in at most two queries."""
    flags = [flag for flag in revision.flags if is_copy(flag)]
    messages = _texts_of_messages(flag["message"] for flag in flags if "message" in flag)
    completions = _texts_of_completions(
        flag["completion"] for flag in flags if "completion" in flag
    )
    found = []
    for flag in flags:
        other = (
            messages.get(flag.get("message"))
            or completions.get(flag.get("completion"))
            or _turn(context, flag.get("turn"))
        )
        found.append(_copy(flag, revision.text, other))
    return tuple(found)


def _copy(flag: Flag, text: str, other: str) -> Copy:
    cut = pieces(other, text) if other else [("same", text)]
    return Copy(
        source=str(SOURCES.get(flag["of"], flag["of"])),
        share=round(100 * flag["contained"]),
        mine=tuple((words, kind == "added") for kind, words in cut if kind != "removed"),
        other=tuple((words, kind == "removed") for kind, words in cut if kind != "added" and other),
    )


def _texts_of_messages(keys: Iterable[int]) -> dict[int, str]:
    """Return the newest text of each message."""
    listed = list(keys)
    if not listed:
        return {}
    rows = MessageRevision.objects.filter(message__in=listed).order_by("number")
    return dict(rows.values_list("message", "text"))


def _texts_of_completions(keys: Iterable[int]) -> dict[int, str]:
    listed = list(keys)
    return (
        dict(Completion.objects.filter(pk__in=listed).values_list("pk", "text")) if listed else {}
    )


def _turn(context: Context, number: int | None) -> str:
    turns = context.dialogue.turns
    return turns[number]["text"] if number is not None and number < len(turns) else ""


EXPLANATIONS = {**rules.EXPLANATIONS, **presubmit_checks.REASONS}
MS_PER_MINUTE = 60_000


@dataclass(frozen=True)
class Typing:
    """How a version came about, as far as its page told: signals, and never proof."""

    seconds: int
    words_per_minute: int | None
    pastes: int
    pasted_characters: int
    n_characters: int
    is_declared: bool
    has_looked_again: bool

    @classmethod
    def of(cls, revision: MessageRevision) -> "Typing":
        """Pick the figures, and work out the speed where a time is known."""
        n_words, spent = wording.count_words(revision.text), revision.typing_ms
        return cls(
            seconds=round(spent / 1000),
            words_per_minute=round(n_words * MS_PER_MINUTE / spent) if spent else None,
            pastes=revision.pastes,
            pasted_characters=revision.pasted_characters,
            n_characters=len(revision.text),
            is_declared=revision.is_declared,
            has_looked_again=revision.has_looked_again,
        )


@dataclass(frozen=True)
class MessageFinding:
    """What a rule found in the text, and why that matters."""

    reason: str
    matched: str
    explanation: str


@dataclass(frozen=True)
class Decided:
    """One decision on a version."""

    verdict_label: str
    note: str
    by: str
    at: dt.datetime


@dataclass(frozen=True)
class VersionView:
    """One version with what was decided about it, the newest decision first."""

    number: int
    text: str
    at: dt.datetime
    decisions: tuple[Decided, ...]


@dataclass(frozen=True)
class MessageDetails:
    """One message as a reviewer reads it."""

    pk: int
    state: str
    state_label: str
    context: str
    is_adversarial: bool
    dialogue: MarkedDialogue
    text: tuple[tuple[str, bool], ...]
    """The newest version in pieces, each with whether a rule found it."""
    n_words: int
    n_sentences: int
    signals: tuple[str, ...]
    typing: Typing
    findings: tuple[MessageFinding, ...]
    copies: tuple[Copy, ...]
    versions: tuple[VersionView, ...]
    """The newest first, and it is what is decided on."""
    accepted: str
    """The text that was accepted before this version, if another."""
    verdicts: frozenset[str]
    reasons: tuple[str, ...]
    """Why the other decisions are not possible."""

    @property
    def version(self) -> int:
        """The number of the newest version."""
        return self.versions[0].number

    @property
    def n_decisions(self) -> int:
        """How many decisions there are on all versions."""
        return sum(len(one.decisions) for one in self.versions)


def message_details(dataset: Dataset, *, pk: int) -> MessageDetails | None:
    """Return the dataset's message of that key in at most five queries, or None."""
    related = ("lease__context__dialogue", "lease__writer", "completion")
    message = messages_of(dataset).select_related(*related).filter(pk=pk).first()
    if message is None:
        return None
    revisions = list(message.revisions.order_by("-number"))
    if not revisions:
        return None
    newest, context = revisions[0], message.lease.context
    possible = _verdicts(message, dataset)
    return MessageDetails(
        pk=message.pk,
        state=message.state,
        state_label=str(MessageState(message.state).label),
        context=context.key,
        is_adversarial=context.stratum == Stratum.ADVERSARIAL,
        dialogue=mark_dialogue(context.turns, (), (), is_simulated=context.is_simulated),
        text=_marked(newest),
        n_words=wording.count_words(newest.text),
        n_sentences=wording.count_sentences(newest.text),
        signals=tuple(str(SIGNALS[name]) for name in signals_of(newest)),
        typing=Typing.of(newest),
        findings=tuple(_finding(flag) for flag in newest.flags if not is_copy(flag)),
        copies=copies_of(newest, context),
        versions=_versions(message, revisions),
        accepted=_accepted(message, newest),
        verdicts=frozenset(str(one) for one, against in possible.items() if against is None),
        reasons=tuple(
            str(REASONS[one])
            for one in dict.fromkeys(possible.values())
            if one not in (None, Obstacle.CLOSED)
        ),
    )


def _verdicts(message: Message, dataset: Dataset) -> dict[MessageVerdict, Obstacle | None]:
    situation = Situation.of(message, writer=message.lease.writer, dataset=dataset)
    return {verdict: obstacle(verdict, situation) for verdict in MessageVerdict}


def _accepted(message: Message, newest: MessageRevision) -> str:
    completion = message.completion
    if completion is None or completion.content_hash == newest.content_hash:
        return ""
    return completion.text


def _versions(message: Message, revisions: list[MessageRevision]) -> tuple[VersionView, ...]:
    rows = MessageDecision.objects.filter(revision__message=message).select_related("decided_by")
    decisions = list(rows.order_by("-pk"))
    return tuple(
        VersionView(
            number=revision.number,
            text=revision.text,
            at=revision.written_at,
            decisions=tuple(_decided(one) for one in decisions if one.revision_id == revision.pk),
        )
        for revision in revisions
    )


def _decided(decision: MessageDecision) -> Decided:
    return Decided(
        verdict_label=str(MessageState(decision.verdict).label),
        note=decision.note,
        by=decision.decided_by.get_username() if decision.decided_by else "",
        at=decision.decided_at,
    )


def _finding(flag: Mapping[str, str]) -> MessageFinding:
    reason = flag.get("reason", flag["kind"])
    return MessageFinding(reason, flag.get("matched", ""), str(EXPLANATIONS.get(reason, "")))


def _marked(revision: MessageRevision) -> tuple[tuple[str, bool], ...]:
    """Cut the text where rules found something."""
    text, at = revision.text, 0
    pieces: list[tuple[str, bool]] = []
    for start, end in sorted(_spans(revision)):
        if end > at:
            pieces += [(text[at : max(start, at)], False), (text[max(start, at) : end], True)]
            at = end
    return tuple(piece for piece in (*pieces, (text[at:], False)) if piece[0])


def _spans(revision: MessageRevision) -> list[tuple[int, int]]:
    found = [
        (revision.text.find(flag["matched"], flag.get("start", 0)), len(flag["matched"]))
        for flag in revision.flags
        if not is_copy(flag) and flag.get("matched")
    ]
    return [(start, start + length) for start, length in found if start >= 0]
