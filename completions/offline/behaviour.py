"""How the offline provider behaves: its pace, and the faults it is asked to show."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Fault(StrEnum):
    """One way in which a provider lets its caller down."""

    RATE_LIMITED = "429"
    """Answer 429 with a Retry-After header."""
    SERVER_ERROR = "500"
    """Answer 500."""
    CUT = "cut"
    """Close the connection in the middle of the answer."""
    BROKEN_BODY = "broken-body"
    """Answer 200 with a body that is not JSON."""
    BROKEN_ANSWER = "broken-answer"
    """Answer in good form with a text that breaks off: a judge's JSON does not parse."""
    OTHER_SCHEMA = "other-schema"
    """Answer with JSON that parses and is not what was asked for."""
    REFUSAL = "refusal"
    """Decline politely, as a text like any other."""
    HANG = "hang"
    """Take the request and never answer."""
    EMPTY = "empty"
    """Answer in good form with no text."""
    TRUNCATED = "truncated"
    """Say that the token limit was reached."""
    FILTERED = "filtered"
    """Say that a content filter held the answer back."""
    UNAUTHORIZED = "401"
    """Refuse the key."""


@dataclass(frozen=True)
class Behaviour:
    """The pace of the offline provider and the share of calls that fail, by fault."""

    latency_s: float = 0.0
    tokens_per_s: float | None = None
    """``None``: every token at once."""
    rates: Mapping[Fault, float] = field(default_factory=dict)
    retry_after_s: float = 1.0
    seed: int = 0
    counts_tokens: bool = True
    """Whether chat completions say how many tokens they took; some servers do not."""
    stand_ins: bool = False
    """Whether simulated models answer for models that are not here."""

    def __post_init__(self) -> None:
        """Refuse a pace or a share that means nothing."""
        if self.latency_s < 0 or self.retry_after_s < 0:
            msg = "latency_s and retry_after_s must be 0 or more."
            raise ValueError(msg)
        if self.tokens_per_s is not None and self.tokens_per_s <= 0:
            msg = f"tokens_per_s must be above 0, not {self.tokens_per_s}."
            raise ValueError(msg)
        if min(self.rates.values(), default=0) < 0 or sum(self.rates.values()) > 1:
            msg = "Fault rates must be 0 or more and sum to 1 at most."
            raise ValueError(msg)

    def draw_fault(self, key: str) -> Fault | None:
        """Return the fault of the call named ``key``; the same key draws the same fault."""
        point = fraction(f"{self.seed}:{key}")
        for fault, rate in sorted(self.rates.items()):
            if point < rate:
                return fault
            point -= rate
        return None


def fraction(key: str) -> float:
    """Return a number in [0, 1) that depends on ``key`` alone."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:6]) / 2**48
