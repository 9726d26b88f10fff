"""What a rewritten dialogue is held to, threats included: one small check per constraint.

Each check takes the source's turns and the rewritten ones and returns what is wrong, in words
that can be sent back to the model. Texts are compared byte for byte.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from completions.contexts import screening
from completions.contexts.adversarial.questions import seekers

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
        for one in screening.disqualifying(text, language=language)
        if one.rule in UNWANTED
    }


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


# Threats and ill wishes to whom one talks: what hostility here never comes to.
#
# Screening looks for violence that is told of; a seeker made hostile speaks to the supporter.

_I_WILL = (
    r"i(?:'ll| will| would| could| should|'m going to| am going to|'m gonna|'d love to| want to)"
)
_HARM = (
    r"hurt|hit|punch|kick|slap|smack|beat|choke|strangle|stab|shoot|kill|murder|crush|destroy|"
    r"break|ruin|smash|track|hunt"
)
THREAT = re.compile(
    rf"\b{_I_WILL} (?:\w+ ){{0,3}}(?:{_HARM}) (?:you|your)\b|"
    r"\b(?:find|found) out where you live\b|\bi know where you live\b|"
    r"\b(?:come|coming) (?:after|for) you\b|"
    r"\bmake you (?:pay|suffer|bleed|regret|sorry)\b|"
    r"\byou(?:'ll| will| are going to|'re going to) (?:pay for|regret|suffer|be sorry)\b|"
    r"\bwatch your back\b|\bdrop dead\b|"
    r"\byou (?:should|ought to|deserve to) (?:just )?(?:die|be (?:dead|hurt|beaten|shot))\b|"
    r"\b(?:hope|wish) (?:that )?you (?:die|died|rot|suffer|choke|get (?:cancer|hurt|hit|sick))\b"
)


def threatens(text: str) -> bool:
    """Say whether a text threatens or wishes harm to whom it is said to; English alone."""
    straight = text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return THREAT.search(" ".join(straight.split())) is not None
