"""Who is told: webhooks are added, paused and removed by owners, and every act is logged."""

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction

from access.choices import DeliveryState, HookEvent
from access.log import record
from access.models import Hook, HookDelivery
from access.nudges import SOON_S, Work, nudge
from access.webhooks import outgoing, signing
from access.webhooks.queries import shown_address
from access.webhooks.services.events import Event, enqueue

MOST_HOOKS = 20


class TooManyHooksError(Exception):
    """No more webhooks are taken: each event costs a message to every one."""


class HookStateError(Exception):
    """The webhook was removed, or the message waits already."""


@dataclass(frozen=True)
class NewHook:
    """What a new webhook is to be."""

    url: str
    events: Collection[HookEvent]


@transaction.atomic
def add_hook(
    new_hook: NewHook, *, rules: outgoing.Rules, chance: bytes, by: User, now: dt.datetime
) -> Hook:
    """Add a webhook with a secret made from ``chance``; its ``secret`` is to be shown once.

    Raises
    ------
    outgoing.AddressError
        If nothing is sent to such an address.
    TooManyHooksError
        If there are as many as there may be.
    """
    outgoing.read_target(new_hook.url, rules)
    if Hook.objects.filter(removed_at=None).count() >= MOST_HOOKS:
        raise TooManyHooksError
    events = [event.value for event in HookEvent if event in new_hook.events]
    hook = Hook.objects.create(
        url=new_hook.url,
        secret=signing.secret_of(chance),
        events=events,
        created_at=now,
        created_by=by,
    )
    after: dict[str, object] = {"url": shown_address(hook.url), "events": events}
    _log(hook, "hook.added", by=by, now=now, after=after)
    return hook


@transaction.atomic
def set_active(hook: Hook, *, is_active: bool, by: User, now: dt.datetime) -> Hook:
    """Pause a webhook, or resume it; what is queued waits meanwhile.

    Raises
    ------
    HookStateError
        If it was removed.
    """
    hook = _lock(hook)
    if hook.is_active != is_active:
        hook.is_active = is_active
        hook.save(update_fields=["is_active"])
        _log(hook, "hook.resumed" if is_active else "hook.paused", by=by, now=now)
        nudge(Work.DELIVER_HOOKS, within_s=SOON_S)
    return hook


@transaction.atomic
def remove_hook(hook: Hook, *, by: User, now: dt.datetime) -> None:
    """Tell a webhook nothing more: its secret is forgotten, and what waits for it is given up.

    Raises
    ------
    HookStateError
        If it was removed before.
    """
    hook = _lock(hook)
    hook.is_active, hook.secret, hook.removed_at = False, "", now
    hook.save(update_fields=["is_active", "secret", "removed_at"])
    waiting = HookDelivery.objects.filter(hook=hook, state=DeliveryState.PENDING)
    waiting.update(
        state=DeliveryState.ABANDONED,
        next_attempt_at=None,
        claimed_at=None,
        error="The webhook was removed.",
    )
    _log(hook, "hook.removed", by=by, now=now, after={"url": shown_address(hook.url)})


@transaction.atomic
def send_test(hook: Hook, *, by: User, now: dt.datetime) -> None:
    """Queue an event that says nothing but that somebody tries the webhook.

    Raises
    ------
    HookStateError
        If it was removed.
    """
    hook = _lock(hook)
    key = f"test/{hook.pk}/{now.isoformat()}"
    enqueue(hook, Event(HookEvent.TEST, key), now=now)
    _log(hook, "hook.tested", by=by, now=now)


@transaction.atomic
def resend(delivery: HookDelivery, *, by: User, now: dt.datetime) -> None:
    """Queue a message once more that was taken or given up; its event keeps its id.

    Raises
    ------
    HookStateError
        If it waits already, or its webhook was removed.
    """
    hook = _lock(delivery.hook)
    row = HookDelivery.objects.select_for_update().get(pk=delivery.pk)
    if row.state == DeliveryState.PENDING:
        raise HookStateError
    row.state, row.attempts, row.error = DeliveryState.PENDING, 0, ""
    row.wanted_since = row.next_attempt_at = now
    row.delivered_at = None
    row.save()
    nudge(Work.DELIVER_HOOKS, within_s=SOON_S)
    _log(hook, "hook.resent", by=by, now=now, after={"event": str(row.event_id)})


def _lock(hook: Hook) -> Hook:
    locked = Hook.objects.select_for_update().get(pk=hook.pk)
    if locked.removed_at is not None:
        raise HookStateError
    return locked


def _log(
    hook: Hook, action: str, *, by: User, now: dt.datetime, after: dict[str, object] | None = None
) -> None:
    record(action=action, subject=f"webhook {hook.pk}", now=now, by=by, after=after)
