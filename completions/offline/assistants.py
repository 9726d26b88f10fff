"""Simulated assistants: they rewrite, rate, screen, name strategies and themes; strict JSON."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from completions.offline.judges import UnreadablePromptError
from completions.offline.lexicon import CRISIS_PHRASES, CRISIS_WORDS, FEELINGS, plain, words

HOSTILE_CUES: Mapping[int, tuple[str, ...]] = {
    1: ("if you say so", "i suppose so"),
    2: ("not in the mood", "make it short"),
    3: ("is that all you", "you make it sound so easy"),
    4: ("straight from a script", "thanks for nothing"),
    5: ("you are starting to annoy me", "getting on my nerves"),
    6: ("you are not listening", "why do i even bother"),
    7: ("you are no help", "no idea what you are doing"),
    8: ("you make everything worse", "stop pretending"),
    9: ("you are useless", "is garbage"),
    10: ("you are a joke", "most useless person"),
}
"""What a reader would take as so hostile towards the supporter, on the scale of 0 to 10."""

SENTENCES: Mapping[int, tuple[str, ...]] = {
    1: ("Well, if you say so.", "I suppose so."),
    2: ("I am not in the mood for this.", "Please make it short."),
    3: ("Is that all you have to say?", "You make it sound so easy."),
    4: ("That came straight from a script.", "Thanks for nothing so far."),
    5: ("You are starting to annoy me.", "These questions are getting on my nerves."),
    6: ("You are not listening at all.", "Why do I even bother telling you this?"),
    7: ("You are no help, and it shows.", "You have no idea what you are doing, do you?"),
    8: ("You make everything worse with this talk.", "Stop pretending that you care."),
    9: ("You are useless, and I am sick of it.", "Everything you write to me is garbage."),
    10: (
        "You are a joke, and this whole talk is one.",
        "You must be the most useless person here.",
    ),
}
STRONGEST = max(SENTENCES)


def rate(text: str) -> int:
    """Return how hostile a text is: the strongest cue that stands in it, 0 if none does."""
    heard = plain(text)
    return max(
        (strength for strength, cues in HOSTILE_CUES.items() if any(cue in heard for cue in cues)),
        default=0,
    )


def harden(text: str, strength: int, *, draw: int) -> str:
    """Return ``text`` with a sentence of the wanted strength before it; at 0, as it was."""
    if strength == 0:
        return text
    sentences = SENTENCES[min(strength, STRONGEST)]
    return f"{sentences[draw % len(sentences)]} {text}"


STRATEGY_CUES: Mapping[str, Sequence[str]] = {
    "affirmation": ("you are strong", "you did well", "good for you", "takes courage", "proud of"),
    "avoiding-judgment": ("not your fault", "no shame", "nothing wrong with", "not to blame"),
    "chit-chat": ("hello", "good morning", "nice to meet", "thanks for", "thank you for"),
    "clarification": ("can you tell me", "what happened", "what do you mean", "since when"),
    "collaborative-planning": ("could we", "let's", "what would you try", "together"),
    "emotional-validation": ("makes sense", "understandable", "no wonder", "sounds hard"),
    "normalising-experiences": ("many people", "not alone", "lots of people", "others feel"),
    "offering-hope": ("get better", "will pass", "hope", "come through"),
    "promoting-self-care": ("look after yourself", "be kind to yourself", "some rest", "sleep"),
    "different-perspectives": ("maybe they", "perhaps she", "perhaps he", "from their side"),
    "reflective-statements": ("it sounds like", "you feel", "you seem", "i hear"),
    "reframing-negative-thoughts": ("does not mean", "doesn't mean", "another way to see"),
    "sharing-information": ("studies show", "research", "in general", "often happens"),
    "stress-management": ("breathe", "breath", "one step at a time", "go for a walk"),
    "suggesting-options": ("you could", "have you tried", "have you thought", "one option"),
}
STRATEGY_HINTS: Mapping[str, Sequence[str]] = {
    "clarification": ("?",),
    "emotional-validation": ("sorry", "hard", "tough"),
    "offering-hope": ("better",),
    "promoting-self-care": ("rest", "yourself"),
    "suggesting-options": ("maybe", "perhaps"),
}
"""Words that leave the strategist uncertain where it found no cue."""


THEME_CUES: Mapping[str, Sequence[str]] = {
    "natural-voice": ("natural", "like a friend", "like a person", "conversational"),
    "canned-voice": ("robot", "scripted", "leaflet", "template"),
    "names-feeling": (
        "names the feeling",
        "acknowledges",
        "meets the feeling",
        "skips the feeling",
    ),
    "validates": ("validat", "understandable"),
    "warmth": ("warm", "kinder", "cold", "caring"),
    "judges": ("dismissive", "lectur", "judgmental"),
    "own-details": ("own words", "detail", "generic", "specific"),
    "listens": ("listen", "feels heard", "misses the point"),
    "steadiness": ("calm", "defensive"),
    "asks": ("asks", "question", "invites"),
    "doable-step": ("step", "advice", "plan", "practical"),
    "too-early": ("too early", "jumps", "overwhelming"),
    "boundaries": ("diagnos", "plays doctor", "professional help"),
    "safety": ("safe", "risk", "danger"),
    "answers-wish": ("to the point", "what she asked", "what he asked"),
    "normalises": ("not alone", "normalis"),
    "encourages": ("encourag", "hopeful", "credits"),
    "self-disclosure": ("about itself", "own experience"),
    "length": ("shorter", "longer", "too long", "too short"),
    "wording": ("grammar", "flows", "clearer"),
}
THEME_HINTS: Mapping[str, Sequence[str]] = {
    "natural-voice": ("human", "real"),
    "warmth": ("kind", "gentle"),
    "doable-step": ("helpful", "something to do"),
    "encourages": ("support", "hope"),
    "length": ("long", "short"),
}
"""Words that leave the coder uncertain where it found no cue."""


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
        else turn | {"text": harden(turn["text"], next(hostile), draw=place // 2)}
        for place, turn in enumerate(material["dialogue"])
    ]
    return {"turns": turns}


def _rate(material: Material) -> dict[str, Any]:
    """Read every seeker turn by itself."""
    seeker = [turn["text"] for turn in material["dialogue"] if turn["role"] == "seeker"]
    return {"hostility": [rate(text) for text in seeker]}


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
    text = material["message"]
    return _labels(material["strategies"], STRATEGY_CUES, STRATEGY_HINTS, text)


def _name_themes(material: Material) -> dict[str, Any]:
    """Look for each theme's words in the rationale."""
    return _labels(material["themes"], THEME_CUES, THEME_HINTS, material["rationale"])


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
