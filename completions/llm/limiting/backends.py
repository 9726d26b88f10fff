"""Where accounts of providers are kept: the interface, and the kind inside one process."""

import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from completions.llm.limiting.buckets import Account, Offer, Wanted
from completions.llm.limiting.limits import Limits

Seconds = Callable[[], float]
"""A clock."""


class OutOfReachError(RuntimeError):
    """The accounts cannot be reached just now."""


@dataclass(frozen=True)
class Unused:
    """What a question was charged and did not use; tokens below zero: it used more."""

    n_requests: int = 0
    n_tokens: int = 0


class Backend(Protocol):
    """Keeper of the accounts; each method is one act that nobody else can come between.

    A keeper elsewhere raises OutOfReachError when it does not answer.
    """

    async def take(self, wanted: Wanted, limits: Limits) -> Offer:
        """Take the next turn if it comes soon enough."""

    async def settle(self, wanted: Wanted, limits: Limits, unused: Unused) -> None:
        """Free the place and give back what was not used."""

    async def block(self, provider: str, seconds: float) -> None:
        """Let nobody ask the provider for some time."""

    async def blocked_s(self, provider: str) -> float:
        """Return for how long nobody may ask the provider."""

    async def close(self) -> None:
        """Let go of connections."""


@dataclass
class InProcess:
    """Accounts in the memory of this process."""

    clock: Seconds
    _accounts: defaultdict[str, Account] = field(default_factory=lambda: defaultdict(Account))
    _turn: threading.Lock = field(default_factory=threading.Lock)

    async def take(self, wanted: Wanted, limits: Limits) -> Offer:
        """Take the next turn if it comes soon enough."""
        with self._turn:
            return self._accounts[wanted.provider].take(wanted, limits, self.clock())

    async def settle(self, wanted: Wanted, limits: Limits, unused: Unused) -> None:
        """Free the place and give back what was not used."""
        back = {"n_requests": unused.n_requests, "n_tokens": unused.n_tokens}
        with self._turn:
            account = self._accounts[wanted.provider]
            account.settle(wanted.place, limits, self.clock(), **back)

    async def block(self, provider: str, seconds: float) -> None:
        """Let nobody ask the provider for some time."""
        with self._turn:
            self._accounts[provider].block(seconds, self.clock())

    async def blocked_s(self, provider: str) -> float:
        """Return for how long nobody may ask the provider."""
        with self._turn:
            return self._accounts[provider].blocked_s(self.clock())

    async def close(self) -> None:
        """Do nothing: there are no connections."""
