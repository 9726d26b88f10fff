"""What a provider allows, as the operator says it, and which provider a question goes to."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, PositiveInt, RootModel, ValidationError

OTHERS = "*"
"""The name under which limits are given for every provider that has none of its own."""
EXAMPLE = '{"openai": {"requests_per_minute": 500, "concurrency": 32}}'


class LimitsError(ValueError):
    """The limits of providers are not given as they have to be."""


class Limits(BaseModel):
    """What a provider takes in a minute and at once; ``None`` means as much as there is."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    requests_per_minute: PositiveInt | None = None
    tokens_per_minute: PositiveInt | None = None
    concurrency: PositiveInt | None = None

    def part(self, of: int) -> "Limits":
        """Return one of ``of`` equal shares, none of them nothing."""
        given = self.model_dump(exclude_none=True)
        return Limits(**{name: max(1, number // of) for name, number in given.items()})


NONE = Limits()


class _Table(RootModel[dict[str, Limits]]):
    """The limits of all providers, as the setting holds them."""


def read_limits(text: str, *, source: str) -> dict[str, Limits]:
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


def limits_of(provider: str, limits: Mapping[str, Limits]) -> Limits:
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
        return f"{place}: unknown; known are {', '.join(Limits.model_fields)}"
    return f"{place}: {error['msg']}"
