"""Pure rules of handing out: which stratum a writer gets next, and how much is left for them.

Dialogues that lack most messages go first, so that all fill evenly. Between dialogues that are
equally empty two shares decide. The *bound* is the care that a writer is owed: of the dialogues
that count for one, at most so many in a hundred are adversarial. A dialogue counts while it is held
and once a message was sent for it. One that was skipped or ran out does not, except that an
adversarial one still uses the bound up: who skips hostility is not sent more of it for that, and
nobody comes closer to it by skipping something else. The *pool's* share says when an adversarial
dialogue is due: as soon as the writer's share would fall behind that of the open dialogues, so that
both strata fill at one pace and everybody gets a mix. Never two in a row while there is anything
else.
"""

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

REGULAR, ADVERSARIAL = "REGULAR", "ADVERSARIAL"
EVERYTHING = 100  # percent


@dataclass(frozen=True)
class Stock:
    """What one writer may still have of a stratum, and what they had."""

    dialogues: int = 0
    """Dialogues that want a message and that the writer never had."""
    slots: int = 0
    """How many messages those dialogues want in all."""
    kept: int = 0
    """Dialogues that the writer sent a message for, or holds."""
    given_up: int = 0
    """Dialogues that the writer skipped, or that ran out."""


@dataclass(frozen=True)
class WriterStatus:
    """Where a writer stands in both strata."""

    regular: Stock = Stock()
    adversarial: Stock = Stock()
    was_adversarial: bool = False
    """Whether the newest dialogue of theirs was."""

    @property
    def hostile(self) -> int:
        """How many adversarial dialogues the writer was given, whatever came of them."""
        return self.adversarial.kept + self.adversarial.given_up

    @property
    def counted(self) -> int:
        """How many dialogues count in the writer's shares."""
        return self.regular.kept + self.hostile


class ContextOffer(NamedTuple):
    """What the writer may be given next."""

    strata: tuple[str, ...]
    """The strata that are allowed and have open dialogues, the one that is due first."""
    is_even: bool = True
    """Whether the emptiest dialogue goes first, whichever of these strata it is of."""


def next_offer(status: WriterStatus, *, most: int, phase: float = 0.0) -> ContextOffer:
    """Say what the writer may be given next.

    ``most`` is the bound in percent. ``phase``, from 0 to below 1, moves the places at which
    adversarial dialogues are due, so that a pool does not get them all in step.
    """
    if not _has_room(status, most=most):
        return ContextOffer((REGULAR,) if status.regular.dialogues else ())
    if not status.regular.dialogues:
        return ContextOffer((ADVERSARIAL,))
    if status.was_adversarial:
        return ContextOffer((REGULAR, ADVERSARIAL), is_even=False)
    is_due = _is_due(status, phase=phase)
    return ContextOffer((ADVERSARIAL, REGULAR) if is_due else (REGULAR, ADVERSARIAL))


def n_to_come(status: WriterStatus, *, most: int) -> int:
    """Return how many dialogues the writer can still get: all regular ones, and what is allowed."""
    regular, adversarial = status.regular, status.adversarial
    if most >= EVERYTHING:
        return regular.dialogues + adversarial.dialogues
    in_the_end = most * (regular.kept + regular.dialogues) // (EVERYTHING - most)
    return regular.dialogues + min(adversarial.dialogues, max(0, in_the_end - status.hostile))


def phase_of(code: str) -> float:
    """Return the writer's own phase, which follows from the pseudonym."""
    digest = hashlib.sha256(f"phase {code}".encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32


def _has_room(status: WriterStatus, *, most: int) -> bool:
    """Say whether one more adversarial dialogue exists and stays within the bound."""
    share = EVERYTHING * (status.hostile + 1)
    return status.adversarial.dialogues > 0 and share <= most * (status.counted + 1)


def _is_due(status: WriterStatus, *, phase: float) -> bool:
    """Say whether the writer's share would fall behind the pool's without one now."""
    slots = status.adversarial.slots
    of = slots + status.regular.slots
    return (status.hostile + 1 - phase) * of <= slots * (status.counted + 1)
