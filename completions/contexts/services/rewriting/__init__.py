"""Make adversarial contexts: plan rewrites, have them written, checked and rated, keep or drop."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from django.db.models import QuerySet

from completions.choices import RewriteState
from completions.contexts.services.rewriting.answering import RewriteCalls
from completions.contexts.services.rewriting.planning import (
    Assistants,
    NoSourceLeftError,
    plan,
    settle,
    take_up_refused,
)
from completions.models import Dataset, Rewrite
from completions.runs import pulling
from completions.runs.services import asking, calling
from completions.runs.services.calling import Clock
from completions.runs.services.exclusive import sole_worker

__all__ = ["Assistants", "NoSourceLeftError", "RewritingReport", "make_adversarial_contexts"]

PULL_S = 20.0
PAUSE_S = 1.0
_TURN = threading.Lock()

Told = Callable[[int, int], None]


@dataclass(frozen=True)
class RewritingReport:
    """Adversarial contexts in use, how many were made now, and why others were dropped now."""

    n_contexts: int
    n_added: int
    dropped: tuple[str, ...]
    are_simulated: bool

    @property
    def summary(self) -> str:
        """What there is now, with the word where the offline provider answered, in one line."""
        simulated = ", simulated: the offline provider answered" if self.are_simulated else ""
        return f"{self.n_contexts:,} adversarial contexts ({self.n_added:,} new){simulated}"


def make_adversarial_contexts(
    *,
    dataset: Dataset,
    n: int,
    seed: int,
    assistants: Assistants,
    clock: Clock,
    told: Told = lambda _done, _wanted: None,
) -> RewritingReport:
    """Bring the dataset's adversarial contexts to ``n``, by rewriting regular ones.

    Real and simulated assistants are counted apart. What was dropped is replaced by another
    source. A killed run goes on where it was: no call that was answered is made again. ``told``
    is called with how many there are and how many are wanted.

    Raises
    ------
    NoSourceLeftError
        If there are not enough regular contexts to rewrite; what was made stays.
    ProviderRefusesError
        If a provider takes no question, whatever it is about; no source is used up.
    AnotherAtWorkError
        If another process is at it.
    """
    made = assistants.made(dataset)

    def tell() -> None:
        told(made.count(), n)

    calls = assistants.calls(dataset)
    ask = partial(asking.ask, RewriteCalls(calls), clock=clock, duration_s=PULL_S, turn=_TURN)
    with sole_worker("rewriting contexts"):
        before, dropped_before = made.count(), _dropped(dataset, assistants).count()
        calling.forget_claims(calls)
        take_up_refused(dataset, assistants)
        settle(dataset, assistants, clock())
        while not pulling.STOPPING.is_set() and plan(dataset, n, seed, assistants, clock()):
            n_ended = ask(stored=tell)
            settle(dataset, assistants, clock())
            if not n_ended:
                tell()  # a sign of life
                pulling.STOPPING.wait(PAUSE_S)  # a provider asked to be left alone for a while
        tell()
    after = made.count()
    reasons = _dropped(dataset, assistants).values_list("reason", flat=True)
    dropped = tuple(reasons[dropped_before:])
    return RewritingReport(after, after - before, dropped, assistants.are_simulated)


def _dropped(dataset: Dataset, assistants: Assistants) -> QuerySet[Rewrite]:
    """Return what was dropped, in the order in which it was."""
    dropped = Rewrite.objects.filter(assistants.of(dataset), state=RewriteState.DROPPED)
    return dropped.order_by("ended_at", "pk")
