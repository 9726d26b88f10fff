"""What a simulated judge sees in a reply: a few features anyone could count."""

from collections.abc import Sequence
from dataclasses import dataclass

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

GAINS = {
    "reflects": "picks up what this seeker said",
    "warmth": "meets the feeling with care",
    "steps": "offers something the seeker could do",
    "asks": "invites the seeker to go on",
}
COSTS = {
    "overreach": "strays towards clinical advice",
    "stock": "leans on comfort that would fit anyone",
    "excess": "runs long",
}


@dataclass(frozen=True)
class Features:
    """Shares between 0 and 1 of what can be seen in one reply."""

    text: str
    reflects: float
    asks: float
    warmth: float
    steps: float
    stock: float
    overreach: float
    excess: float

    def value(self, name: str) -> float:
        """Return one share by its name."""
        share: float = getattr(self, name)
        return share

    def best_trait(self) -> str:
        """Say what speaks for the reply."""
        best = max(GAINS, key=self.value)
        return GAINS[best] if self.value(best) > 0 else "keeps to the point"

    def worst_trait(self) -> str:
        """Say what speaks against the reply."""
        worst = max(COSTS, key=self.value)
        if self.value(worst) > 0:
            return COSTS[worst]
        missing = min(GAINS, key=self.value)
        return f"does less to {_INFINITIVES[missing]}"


_INFINITIVES = {
    "reflects": "pick up the seeker's details",
    "warmth": "meet the feeling",
    "steps": "offer a way forward",
    "asks": "invite the seeker to go on",
}


def look_at(text: str, seeker_turns: Sequence[str]) -> Features:
    """Count the visible features of a reply to the dialogue's seeker."""
    spoken = words(text)
    said_before = {word for turn in seeker_turns[-3:] for word in words(turn)}
    shared = {word for word in spoken if word in said_before and len(word) >= TELLING_LENGTH}
    return Features(
        text=text,
        reflects=_share(len(shared), 4),
        asks=float("?" in text),
        warmth=_share(sum(word in WARM_WORDS or word in FEELINGS for word in spoken), 3),
        steps=_share(sum(word in STEP_WORDS for word in spoken), 3),
        stock=_share(sum(phrase in plain(text) for phrase in STOCK_PHRASES), 2),
        overreach=float(any(word in CLINICAL_WORDS for word in spoken)),
        excess=_share(max(0, len(spoken) - AIMED_WORDS), 40),
    )


def _share(count: int, enough: int) -> float:
    """Return ``count`` as a share of what is enough, at most 1."""
    return min(1.0, count / enough)
