"""Limits of model providers: requests and tokens in a minute, and how many calls at once."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from completions.llm.limiting.backends import (
        Backend,
        Guarded,
        InProcess,
        OutOfReachError,
        Unused,
    )
    from completions.llm.limiting.buckets import BucketOffer, BucketRequest
    from completions.llm.limiting.limiter import Limiter, NoTurnError, ProviderTurn
    from completions.llm.limiting.limits import (
        NONE,
        LimitsError,
        ProviderLimits,
        limits_of,
        provider_of,
        read_limits,
    )
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "NONE",
    "Backend",
    "BucketOffer",
    "BucketRequest",
    "Guarded",
    "InProcess",
    "Limiter",
    "LimitsError",
    "NoTurnError",
    "OutOfReachError",
    "ProviderLimits",
    "ProviderTurn",
    "Unused",
    "limits_of",
    "provider_of",
    "read_limits",
]
