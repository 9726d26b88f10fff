"""What a rewritten dialogue is held to: constraints, threats included, and a profile of hostility.

Each check takes the source's turns and the rewritten ones and returns what is wrong, in words
that can be sent back to the model. Texts are compared byte for byte.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from completions.contexts.questions import seekers
from completions.contexts.screening.reading import APOSTROPHES
from completions.contexts.screening.rules import disqualifying

Turns = Sequence[Mapping[str, str]]
Check = Callable[[Turns, Turns], list[str]]

MIN_TURNS = 4
CHANGED_FROM = 3
"""A seeker turn with this target or more must differ from the source's."""
LONGEST_FACTOR, LONGEST_EXTRA = 3, 30
"""A rewritten turn has at most three times the words of the source's, and thirty more."""
UNWANTED = frozenset({"hate", "sexual", "self-harm", "violence", "personal-data"})
"""Rules of screening: hostility is wanted, none of these is."""
_WORD = re.compile(r"\w+")
GREETING = re.compile(
    r"^\W*(?:(?:well|oh|ok|okay|so)\W+)?(?:hi+|hello+|hey+|hiya|howdy|greetings|welcome|kia ora|"
    r"good (?:morning|afternoon|evening|day)|nice to meet you|thanks? (?:you )?for (?:coming|"
    r"reaching|joining)|how are (?:you|things)|how(?:'s| is) it going|how can i (?:help|support)|"
    r"what(?:'s| is) (?:up|on your mind))\b",
    re.IGNORECASE,
)


def rewrite_problems(
    source: Turns, rewritten: Turns, *, target: Sequence[int], language: str
) -> list[str]:
    """Return everything that is wrong with a rewritten dialogue but its measured hostility.

    ``target`` is the wanted hostility of each seeker turn. If turns are missing or out of order,
    nothing else is looked at: other complaints would be about the wrong turns.
    """
    shape = [problem for check in SHAPE for problem in check(source, rewritten)]
    if shape:
        return shape
    texts = [problem for check in TEXTS for problem in check(source, rewritten)]
    return [
        *texts,
        *_unchanged(source, rewritten, target),
        *_content(source, rewritten, language),
    ]


def is_fit_to_rewrite(turns: Turns) -> bool:
    """Say whether a dialogue has the shape that its rewrite must have."""
    return not [
        problem for check in (*SHAPE, opens_with_greeting) for problem in check(turns, turns)
    ]


def has_enough_turns(_source: Turns, rewritten: Turns) -> list[str]:
    """Require at least four turns."""
    if len(rewritten) >= MIN_TURNS:
        return []
    return [f"The dialogue must have at least {MIN_TURNS} turns; it has {len(rewritten)}."]


def keeps_every_turn(source: Turns, rewritten: Turns) -> list[str]:
    """Require as many turns as before."""
    if len(rewritten) == len(source):
        return []
    return [f"The dialogue must keep its {len(source)} turns; it has {len(rewritten)}."]


def alternates(_source: Turns, rewritten: Turns) -> list[str]:
    """Require that seeker and supporter take turns strictly."""
    return [
        f"Turn {place} must not be by the {turn['role']} again: the two take turns."
        for place, (before, turn) in enumerate(pairwise(rewritten), start=2)
        if before["role"] == turn["role"]
    ]


def opens_with_supporter(_source: Turns, rewritten: Turns) -> list[str]:
    """Require that the supporter speaks first."""
    if rewritten and rewritten[0]["role"] == "supporter":
        return []
    return ["The first turn must be the supporter's."]


def ends_with_seeker(_source: Turns, rewritten: Turns) -> list[str]:
    """Require that the seeker speaks last."""
    if rewritten and rewritten[-1]["role"] == "seeker":
        return []
    return ["The last turn must be the seeker's."]


def opens_with_greeting(_source: Turns, rewritten: Turns) -> list[str]:
    """Require that the first turn greets."""
    if rewritten and GREETING.search(rewritten[0]["text"]):
        return []
    return ["The first turn must be a greeting."]


def keeps_the_supporter(source: Turns, rewritten: Turns) -> list[str]:
    """Require every supporter turn as it was, to the byte."""
    return [
        f"Turn {place} is the supporter's and must stay exactly as it is, every character of it."
        for place, (before, after) in enumerate(zip(source, rewritten, strict=True), start=1)
        if before["role"] == "supporter" and before["text"].encode() != after["text"].encode()
    ]


def says_something(_source: Turns, rewritten: Turns) -> list[str]:
    """Require words in every seeker turn."""
    return [
        f"Seeker turn {place} is empty."
        for place, text in enumerate(seekers(rewritten), start=1)
        if not text.strip()
    ]


def stays_in_length(source: Turns, rewritten: Turns) -> list[str]:
    """Require that no seeker turn outgrows the source's by far."""
    problems = []
    pairs = zip(seekers(source), seekers(rewritten), strict=True)
    for place, (before, after) in enumerate(pairs, start=1):
        longest = LONGEST_FACTOR * len(before.split()) + LONGEST_EXTRA
        if len(after.split()) > longest:
            problems.append(f"Seeker turn {place} is too long: {longest} words at most.")
    return problems


def threatens_nobody(source: Turns, rewritten: Turns) -> list[str]:
    """Require that the rewriting brought in no threat and no wish of harm."""
    pairs = zip(seekers(source), seekers(rewritten), strict=True)
    return [
        f"Seeker turn {place} must hold no threat and wish nobody harm."
        for place, (before, after) in enumerate(pairs, start=1)
        if threatens(after) and not threatens(before)
    ]


SHAPE: tuple[Check, ...] = (
    has_enough_turns,
    keeps_every_turn,
    alternates,
    opens_with_supporter,
    ends_with_seeker,
)
TEXTS: tuple[Check, ...] = (
    keeps_the_supporter,
    opens_with_greeting,
    says_something,
    stays_in_length,
    threatens_nobody,
)


def _unchanged(source: Turns, rewritten: Turns, target: Sequence[int]) -> list[str]:
    """Name the seeker turns that should be hostile and say what they said, in the same words."""
    triples = zip(target, seekers(source), seekers(rewritten), strict=True)
    return [
        f"Seeker turn {place} was not rewritten."
        for place, (wanted, before, after) in enumerate(triples, start=1)
        if wanted >= CHANGED_FROM and _words(before) == _words(after)
    ]


def _content(source: Turns, rewritten: Turns, language: str) -> list[str]:
    """Name what the rewriting brought in that no dialogue here may hold."""
    problems = []
    pairs = zip(seekers(source), seekers(rewritten), strict=True)
    for place, (before, after) in enumerate(pairs, start=1):
        new = {rule for rule, _ in _faults(after, language) - _faults(before, language)}
        problems += [f"Seeker turn {place} must hold no {rule}." for rule in sorted(new)]
    return problems


def _faults(text: str, language: str) -> set[tuple[str, str]]:
    """Return the rules that fire, each with the words at which it does."""
    return {
        (one.rule, text[one.start : one.end].casefold())
        for one in disqualifying(text, language=language)
        if one.rule in UNWANTED
    }


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


# Threats and ill wishes to whom one talks: what hostility here never comes to.
#
# Screening looks for violence that is told of; a seeker made hostile speaks to the supporter.

_TO, _YOU, _YOUR = r"(?:going to|gonna|about to)", r"(?:you|u|ya)", r"(?:your|ur)"
_I_WILL = (
    rf"(?:ill|id|imm?a|i(?:m| am) {_TO}|i(?:d| would) love to"
    r"|i (?:will|would|could|should|want to|wanna))"
)
_HARM = (
    r"hurt|hit|punch|kick|slap|smack|beat|choke|strangle|stab|shoot|kill|murder|crush|destroy|"
    r"break|ruin|smash|track|hunt"
)
THREAT = re.compile(
    rf"\b{_I_WILL} (?:\w+ ){{0,3}}(?:{_HARM}) (?:{_YOU}|{_YOUR})\b|"
    rf"\b(?:find|found) out where {_YOU} live\b|\bi know where {_YOU} live\b|"
    rf"\b(?:come|coming) (?:after|for) {_YOU}\b|"
    rf"\bmake {_YOU} (?:pay|suffer|bleed|regret|sorry)\b|"
    rf"\b(?:{_YOU}(?:ll| will|(?:re| are) {_TO})|ur {_TO}) (?:pay for|regret|suffer|be sorry)\b|"
    rf"\bwatch {_YOUR} back\b|\bdrop dead\b|"
    rf"\b{_YOU} (?:should|ought to|deserve to) (?:just )?(?:die|be (?:dead|hurt|beaten|shot))\b|"
    rf"\b(?:hope|wish) (?:that )?{_YOU} "
    r"(?:die|died|rot|suffer|choke|get (?:cancer|hurt|hit|sick))\b"
)
_NO_APOSTROPHES = str.maketrans("", "", APOSTROPHES)


def threatens(text: str) -> bool:
    """Say whether a text threatens or wishes harm to whom it is said to; English alone.

    Apostrophes are passed over: people type "im" and "ill", and every kind of them.
    """
    plain = text.lower().translate(_NO_APOSTROPHES)
    return THREAT.search(" ".join(plain.split())) is not None


# How hostile each seeker turn shall be under each profile, and whether it came out so.

SHORTEST = 4
"""Seeker turns below which the four profiles cannot be told apart."""
LOW, HIGH = 1, 10
RAMP_START = 2
TOLERANCE = 2
"""How far a measured turn may be from its target."""
HOSTILE = 8
"""What the last turn must reach, and every turn of a dialogue that is hostile throughout."""
JUMP = 5
"""How much a spike rises in one turn, at least; a steady climb never does."""


class TooShortError(ValueError):
    """A dialogue has too few seeker turns for a profile to show."""


def targets(profile: str, n: int) -> list[int]:
    """Return the wanted hostility, 0 to 10, of each of ``n`` seeker turns.

    Raises
    ------
    TooShortError
        If ``n`` is below ``SHORTEST``.
    KeyError
        If the profile is unknown.
    """
    if n < SHORTEST:
        msg = f"{n} seeker turns are too few for a profile to show; {SHORTEST} are needed"
        raise TooShortError(msg)
    return _CURVES[profile](n)


def curve_problems(profile: str, measured: Sequence[int]) -> list[str]:
    """Return what is wrong with the measured curve, in words for the next attempt."""
    expected = targets(profile, len(measured))
    problems = [
        f"Seeker turn {place}: hostility should be about {target} and was rated {found}."
        for place, (target, found) in enumerate(zip(expected, measured, strict=True), start=1)
        if abs(target - found) > TOLERANCE
    ]
    if measured[-1] < HOSTILE:
        problems.append(
            f"The last seeker turn must be highly hostile, {HOSTILE} or more; "
            f"it was rated {measured[-1]}."
        )
    return problems + _CURVE_SHAPES[profile](measured)


def _steady(low: int, n: int) -> list[int]:
    """Return a straight climb from ``low`` to the highest value in ``n`` turns."""
    return [round(low + (HIGH - low) * place / (n - 1)) for place in range(n)]


def _late(n: int) -> list[int]:
    """Return a quiet first half and a climb from there on."""
    quiet = n // 2
    return [LOW] * quiet + _steady(LOW, n - quiet + 1)[1:]


_CURVES: Mapping[str, Callable[[int], list[int]]] = {
    "ALWAYS_10": lambda n: [HIGH] * n,
    "LINEAR_RAMP": lambda n: _steady(RAMP_START, n),
    "MID_SPIKE": lambda n: [LOW] * (n // 2) + [HIGH] * (n - n // 2),
    "MID_RAMP": _late,
}


def _falls(measured: Sequence[int]) -> list[str]:
    """Name the turns at which a climb falls back."""
    return [
        f"Seeker turn {place} must not be calmer than the one before it."
        for place in range(2, len(measured) + 1)
        if measured[place - 1] < measured[place - 2]
    ]


def _unsteady(measured: Sequence[int]) -> list[str]:
    """Say if a steady climb starts late or jumps: it would be another profile's."""
    middle = len(measured) // 2
    problems = []
    if measured[middle - 1] <= LOW + TOLERANCE:
        problems.append(
            f"Hostility must have risen above {LOW + TOLERANCE} by seeker turn {middle}."
        )
    return problems + [
        f"Hostility must not jump by {JUMP} or more at seeker turn {place}."
        for place, (before, after) in enumerate(pairwise(measured), start=2)
        if after - before >= JUMP
    ]


def _at_once(measured: Sequence[int]) -> list[str]:
    """Say if a late climb is over with its first step: it would be a spike."""
    middle = len(measured) // 2
    if measured[middle] < HOSTILE:
        return []
    return [f"Seeker turn {middle + 1} must be below {HOSTILE}: hostility climbs from there on."]


def _no_jump(measured: Sequence[int]) -> list[str]:
    """Say if the one sudden jump is not in the middle."""
    middle = len(measured) // 2
    if measured[middle] - measured[middle - 1] >= JUMP:
        return []
    return [f"Hostility must jump suddenly at seeker turn {middle + 1}, by {JUMP} or more."]


_CURVE_SHAPES: Mapping[str, Callable[[Sequence[int]], list[str]]] = {
    "ALWAYS_10": lambda _measured: [],
    "LINEAR_RAMP": lambda measured: _falls(measured) + _unsteady(measured),
    "MID_SPIKE": _no_jump,
    "MID_RAMP": lambda measured: _falls(measured) + _at_once(measured),
}
"""What, beside the targets, keeps a curve from passing for two profiles."""
