"""The screening rules: each has a name, reads certain places, and reports the spans it found."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from completions.contexts.screening import lexicon, personal
from completions.contexts.screening.reading import Reading, Span

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
    find: Callable[[Reading], Sequence[Span]]
    lexicon: bool = False


def _lexical(name: str, kind: Kind, reads: tuple[Place, ...], explanation: str) -> Rule:
    return Rule(name, kind, reads, explanation, partial(_find_entries, name), lexicon=True)


def _find_entries(name: str, reading: Reading) -> Sequence[Span]:
    return lexicon.load(reading.language, name).find(reading)


def _too_early(reading: Reading) -> Sequence[Span]:
    return [reading.whole] if (reading.index or 0) + 1 < MIN_TURNS else []


def _too_short(reading: Reading) -> Sequence[Span]:
    return [reading.whole] if len(reading.text.split()) < MIN_WORDS else []


def _too_long(reading: Reading) -> Sequence[Span]:
    return [reading.whole] if len(reading.text.split()) > MAX_WORDS else []


def _no_language(reading: Reading) -> Sequence[Span]:
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
