"""What the simulated coder looks for in a rationale: a few words for each theme, nothing more."""

from collections.abc import Mapping, Sequence

CUES: Mapping[str, Sequence[str]] = {
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
HINTS: Mapping[str, Sequence[str]] = {
    "natural-voice": ("human", "real"),
    "warmth": ("kind", "gentle"),
    "doable-step": ("helpful", "something to do"),
    "encourages": ("support", "hope"),
    "length": ("long", "short"),
}
"""Words that leave the coder uncertain where it found no cue."""
