"""Limits of providers: read from the setting, and buckets that say when a call may be made.

``redis_accounts.lua`` does the arithmetic of buckets inside Redis; tests hold the two against each
other.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, PositiveInt, RootModel, ValidationError

OTHERS = "*"
"""The name under which limits are given for every provider that has none of its own."""
EXAMPLE = '{"openai": {"requests_per_minute": 500, "concurrency": 32}}'


class LimitsError(ValueError):
    """The limits of providers are not given as they have to be."""


class ProviderLimits(BaseModel):
    """What a provider takes in a minute and at once; ``None`` means as much as there is."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    requests_per_minute: PositiveInt | None = None
    tokens_per_minute: PositiveInt | None = None
    concurrency: PositiveInt | None = None

    def part(self, of: int) -> "ProviderLimits":
        """Return one of ``of`` equal shares, none of them nothing."""
        given = self.model_dump(exclude_none=True)
        return ProviderLimits(**{name: max(1, number // of) for name, number in given.items()})


NONE = ProviderLimits()


class _Table(RootModel[dict[str, ProviderLimits]]):
    """The limits of all providers, as the setting holds them."""


def read_limits(text: str, *, source: str) -> dict[str, ProviderLimits]:
    """Read limits by provider from JSON; an empty text means that there are none.

    Raises
    ------
    LimitsError
        If it is no such JSON; the message names the source, the provider and the number at fault.
    """
    if not text.strip():
        return {}
    try:
        return _Table.model_validate(json.loads(text)).root
    except json.JSONDecodeError as error:
        msg = f"{source}: not JSON ({error}); for example: {EXAMPLE}"
        raise LimitsError(msg) from error
    except ValidationError as error:
        said = "; ".join(map(_said, error.errors()))
        msg = f"{source}: {said}"
        raise LimitsError(msg) from error


def limits_of(provider: str, limits: Mapping[str, ProviderLimits]) -> ProviderLimits:
    """Return the provider's own limits, or those of all others, or none."""
    return limits.get(provider) or limits.get(OTHERS) or NONE


def provider_of(model: str, address: str = "") -> str:
    """Name the provider of a model: who stands before it, or the host of an address of one's own.

    A model that is named without a provider counts as one of its own.
    """
    if not address:
        return model.partition("/")[0]
    try:
        parts = urlsplit(address if "//" in address else f"//{address}")
    except ValueError:  # no address: it will not be asked
        return address
    return parts.netloc.rpartition("@")[2].lower() or address


def _said(error: Mapping[str, Any]) -> str:
    """Say where one fault is and what would be right."""
    place = " / ".join(map(str, error["loc"])) or "the whole"
    if error["type"] == "extra_forbidden":
        return f"{place}: unknown; known are {', '.join(ProviderLimits.model_fields)}"
    return f"{place}: {error['msg']}"


LONGEST_S = 600.0
"""Nobody is sent away for longer than this, or than the provider asked."""
HURRY = 0.8
"""They come a little sooner than they can be served, so that somebody always waits."""
_WEIGHT = 0.1


@dataclass
class Pace:
    """What one process knows about the speed of a provider."""

    at_once: int
    """How many questions the process asks at once where nothing else is said."""
    hold_s: float = 1.0
    """How long an answer took lately; at first a guess."""
    promised_at: float = 0.0

    def held(self, seconds: float) -> None:
        """Learn how long an answer took."""
        self.hold_s += _WEIGHT * (max(0.0, seconds) - self.hold_s)

    def next_turn_s(
        self, wait_s: float, limits: ProviderLimits, n_tokens: int, now: float
    ) -> float:
        """Return when to come again, in seconds: not before ``wait_s``, and after the last one."""
        step_s = HURRY * self._step_s(limits, n_tokens)
        longest = max(wait_s, LONGEST_S)
        behind_s = self.promised_at + step_s - now
        turn_s = max(wait_s, behind_s) if behind_s <= longest else longest
        self.promised_at = now + turn_s
        return turn_s

    def _step_s(self, limits: ProviderLimits, n_tokens: int) -> float:
        """Return the time that each question takes up at this provider."""
        steps = [self.hold_s / (limits.concurrency or self.at_once)]
        if limits.requests_per_minute is not None:
            steps.append(60 / limits.requests_per_minute)
        if limits.tokens_per_minute is not None:
            steps.append(60 * n_tokens / limits.tokens_per_minute)
        return max(steps)


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
