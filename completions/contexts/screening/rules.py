"""The screening rules, their version, and the screening of a dialogue's couplets by them."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Literal

from completions.contexts.screening import lexicon, personal
from completions.contexts.screening.lexicon import primary
from completions.contexts.screening.reading import ReadText, Span
from completions.dialogues.couplets import couplets

Kind = Literal["signal", "disqualifier"]
Place = Literal["situation", "history", "turn", "reply"]

EVERYWHERE: tuple[Place, ...] = ("situation", "history", "turn", "reply")
LAST_TURN: tuple[Place, ...] = ("turn",)
MIN_TURNS = 3
"""Merged turns of history, the last seeker turn included."""
MIN_WORDS, MAX_WORDS = 15, 120
"""Words of the last seeker turn."""


@dataclass(frozen=True)
class Rule:
    """One screening rule."""

    name: str
    kind: Kind
    reads: tuple[Place, ...]
    explanation: str
    find: Callable[[ReadText], Sequence[Span]]
    lexicon: bool = False


def _lexical(name: str, kind: Kind, reads: tuple[Place, ...], explanation: str) -> Rule:
    return Rule(name, kind, reads, explanation, partial(_find_entries, name), lexicon=True)


def _find_entries(name: str, reading: ReadText) -> Sequence[Span]:
    return lexicon.load(reading.language, name).find(reading)


def _too_early(reading: ReadText) -> Sequence[Span]:
    return [reading.whole] if (reading.index or 0) + 1 < MIN_TURNS else []


def _too_short(reading: ReadText) -> Sequence[Span]:
    return [reading.whole] if len(reading.text.split()) < MIN_WORDS else []


def _too_long(reading: ReadText) -> Sequence[Span]:
    return [reading.whole] if len(reading.text.split()) > MAX_WORDS else []


def _no_language(reading: ReadText) -> Sequence[Span]:
    return [reading.whole]


LANGUAGE = Rule(
    "language",
    "disqualifier",
    LAST_TURN,
    "There are no word lists for the dialogue's language, so nothing was checked.",
    _no_language,
)
RULES: tuple[Rule, ...] = (
    _lexical("distress", "signal", LAST_TURN, "The seeker tells of a painful feeling."),
    _lexical("conflict", "signal", LAST_TURN, "The seeker tells of a quarrel, break or wrong."),
    _lexical("help", "signal", LAST_TURN, "The seeker asks outright for help or advice."),
    _lexical("self-harm", "disqualifier", EVERYWHERE, "Talk of suicide or of hurting oneself."),
    _lexical("hate", "disqualifier", EVERYWHERE, "A slur, or contempt for a group of people."),
    _lexical("sexual", "disqualifier", EVERYWHERE, "Explicit sexual content."),
    _lexical("violence", "disqualifier", EVERYWHERE, "Violence, threats or abuse."),
    Rule(
        "personal-data",
        "disqualifier",
        EVERYWHERE,
        "Something that could identify or reach a person.",
        personal.find,
    ),
    _lexical("platform", "disqualifier", EVERYWHERE, "Talk about the chat as a task."),
    _lexical("clinical", "disqualifier", EVERYWHERE, "A good answer needs clinical knowledge."),
    _lexical("closing", "disqualifier", LAST_TURN, "The seeker takes leave or sums up."),
    Rule("too-early", "disqualifier", LAST_TURN, "Too little was said before.", _too_early),
    Rule("too-short", "disqualifier", LAST_TURN, "The last turn is short.", _too_short),
    Rule("too-long", "disqualifier", LAST_TURN, "The last turn is long.", _too_long),
    LANGUAGE,
)
SIGNALS = tuple(rule.name for rule in RULES if rule.kind == "signal")
DISQUALIFIERS = tuple(rule.name for rule in RULES if rule.kind == "disqualifier")


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
    indexed = [ReadText(turn["text"], index, language) for index, turn in enumerate(turns)]
    # The situation comes first: what a couplet shows ends two places after its own index.
    content = [_found(everywhere, ReadText(situation, None, language))]
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
    return _found(rules, ReadText(text, None, language))


def _is_on_content(rule: Rule) -> bool:
    return rule.kind == "disqualifier" and (rule.reads == EVERYWHERE or rule is LANGUAGE)


def _applied(language: str) -> Sequence[Rule]:
    """Return the rules for a language; those that need a lexicon, only if there is one."""
    if language in lexicon.languages():
        return [rule for rule in RULES if rule is not LANGUAGE]
    return [rule for rule in RULES if not rule.lexicon]


def _found(rules: Iterable[Rule], reading: ReadText) -> list[Finding]:
    return [
        Finding(rule.name, reading.index, *span) for rule in rules for span in rule.find(reading)
    ]


def _judged(index: int, findings: Sequence[Finding]) -> Screened:
    fired = {one.rule for one in findings}
    reasons = tuple(name for name in DISQUALIFIERS if name in fired)
    return Screened(
        index, tuple(findings), reasons, is_suitable=not reasons and not fired.isdisjoint(SIGNALS)
    )


NUMBER = 1  # raise it when the definitions change, not for every new word
HERE = Path(__file__).parent
_NOT_DECIDING = frozenset({"checking.py", "highlights.py", "__init__.py"})


@cache
def rules_version(language: str) -> str:
    """Return the number of the rules with a hash of all that decides.

    That is: the code of the rules with their parameters, the lexicons of the primary language of
    the tag, and the versions of the libraries that find numbers.
    """
    import phonenumbers  # noqa: PLC0415 (pages that only name rules need neither, ADR-0043)
    import stdnum  # noqa: PLC0415 (as above)

    files = [path for path in sorted(HERE.rglob("*.py")) if _decides(path)]
    files += sorted((HERE / "lexicons" / primary(language)).glob("*.txt"))
    digest = hashlib.sha256(f"{phonenumbers.__version__} {stdnum.__version__}".encode())
    for path in files:
        content = path.read_bytes().replace(b"\r\n", b"\n")
        name = path.relative_to(HERE).as_posix()
        digest.update(f"\n{name} {len(content)}\n".encode() + content)
    return f"screening-{NUMBER} {digest.hexdigest()[:12]}"


def _decides(path: Path) -> bool:
    return path.parent != HERE or path.name not in _NOT_DECIDING
