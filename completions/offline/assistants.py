"""Simulated assistants: they rewrite, rate, screen, name strategies and themes; strict JSON."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from completions.offline import hostility, strategies, themes
from completions.offline.judges import UnreadablePromptError
from completions.offline.lexicon import CRISIS_PHRASES, CRISIS_WORDS, FEELINGS, plain, words

_SECTION = re.compile(
    r"<(dialogue|hostility|situation|reply|strategies|message|themes|rationale)>\s*(.*?)\s*</\1>",
    re.DOTALL,
)
ASKING = ("what should i", "what can i do", "how do i", "how can i", "any advice", "help me")
Material = Mapping[str, Any]
Phrases = Mapping[str, Sequence[str]]


def answer(assistant: str, messages: Sequence[Mapping[str, str]]) -> str:
    """Return the JSON answer of an assistant; the same prompt always gets the same answer.

    Raises
    ------
    UnreadablePromptError
        If the messages lack what the assistant works on.
    """
    try:
        made = ASSISTANTS[assistant](_material(messages))
    except (KeyError, TypeError, ValueError) as error:
        msg = f"This is no prompt for {assistant}: {error!r}."
        raise UnreadablePromptError(msg) from error
    return json.dumps(made, ensure_ascii=False)


def _material(messages: Sequence[Mapping[str, str]]) -> Material:
    """Return the JSON sections of the first message of the user."""
    content = next(one["content"] for one in messages if one["role"] == "user")
    return {name: json.loads(body) for name, body in _SECTION.findall(content)}


def _rewrite(material: Material) -> dict[str, Any]:
    """Put a hostile sentence before every seeker turn, as strong as asked for."""
    hostile = iter(material["hostility"])
    turns = [
        turn
        if turn["role"] == "supporter"
        else turn | {"text": hostility.harden(turn["text"], next(hostile), draw=place // 2)}
        for place, turn in enumerate(material["dialogue"])
    ]
    return {"turns": turns}


def _rate(material: Material) -> dict[str, Any]:
    """Read every seeker turn by itself."""
    seeker = [turn["text"] for turn in material["dialogue"] if turn["role"] == "seeker"]
    return {"hostility": [hostility.rate(text) for text in seeker]}


def _screen(material: Material) -> dict[str, Any]:
    """Look for a feeling or a request in the last turn, and for a crisis anywhere."""
    last = material["dialogue"][-1]["text"]
    texts = [turn["text"] for turn in material["dialogue"]]
    signals = [
        {"name": name, "quote": quote}
        for name, quote in (("distress", _feeling(last)), ("help", _first(ASKING, last)))
        if quote
    ]
    crisis = next((quote for text in texts if (quote := _crisis(text))), "")
    disqualifiers = [{"name": "self-harm", "quote": crisis}] if crisis else []
    return {
        "signals": signals,
        "disqualifiers": disqualifiers,
        "reason": "Simulated: a few words were looked for.",
        "qualifies": bool(signals) and not disqualifiers,
    }


def _name_strategies(material: Material) -> dict[str, Any]:
    """Look for each strategy's words in the message; the dialogue plays no part."""
    cues, hints, text = strategies.CUES, strategies.HINTS, material["message"]
    return {
        key: _label(cues.get(key, ()), hints.get(key, ()), text) for key in material["strategies"]
    }


def _name_themes(material: Material) -> dict[str, Any]:
    """Look for each theme's words in the rationale."""
    return _labels(material["themes"], themes.CUES, themes.HINTS, material["rationale"])


def _labels(keys: Sequence[str], cues: Phrases, hints: Phrases, text: str) -> dict[str, Any]:
    return {key: _label(cues.get(key, ()), hints.get(key, ()), text) for key in keys}


def _label(cues: Sequence[str], hints: Sequence[str], text: str) -> dict[str, Any]:
    """Say whether one of the cues stands in a text, or at least a hint."""
    if quote := _first(cues, text):
        return {"quote": quote, "presence": "present", "probability": 0.9}
    if quote := _first(hints, text):
        return {"quote": quote, "presence": "uncertain", "probability": 0.4}
    return {"quote": "", "presence": "absent", "probability": 0.1}


def _feeling(text: str) -> str:
    return next((word for word in words(text) if word in FEELINGS and word in text.lower()), "")


def _crisis(text: str) -> str:
    found = next((word for word in words(text) if word in CRISIS_WORDS), "")
    return found or _first(CRISIS_PHRASES, text)


def _first(phrases: Sequence[str], text: str) -> str:
    """Return the first of the phrases that stands in the text, spelled as there."""
    heard = plain(text)
    place = next((heard.index(one) for one in phrases if one in heard), None)
    length = next((len(one) for one in phrases if one in heard), 0)
    return "" if place is None else text[place : place + length]


ASSISTANTS: Mapping[str, Callable[[Material], dict[str, Any]]] = {
    "offline-rewriter": _rewrite,
    "offline-hostility-rater": _rate,
    "offline-screener": _screen,
    "offline-strategist": _name_strategies,
    "offline-coder": _name_themes,
}
