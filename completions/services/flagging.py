"""Flag what a reviewer should look at in a message; nothing is ever refused by it."""

from completions import leaks, second_look
from completions.models import Context, Message, Writer

RULES = f"{leaks.VERSION} {second_look.VERSION}"
"""The versions of all rules that flag, as a revision stores them."""

Flag = dict[str, object]


def flags_of(*, text: str, writer: Writer, context: Context, without: Message | None) -> list[Flag]:
    """Return what the rules find in a message of ``writer`` for ``context``.

    ``without`` is the message that the text is a version of, which it may well be like.
    """
    return [*_leaks(text), *_concerns(text, context)]


def _leaks(text: str) -> list[Flag]:
    return [
        {"kind": "leak", "reason": leak.reason, "matched": leak.matched, "start": leak.start}
        for leak in leaks.find_leaks(text)
    ]


def _concerns(text: str, context: Context) -> list[Flag]:
    return [
        {"kind": "concern", "reason": one.rule, "matched": one.matched, "start": one.start}
        for one in second_look.look(text, language=context.dialogue.language)
    ]
