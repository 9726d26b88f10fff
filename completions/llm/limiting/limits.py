"""What a provider allows, and when those who were turned away come again."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
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
    if address:
        parts = urlsplit(address if "//" in address else f"//{address}")
        return parts.netloc.rpartition("@")[2].lower() or address
    return model.partition("/")[0]


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
