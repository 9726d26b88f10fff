"""The arithmetic of limits: buckets that fill at an even rate, and places that are lent.

``shared.lua`` does the same inside Redis; tests hold the two against each other.
"""

from dataclasses import dataclass, field

from completions.llm.limiting.limits import ProviderLimits

BURST_S = 1.0
"""A full bucket holds what comes in within this time, so that no minute exceeds its limit much."""
LONGEST_BLOCK_S = 3600.0
"""However long a provider wants to be left alone: after this one may ask it again."""


@dataclass(frozen=True, kw_only=True)
class BucketRequest:
    """A question that somebody wants to put to a provider."""

    place: str
    """A name that nobody else has."""
    provider: str
    n_tokens: int
    lease_s: float
    """After this time its place is free again, whatever became of whom it was lent to."""
    patience_s: float
    """A turn that comes later than this is not taken."""


@dataclass(frozen=True)
class BucketOffer:
    """A turn, taken or not."""

    is_taken: bool
    wait_s: float | None
    """Until the turn, or until asking again makes sense; ``None``: nobody knows (no place)."""


@dataclass
class Bucket:
    """What may still be used; below zero it is promised already."""

    level: float
    at: float

    def fill(self, per_minute: int, now: float) -> None:
        """Add what has come in since the last time; a clock that was set back adds nothing."""
        came = max(0.0, now - self.at) * per_minute / 60
        self.level, self.at = min(capacity(per_minute), self.level + came), now

    def wait_s(self, need: int, per_minute: int) -> float:
        """Return how long until there is enough; more than it can hold is taken from a full one."""
        lacks = min(need, capacity(per_minute)) - self.level
        return max(0.0, 60 * lacks / per_minute)

    def charge(self, n: int, per_minute: int, wait_s: float) -> None:
        """Take ``n`` as it will be after a wait; until then the bucket holds no more than ever."""
        comes = wait_s * per_minute / 60
        self.level = min(capacity(per_minute), self.level + comes) - n - comes


def capacity(per_minute: int) -> float:
    """Return what a full bucket holds."""
    return max(1.0, BURST_S * per_minute / 60)


@dataclass
class Account:
    """What one provider has been asked, as far as its limits go."""

    requests: Bucket | None = None
    tokens: Bucket | None = None
    places: dict[str, float] = field(default_factory=dict)
    """Who holds a place, and until when."""
    blocked_until: float = 0.0

    def take(self, request: BucketRequest, limits: ProviderLimits, now: float) -> BucketOffer:
        """Take the next turn if it comes soon enough."""
        if wait_s := self.blocked_s(now):
            return BucketOffer(is_taken=False, wait_s=wait_s)
        self.places = {name: until for name, until in self.places.items() if until > now}
        if limits.concurrency is not None and len(self.places) >= limits.concurrency:
            return BucketOffer(is_taken=False, wait_s=None)
        charges = self._charges(limits, now, request.n_tokens)
        wait_s = max([0.0, *(bucket.wait_s(n, rate) for bucket, n, rate in charges)])
        if wait_s > request.patience_s:
            return BucketOffer(is_taken=False, wait_s=wait_s)
        for bucket, n, rate in charges:
            bucket.charge(n, rate, wait_s)
        if limits.concurrency is not None:
            self.places[request.place] = now + wait_s + request.lease_s
        return BucketOffer(is_taken=True, wait_s=wait_s)

    def settle(
        self,
        place: str,
        limits: ProviderLimits,
        now: float,
        *,
        n_requests: int = 0,
        n_tokens: int = 0,
    ) -> None:
        """Free a place and give back what was not used; less than nothing is charged more."""
        self.places.pop(place, None)
        for bucket, n, rate in self._charges(limits, now, n_tokens, n_requests):
            bucket.level = min(capacity(rate), bucket.level + n)

    def block(self, seconds: float, now: float) -> None:
        """Let nobody in for some time; a block that is on is never shortened."""
        until = now + min(seconds, LONGEST_BLOCK_S)
        self.blocked_until = max(until, now + self.blocked_s(now))

    def blocked_s(self, now: float) -> float:
        """Return how long it is blocked; a block from a clock since set back is none."""
        left = self.blocked_until - now
        return left if 0 < left <= LONGEST_BLOCK_S else 0.0

    def _charges(
        self, limits: ProviderLimits, now: float, n_tokens: int, n_requests: int = 1
    ) -> list[tuple[Bucket, int, int]]:
        """Return the buckets that are limited, filled, with what to take and their rates."""
        charges = []
        if (rate := limits.requests_per_minute) is not None:
            self.requests = _filled(self.requests, rate, now)
            charges.append((self.requests, n_requests, rate))
        if (rate := limits.tokens_per_minute) is not None:
            self.tokens = _filled(self.tokens, rate, now)
            charges.append((self.tokens, n_tokens, rate))
        return charges


def _filled(bucket: Bucket | None, per_minute: int, now: float) -> Bucket:
    bucket = bucket or Bucket(capacity(per_minute), now)
    bucket.fill(per_minute, now)
    return bucket
