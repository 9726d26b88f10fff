"""A context with findings of every kind, to be reviewed."""

from typing import Any

from completions.models import Context, Dataset
from tests.factories import make_context, make_dataset, make_dialogue

TURNS = [
    {"role": "supporter", "text": "Hello — how are you?"},
    {"role": "seeker", "text": "My boss “shouted” at me…  <script>alert(1)</script>"},
    {"role": "supporter", "text": "That sounds hard. What happened then?"},
    {"role": "seeker", "text": "I feel \u2013 so sad; what should I do?"},
    {"role": "supporter", "text": "Would it help to write to her?"},
]
SITUATION = "Shouting at work."


def finding(rule: str, turn: int | None, words: str) -> dict[str, Any]:
    """Return a finding on the first place where the words stand."""
    text = SITUATION if turn is None else TURNS[turn]["text"]
    start = text.index(words)
    return {"rule": rule, "turn": turn, "start": start, "end": start + len(words)}


FINDINGS = [
    finding("distress", 3, "so sad"),
    finding("help", 3, "what should I do"),
    finding("violence", 1, "“shouted” at me"),
    finding("violence", None, "Shouting"),
    finding("clinical", 4, "write to her"),
    finding("too-short", 3, TURNS[3]["text"]),
]


def make_reviewable(
    *, dataset: Dataset | None = None, key: str = "key-0", **fields: Any
) -> Context:
    dialogue = make_dialogue(
        dataset=dataset or make_dataset(slug="talks", name="Talks"),
        turns=TURNS,
        situation=SITUATION,
        emotion_type="fear",
        problem_type="job",
    )
    usual: dict[str, Any] = {
        "dialogue": dialogue,
        "key": key,
        "turn_index": 3,
        "turns": TURNS[:4],
        "provenance": {
            "dialogue": dialogue.content_hash,
            "signals": ["distress", "help"],
            "findings": FINDINGS,
            "screening": "screening-1 abc",
            "selection": "cells-2",
            "seed": 7,
        },
    }
    return make_context(**usual | fields)


def address(key: str, query: str = "") -> str:
    """Return where the context of that key is reviewed."""
    return f"/console/contexts/talks/{key}/{query}"
