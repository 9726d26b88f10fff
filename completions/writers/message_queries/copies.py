"""The texts that a message is like, beside it and with the differences."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from completions.contexts.adversarial.diffing import pieces
from completions.models import Completion, Context, MessageRevision
from completions.writers.message_queries.signals import is_copy

SOURCES: Mapping[str, str | Promise] = {
    "own": _("an earlier message of the same writer"),
    "another": _("another message for this talk"),
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
    wanted = list(keys)
    if not wanted:
        return {}
    rows = MessageRevision.objects.filter(message__in=wanted).order_by("number")
    return dict(rows.values_list("message", "text"))


def _texts_of_completions(keys: Iterable[int]) -> dict[int, str]:
    wanted = list(keys)
    return (
        dict(Completion.objects.filter(pk__in=wanted).values_list("pk", "text")) if wanted else {}
    )


def _turn(context: Context, number: int | None) -> str:
    turns = context.dialogue.turns
    return turns[number]["text"] if number is not None and number < len(turns) else ""
