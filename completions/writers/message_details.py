"""One message with all that a reviewer weighs, near-duplicates beside it, and no author."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Prefetch
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from completions.choices import MessageState, MessageVerdict, Stratum
from completions.contexts.rewrite_display import pieces
from completions.contexts.screening.highlights import mark_dialogue
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
from completions.writers.message_queries import (
    REASONS,
    SIGNALS,
    Obstacle,
    Situation,
    is_copy,
    messages_of,
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


def copies_of(revision: MessageRevision, context: Context) -> list[dict[str, Any]]:
    """Return what the version was found to be like, in at most two queries.

    ``mine`` and ``other`` are words in pieces, each with whether it is in one of the two alone;
    ``other`` is empty where that text is not there any more.
    """
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
    return found


def _copy(flag: Flag, text: str, other: str) -> dict[str, Any]:
    cut = pieces(other, text) if other else [("same", text)]
    return {
        "source": SOURCES.get(flag["of"], flag["of"]),
        "share": round(100 * flag["contained"]),
        "mine": [(words, kind == "added") for kind, words in cut if kind != "removed"],
        "other": [(words, kind == "removed") for kind, words in cut if kind != "added" and other],
    }


def _texts_of_messages(keys: Iterable[int]) -> dict[int, str]:
    """Return the newest text of each message."""
    rows = MessageRevision.objects.filter(message__in=list(keys)).order_by("number")
    return dict(rows.values_list("message", "text"))


def _texts_of_completions(keys: Iterable[int]) -> dict[int, str]:
    return dict(Completion.objects.filter(pk__in=list(keys)).values_list("pk", "text"))


def _turn(context: Context, number: int | None) -> str:
    turns = context.dialogue.turns
    return turns[number]["text"] if number is not None and number < len(turns) else ""


EXPLANATIONS = {**rules.EXPLANATIONS, **presubmit_checks.REASONS}
MS_PER_MINUTE = 60_000


def message_details(dataset: Dataset, *, pk: int) -> dict[str, Any] | None:
    """Return what the page of a message shows, in at most five queries; None if there is none.

    ``versions`` are the newest first, each with its decisions and what they came to; ``newest`` is
    what is decided on, and ``text`` its text in pieces, each with whether a rule found it.
    ``accepted`` is the text that was accepted before, if another, ``reasons`` say why the
    decisions that are not in ``verdicts`` are not possible.
    """
    related = ("lease__context__dialogue", "lease__writer", "completion")
    message = messages_of(dataset).select_related(*related).filter(pk=pk).first()
    versions = [] if message is None else _versions(message)
    if message is None or not versions:
        return None
    newest, context = versions[0][0], message.lease.context
    possible = _verdicts(message, dataset)
    return {
        "pk": message.pk,
        "state": message.state,
        "state_label": message.get_state_display(),
        "context": context.key,
        "is_adversarial": context.stratum == Stratum.ADVERSARIAL,
        "dialogue": mark_dialogue(context.turns, (), (), is_simulated=context.is_simulated),
        "newest": newest,
        "text": _marked(newest),
        "n_words": wording.count_words(newest.text),
        "n_sentences": wording.count_sentences(newest.text),
        "signals": [SIGNALS[name] for name in signals_of(newest)],
        "seconds": round(newest.typing_ms / 1000),
        "words_per_minute": _words_per_minute(newest),
        "findings": [_finding(flag) for flag in newest.flags if not is_copy(flag)],
        "copies": copies_of(newest, context),
        "versions": versions,
        "n_decisions": sum(len(decisions) for _revision, decisions in versions),
        "accepted": _accepted(message, newest),
        "verdicts": {str(one) for one, against in possible.items() if against is None},
        "reasons": [
            REASONS[one]
            for one in dict.fromkeys(possible.values())
            if one not in (None, Obstacle.CLOSED)
        ],
    }


def _verdicts(message: Message, dataset: Dataset) -> dict[MessageVerdict, Obstacle | None]:
    situation = Situation.of(message, writer=message.lease.writer, dataset=dataset)
    return {verdict: obstacle(verdict, situation) for verdict in MessageVerdict}


def _accepted(message: Message, newest: MessageRevision) -> str:
    completion = message.completion
    if completion is None or completion.content_hash == newest.content_hash:
        return ""
    return completion.text


def _versions(message: Message) -> list[tuple[MessageRevision, list[tuple[MessageDecision, str]]]]:
    """Return each version with its decisions, all the newest first."""
    decisions = MessageDecision.objects.order_by("-pk").select_related("decided_by")
    revisions = message.revisions.prefetch_related(Prefetch("decisions", decisions))
    return [
        (revision, [(one, MessageState(one.verdict).label) for one in revision.decisions.all()])
        for revision in revisions.order_by("-number")
    ]


def _words_per_minute(revision: MessageRevision) -> int | None:
    """Return how fast a version was typed, as far as its page told."""
    spent = revision.typing_ms
    return round(wording.count_words(revision.text) * MS_PER_MINUTE / spent) if spent else None


def _finding(flag: Mapping[str, str]) -> tuple[str, str, str | Promise]:
    """Return what a rule found: its reason, the words, and why that matters."""
    reason = flag.get("reason", flag["kind"])
    return reason, flag.get("matched", ""), EXPLANATIONS.get(reason, "")


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
