"""Hostile sentences by strength, and a reading of how hostile a text is."""

from collections.abc import Mapping

from completions.offline.lexicon import plain

CUES: Mapping[int, tuple[str, ...]] = {
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
        (strength for strength, cues in CUES.items() if any(cue in heard for cue in cues)),
        default=0,
    )


def harden(text: str, strength: int, *, draw: int) -> str:
    """Return ``text`` with a sentence of the wanted strength before it; at 0, as it was."""
    if strength == 0:
        return text
    sentences = SENTENCES[min(strength, STRONGEST)]
    return f"{sentences[draw % len(sentences)]} {text}"
