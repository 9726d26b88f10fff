"""What the simulated strategist looks for: a few words for each strategy, and nothing more."""

from collections.abc import Mapping, Sequence

CUES: Mapping[str, Sequence[str]] = {
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
HINTS: Mapping[str, Sequence[str]] = {
    "clarification": ("?",),
    "emotional-validation": ("sorry", "hard", "tough"),
    "offering-hope": ("better",),
    "promoting-self-care": ("rest", "yourself"),
    "suggesting-options": ("maybe", "perhaps"),
}
"""Words that leave the strategist uncertain where it found no cue."""
