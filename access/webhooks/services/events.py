"""Queue what happened for the hooks that are told of it (ADR-0056)."""

import datetime as dt
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from access.choices import HookEvent
from access.models import Hook, HookDelivery
from access.nudges import SOON_S, Work, nudge

NAMESPACE = uuid.UUID("6f1c1f6e-5f0c-5a5d-9b7e-3f2b1f0a7c11")
"""Makes the id of an event from its key: the same event has one id, whoever is told."""


@dataclass(frozen=True)
class Event:
    """An event as its receivers see it.

    ``key`` makes it that event: a second one of the same key is none. ``data`` names things of
    the site by their public names; it holds neither texts nor anything about a person.
    """

    event: HookEvent
    key: str
    data: Mapping[str, object] = field(default_factory=dict)

    @property
    def event_id(self) -> uuid.UUID:
        """The event's id."""
        return uuid.uuid5(NAMESPACE, self.key)


def is_awaited(event: HookEvent) -> bool:
    """Say whether any hook is told of such events."""
    return bool(_listening(event))


def announce(happening: Event, *, now: dt.datetime) -> int:
    """Queue an event for each hook that is told of it; return for how many it is new.

    Call it inside the transaction of what happened. Safe to repeat.
    """
    hooks = _listening(happening.event)
    return sum(enqueue(hook, happening, now=now) for hook in hooks)


def enqueue(hook: Hook, happening: Event, *, now: dt.datetime) -> bool:
    """Queue an event for one hook; return False if it was queued before."""
    payload = {
        "id": str(happening.event_id),
        "event": happening.event.value,
        "at": now.isoformat(),
        "data": dict(happening.data),
    }
    _, is_new = HookDelivery.objects.get_or_create(
        hook=hook,
        event_key=happening.key,
        defaults={
            "event_id": happening.event_id,
            "event": happening.event,
            "payload": payload,
            "queued_at": now,
            "wanted_since": now,
            "next_attempt_at": now,
        },
    )
    if is_new:
        nudge(Work.DELIVER_HOOKS, within_s=SOON_S)
    return is_new


def _listening(event: HookEvent) -> list[Hook]:
    """Return the hooks that are told of such events; there are few, and one look finds them."""
    return [hook for hook in Hook.objects.filter(is_active=True) if event in hook.events]
