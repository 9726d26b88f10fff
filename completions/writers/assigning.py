"""Pure rules of handing out: which stratum a writer gets next, and how much is left for them.

Talks that lack most messages go first, so that all fill evenly. Between talks that are equally
empty two shares decide. The *bound* is the care that a writer is owed: of the talks that count
for one, at most so many in a hundred are adversarial. A talk counts while it is held and once a
message was sent for it. One that was skipped or ran out does not, except that an adversarial one
still uses the bound up: who skips hostility is not sent more of it for that, and nobody comes
closer to it by skipping something else. The *pool's* share says when an adversarial talk is due:
as soon as the writer's share would fall behind that of the open talks, so that both strata fill
at one pace and everybody gets a mix. Never two in a row while there is anything else.
"""

import hashlib
from dataclasses import dataclass

REGULAR, ADVERSARIAL = "REGULAR", "ADVERSARIAL"
EVERYTHING = 100  # percent


@dataclass(frozen=True)
class Stock:
    """What one writer may still have of a stratum, and what they had."""

    talks: int = 0
    """Talks that want a message and that the writer never had."""
    slots: int = 0
    """How many messages those talks want in all."""
    kept: int = 0
    """Talks that the writer sent a message for, or holds."""
    given_up: int = 0
    """Talks that the writer skipped, or that ran out."""


@dataclass(frozen=True)
class Standing:
    """Where a writer stands in both strata."""

    regular: Stock = Stock()
    adversarial: Stock = Stock()
    was_adversarial: bool = False
    """Whether the newest talk of theirs was."""

    @property
    def hostile(self) -> int:
        """How many adversarial talks the writer was given, whatever came of them."""
        return self.adversarial.kept + self.adversarial.given_up

    @property
    def counted(self) -> int:
        """How many talks count in the writer's shares."""
        return self.regular.kept + self.hostile


@dataclass(frozen=True)
class ContextOffer:
    """What the writer may be given next."""

    strata: tuple[str, ...]
    """The strata that are allowed and have open talks, the one that is due first."""
    is_even: bool = True
    """Whether the emptiest talk goes first, whichever of these strata it is of."""


def next_offer(standing: Standing, *, most: int, phase: float = 0.0) -> ContextOffer:
    """Say what the writer may be given next.

    ``most`` is the bound in percent. ``phase``, from 0 to below 1, moves the places at which
    adversarial talks are due, so that a pool does not get them all in step.
    """
    if not _has_room(standing, most=most):
        return ContextOffer((REGULAR,) if standing.regular.talks else ())
    if not standing.regular.talks:
        return ContextOffer((ADVERSARIAL,))
    if standing.was_adversarial:
        return ContextOffer((REGULAR, ADVERSARIAL), is_even=False)
    is_due = _is_due(standing, phase=phase)
    return ContextOffer((ADVERSARIAL, REGULAR) if is_due else (REGULAR, ADVERSARIAL))


def n_to_come(standing: Standing, *, most: int) -> int:
    """Return how many talks the writer can still get: all regular ones, and what is allowed."""
    regular, adversarial = standing.regular, standing.adversarial
    if most >= EVERYTHING:
        return regular.talks + adversarial.talks
    in_the_end = most * (regular.kept + regular.talks) // (EVERYTHING - most)
    return regular.talks + min(adversarial.talks, max(0, in_the_end - standing.hostile))


def phase_of(code: str) -> float:
    """Return the writer's own phase, which follows from the pseudonym."""
    digest = hashlib.sha256(f"phase {code}".encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32


def _has_room(standing: Standing, *, most: int) -> bool:
    """Say whether one more adversarial talk exists and stays within the bound."""
    share = EVERYTHING * (standing.hostile + 1)
    return standing.adversarial.talks > 0 and share <= most * (standing.counted + 1)


def _is_due(standing: Standing, *, phase: float) -> bool:
    """Say whether the writer's share would fall behind the pool's without one now."""
    wanted = standing.adversarial.slots
    of = wanted + standing.regular.slots
    return (standing.hostile + 1 - phase) * of <= wanted * (standing.counted + 1)
