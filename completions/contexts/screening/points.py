"""Screen the couplets of a dialogue; every text is read once, however many couplets show it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from completions.contexts.screening import lexicon
from completions.contexts.screening.reading import Reading
from completions.contexts.screening.rules import (
    DISQUALIFIERS,
    EVERYWHERE,
    LANGUAGE,
    RULES,
    SIGNALS,
    Rule,
)
from completions.dialogues.couplets import couplets


@dataclass(frozen=True)
class Finding:
    """A place where a rule fired: characters of a turn, or of the situation (``turn`` None)."""

    rule: str
    turn: int | None
    start: int
    end: int


@dataclass(frozen=True)
class Screened:
    """A couplet with what was found in all that a reader would see of it.

    ``reasons`` are the names of the disqualifiers found, in their order.
    """

    turn_index: int
    findings: tuple[Finding, ...]
    reasons: tuple[str, ...]
    is_suitable: bool


def screen(turns: Sequence[Mapping[str, str]], *, situation: str, language: str) -> list[Screened]:
    """Screen every couplet of a dialogue, in order.

    A couplet is suitable if its seeker turn carries a signal and no disqualifier was found
    in the situation, the history, the turn itself and the reply.
    """
    language = lexicon.primary(language)
    rules = _applied(language)
    everywhere = [rule for rule in rules if rule.reads == EVERYWHERE]
    last = [rule for rule in rules if rule.reads != EVERYWHERE]
    indexed = [Reading(turn["text"], index, language) for index, turn in enumerate(turns)]
    # The situation comes first: what a couplet shows ends two places after its own index.
    content = [_found(everywhere, Reading(situation, None, language))]
    content += [_found(everywhere, reading) for reading in indexed]
    return [
        _judged(
            index,
            [one for found in content[: index + 3] for one in found] + _found(last, indexed[index]),
        )
        for index in couplets(turns)
    ]


def disqualifying(text: str, *, language: str) -> list[Finding]:
    """Return what the rules on content find in a text that stands alone."""
    language = lexicon.primary(language)
    rules = [rule for rule in _applied(language) if _is_on_content(rule)]
    return _found(rules, Reading(text, None, language))


def _is_on_content(rule: Rule) -> bool:
    return rule.kind == "disqualifier" and (rule.reads == EVERYWHERE or rule is LANGUAGE)


def _applied(language: str) -> Sequence[Rule]:
    """Return the rules for a language; those that need a lexicon, only if there is one."""
    if language in lexicon.languages():
        return [rule for rule in RULES if rule is not LANGUAGE]
    return [rule for rule in RULES if not rule.lexicon]


def _found(rules: Iterable[Rule], reading: Reading) -> list[Finding]:
    return [
        Finding(rule.name, reading.index, *span) for rule in rules for span in rule.find(reading)
    ]


def _judged(index: int, findings: Sequence[Finding]) -> Screened:
    fired = {one.rule for one in findings}
    reasons = tuple(name for name in DISQUALIFIERS if name in fired)
    return Screened(
        index, tuple(findings), reasons, is_suitable=not reasons and not fired.isdisjoint(SIGNALS)
    )
