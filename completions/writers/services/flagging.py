"""Flag what a reviewer should look at in a message; nothing is ever refused by it.

A flag is a mapping that a revision stores: ``kind`` says which rules found it, ``matched`` are the
words of the message at fault, and the rest depends on the kind.

- ``near-duplicate``: ``of`` is ``own`` (another message of the writer), ``another`` (a message or
  completion of the same context) or ``original`` (what the dialogue's own supporter says);
  ``message``, ``completion`` or ``turn`` name it, and ``contained`` is the share that both have.
- ``leak``: ``reason`` of ``leaks``, from ``start``.
- ``second-look``: ``reason`` is the rule of ``presubmit_checks``, from ``start``.
"""

from collections.abc import Iterable, Iterator, Mapping

from completions.leaks import rules as leak_rules
from completions.models import Context, Message, Writer
from completions.writers import near_duplicates, presubmit_checks, queries
from completions.writers.queries import Source

Flag = dict[str, object]
Texts = Iterable[tuple[Source, str]]


def rules() -> str:
    """Return the versions of all rules that flag, as a revision stores them."""
    return f"{near_duplicates.VERSION} {leak_rules.VERSION} {presubmit_checks.version()}"


def flags_of(*, text: str, writer: Writer, context: Context, without: Message | None) -> list[Flag]:
    """Return what the rules find in a message of ``writer`` for ``context``.

    ``without`` is the message that the text is a version of, which it may well be like.
    """
    compared = {
        "own": queries.texts_of_writer(writer, without=without),
        "another": queries.texts_of_others(context, writer),
    }
    return flags_among(text=text, context=context, compared=compared)


def flags_among(*, text: str, context: Context, compared: Mapping[str, Texts]) -> list[Flag]:
    """Return what the rules find in a text for ``context``, beside the texts to compare it with."""
    return [
        *_near_duplicates(text, {**compared, "original": _original(context)}),
        *(
            {"kind": "leak", "reason": leak.reason, "matched": leak.matched, "start": leak.start}
            for leak in leak_rules.find_leaks(text)
        ),
        *(
            {"kind": "second-look", "reason": one.rule, "matched": one.matched, "start": one.start}
            for one in presubmit_checks.look(text, language=context.dialogue.language)
            if one.rule != presubmit_checks.SOURCE  # flagged as a leak already
        ),
    ]


def _near_duplicates(text: str, compared: Mapping[str, Texts]) -> Iterator[Flag]:
    """Yield one flag for each of the three, of the text that is most like it."""
    for of, texts in compared.items():
        if (found := near_duplicates.most_like(text, texts)) is not None:
            (what, which), contained, matched = found
            yield {
                "kind": "near-duplicate",
                "of": of,
                what: which,
                "contained": contained,
                "matched": matched,
            }


def _original(context: Context) -> Iterator[tuple[Source, str]]:
    for number, turn in enumerate(context.dialogue.turns):
        if turn["role"] == "supporter":
            yield ("turn", number), turn["text"]
