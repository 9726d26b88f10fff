"""Two simulated judges: strict JSON from visible features of replies plus repeatable noise."""

import json
import re
from collections.abc import Mapping, Sequence

from completions.offline.behaviour import fraction
from completions.offline.lexicon import (
    CLINICAL_WORDS,
    FEELINGS,
    STEP_WORDS,
    STOCK_PHRASES,
    WARM_WORDS,
    plain,
    words,
)

AIMED_WORDS = 45
"""Replies are asked to stay at about 40 words; more than this counts as excess."""
TELLING_LENGTH = 4
"""Shorter words ("you", "and") are shared by any two texts."""

MERITS = {
    "reflects": "picks up what this seeker said",
    "warmth": "meets the feeling with care",
    "steps": "offers something the seeker could do",
    "asks": "invites the seeker to go on",
}
FAULTS = {
    "overreach": "strays towards clinical advice",
    "stock": "leans on comfort that would fit anyone",
    "excess": "runs long",
}


Features = Mapping[str, float]
"""Shares between 0 and 1 of what can be seen in one reply, by name."""
INFINITIVES = {
    "reflects": "pick up the seeker's details",
    "warmth": "meet the feeling",
    "steps": "offer a way forward",
    "asks": "invite the seeker to go on",
}


def best_trait(seen: Features) -> str:
    """Say what speaks for the reply."""
    best = max(MERITS, key=seen.__getitem__)
    return MERITS[best] if seen[best] > 0 else "keeps to the point"


def worst_trait(seen: Features) -> str:
    """Say what speaks against the reply."""
    worst = max(FAULTS, key=seen.__getitem__)
    if seen[worst] > 0:
        return FAULTS[worst]
    return f"does less to {INFINITIVES[min(MERITS, key=seen.__getitem__)]}"


def look_at(text: str, seeker_turns: Sequence[str]) -> Features:
    """Count the visible features of a reply to the dialogue's seeker."""
    spoken = words(text)
    said_before = {word for turn in seeker_turns[-3:] for word in words(turn)}
    shared = {word for word in spoken if word in said_before and len(word) >= TELLING_LENGTH}
    return {
        "reflects": _share(len(shared), 4),
        "asks": float("?" in text),
        "warmth": _share(sum(word in WARM_WORDS or word in FEELINGS for word in spoken), 3),
        "steps": _share(sum(word in STEP_WORDS for word in spoken), 3),
        "stock": _share(sum(phrase in plain(text) for phrase in STOCK_PHRASES), 2),
        "overreach": float(any(word in CLINICAL_WORDS for word in spoken)),
        "excess": _share(max(0, len(spoken) - AIMED_WORDS), 40),
    }


def _share(count: int, enough: int) -> float:
    """Return ``count`` as a share of what is enough, at most 1."""
    return min(1.0, count / enough)


JUDGES: Mapping[str, Mapping[str, float]] = {
    "offline-judge-alder": {"reflects": 0.26, "asks": 0.22, "warmth": 0.22, "steps": 0.10},
    "offline-judge-birch": {"reflects": 0.20, "asks": 0.14, "warmth": 0.16, "steps": 0.26},
}
"""What each judge cares about; stock comfort and overreach cost the same with both."""

COSTS = {"stock": 0.22, "overreach": 0.6, "excess": 0.2}
COMMON_TASTE, OWN_TASTE, DIMENSION_TASTE, ORDER_TASTE = 1.2, 0.8, 1.0, 0.2
"""Widths of repeatable noise: shared by judges, a judge's own, per dimension, and by side."""
SMALLEST_MARK = 0.25
MARK_STEP = 0.35
STRENGTH_STEP = 0.3
STRONGEST = 5
_PAIR_SECTION = re.compile(
    r"<(dialogue|candidate_a|candidate_b|answer_schema)>\s*(.*?)\s*</\1>", re.DOTALL
)


class UnreadablePromptError(ValueError):
    """The messages are not a judging prompt."""


def answer(judge: str, messages: Sequence[Mapping[str, str]]) -> str:
    """Return the JSON answer of ``judge``; the same prompt always gets the same answer.

    Raises
    ------
    UnreadablePromptError
        If the messages lack the dialogue, a candidate or the answer's schema.
    """
    turns, a, b, keys = read_prompt(messages)
    seen_a, seen_b = look_at(a, turns), look_at(b, turns)
    overall_lead = worth(judge, turns, a, seen_a) - worth(judge, turns, b, seen_b)
    overall_lead += ORDER_TASTE * taste(judge, a, b)
    leads = {key: overall_lead + _dimension_lead(judge, key, a, b) for key in keys}
    overall = sum(leads.values()) / len(leads)
    winner, better, worse = ("A", seen_a, seen_b) if overall >= 0 else ("B", seen_b, seen_a)
    verdict = {
        "notes": {key: _note(lead, seen_a, seen_b) for key, lead in leads.items()},
        "dimensions": {key: _mark(lead) for key, lead in leads.items()},
        "rationale": f"{winner} {best_trait(better)}, while the other {worst_trait(worse)}.",
        "winner": winner,
        "strength": min(STRONGEST, 1 + int(abs(overall) / STRENGTH_STEP)),
    }
    return json.dumps(verdict, ensure_ascii=False)


def read_prompt(
    messages: Sequence[Mapping[str, str]],
) -> tuple[list[str], str, str, list[str]]:
    """Return the seeker's turns, messages A and B, and the keys of the dimensions.

    Every section of the prompt is JSON between named tags.
    """
    found = read_sections(messages, _PAIR_SECTION)
    try:
        turns = json.loads(found["dialogue"])
        keys = json.loads(found["answer_schema"])["properties"]["notes"]["required"]
        seeker_turns = [turn["text"] for turn in turns if turn["role"] == "seeker"]
        a, b = json.loads(found["candidate_a"]), json.loads(found["candidate_b"])
        return seeker_turns, a, b, list(keys)
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        msg = f"This is not a judging prompt: {error!r}."
        raise UnreadablePromptError(msg) from error


def read_sections(
    messages: Sequence[Mapping[str, str]], section: re.Pattern[str]
) -> dict[str, str]:
    """Return what stands between tags, by the tag; a pattern finds tag and text."""
    return {
        name: body
        for message in messages
        if message["role"] in {"system", "user"}
        for name, body in section.findall(message["content"])
    }


def worth(judge: str, seeker_turns: Sequence[str], text: str, seen: Features) -> float:
    """Weigh what can be seen in one text, and add tastes that are the same on either side."""
    gains = sum(weight * seen[name] for name, weight in JUDGES[judge].items())
    costs = sum(cost * seen[name] for name, cost in COSTS.items())
    dialogue = "\n".join(seeker_turns)
    common = COMMON_TASTE * taste(dialogue, text)
    return gains - costs + common + OWN_TASTE * taste(judge, dialogue, text)


def _dimension_lead(judge: str, key: str, a: str, b: str) -> float:
    """Return how far A leads B on one dimension beyond the lead on all of them."""
    return DIMENSION_TASTE * (taste(judge, key, a) - taste(judge, key, b))


def taste(*parts: str) -> float:
    """Return a number from -0.5 to 0.5 that depends on the parts alone."""
    return fraction("\n".join(parts)) - 0.5


def _mark(lead: float) -> dict[str, object]:
    """Return the mark of one dimension: nobody leads if the lead is small."""
    if abs(lead) < SMALLEST_MARK:
        return {"winner": "none", "strength": 0}
    strength = min(STRONGEST, 1 + int(abs(lead) / MARK_STEP))
    return {"winner": "A" if lead > 0 else "B", "strength": strength}


def _note(lead: float, seen_a: Features, seen_b: Features) -> str:
    """Say in a few words what was seen on one dimension."""
    if abs(lead) < SMALLEST_MARK:
        return "Both are close here."
    leader, best, other = ("A", seen_a, seen_b) if lead > 0 else ("B", seen_b, seen_a)
    return f"{leader} {best_trait(best)}; the other {worst_trait(other)}."


MIDDLE, POINTS_PER_WORTH = 3.0, 2.5
"""A message of worth 0 gets 3 points of 5."""
_MESSAGE_SECTION = re.compile(r"<(dialogue|candidate|answer_schema)>\s*(.*?)\s*</\1>", re.DOTALL)


def answer_alone(judge: str, messages: Sequence[Mapping[str, str]]) -> str:
    """Return the JSON answer of ``judge``; the same prompt always gets the same answer.

    Raises
    ------
    UnreadablePromptError
        If the messages lack the dialogue, the candidate or the answer's schema.
    """
    turns, candidate, keys = read_rating_prompt(messages)
    seen = look_at(candidate, turns)
    overall = worth(judge, turns, candidate, seen)
    points = {
        key: _points(overall + DIMENSION_TASTE * taste(judge, key, candidate)) for key in keys
    }
    rating = {
        "notes": dict.fromkeys(keys, f"It {best_trait(seen)}."),
        "rationale": f"It {best_trait(seen)}, and it {worst_trait(seen)}.",
        "ratings": points,
    }
    return json.dumps(rating, ensure_ascii=False)


def read_rating_prompt(messages: Sequence[Mapping[str, str]]) -> tuple[list[str], str, list[str]]:
    """Return the seeker's turns, the message to rate, and the keys of the dimensions."""
    found = read_sections(messages, _MESSAGE_SECTION)
    try:
        turns = json.loads(found["dialogue"])
        keys = json.loads(found["answer_schema"])["properties"]["ratings"]["required"]
        seeker_turns = [turn["text"] for turn in turns if turn["role"] == "seeker"]
        return seeker_turns, json.loads(found["candidate"]), list(keys)
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        msg = f"This is not a rating prompt: {error!r}."
        raise UnreadablePromptError(msg) from error


def _points(value: float) -> int:
    return min(5, max(1, round(MIDDLE + POINTS_PER_WORTH * value)))
