"""Who is told, what happened, and its sending; the rows are the queue (ADR-0004)."""

import datetime as dt
import json
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from http import HTTPStatus

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Min, Q, QuerySet

from access.choices import DeliveryState, HookEvent
from access.log import record
from access.models import Hook, HookDelivery
from access.nudges import SOON_S, Work, is_lost, nudge
from access.webhooks import outgoing, signing

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


MOST_HOOKS = 20


class TooManyHooksError(Exception):
    """No more webhooks are taken: each event costs a message to every one."""


class HookStateError(Exception):
    """The webhook was removed, or the message waits already."""


@transaction.atomic
def add_hook(
    url: str,
    events: Collection[HookEvent],
    *,
    rules: outgoing.Rules,
    chance: bytes,
    by: User,
    now: dt.datetime,
) -> Hook:
    """Add a webhook with a secret made from ``chance``; its ``secret`` is to be shown once.

    Raises
    ------
    outgoing.AddressError
        If nothing is sent to such an address.
    TooManyHooksError
        If there are as many as there may be.
    """
    outgoing.read_target(url, rules)
    if Hook.objects.filter(removed_at=None).count() >= MOST_HOOKS:
        raise TooManyHooksError
    names = [event.value for event in HookEvent if event in events]
    hook = Hook.objects.create(
        url=url,
        secret=signing.secret_of(chance),
        events=names,
        created_at=now,
        created_by=by,
    )
    after: dict[str, object] = {"url": hook.shown_url, "events": names}
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
    """Tell a webhook nothing more: its secrets are forgotten, and what waits for it is given up.

    Raises
    ------
    HookStateError
        If it was removed before.
    """
    hook = _lock(hook)
    hook.is_active, hook.secret, hook.removed_at, hook.url = False, "", now, hook.shown_url
    hook.save(update_fields=["is_active", "secret", "removed_at", "url"])
    waiting = HookDelivery.objects.filter(hook=hook, state=DeliveryState.PENDING)
    waiting.update(
        state=DeliveryState.ABANDONED,
        next_attempt_at=None,
        claimed_at=None,
        error="The webhook was removed.",
    )
    _log(hook, "hook.removed", by=by, now=now, after={"url": hook.shown_url})


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


Clock = Callable[[], dt.datetime]
Post = Callable[..., int]
Outcome = int | Exception
"""The status of an answer, or why there was none."""

BATCH = 24
PER_HOOK = 4
"""How many a tick sends to one webhook: one that is slow leaves room for the others."""
AT_ONCE = 8
PATIENCE_S = 30.0
RETRY_AFTER = dt.timedelta(minutes=2)
"""When a claim counts as lost: longer than any sending takes."""


def deliver(*, clock: Clock, rules: outgoing.Rules, post: Post = outgoing.post) -> int:
    """Send a batch of what is due; return how many messages were taken.

    Safe to run twice and at once: a message that somebody claimed is left alone until the claim
    is two minutes old, so it goes at least once, and twice only if a sender died between sending
    and storing. No transaction is open while a receiver is waited for.
    """
    claimed = _claim(clock())
    if not claimed:
        return 0
    pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="hooks")
    try:
        sent = {pool.submit(_send, row, clock(), rules, post): row for row in claimed}
        done, _late = wait(sent, timeout=PATIENCE_S)
        # What a name server holds up is not waited for: its claim ages, and it goes again.
        return sum(_store(sent[one], _outcome(one), now=clock()) for one in done)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def seconds_to_next(*, now: dt.datetime) -> float | None:
    """Return how long until a message that nobody has in hand is due, or None if none waits."""
    waiting = HookDelivery.objects.filter(
        state=DeliveryState.PENDING, claimed_at=None, hook__is_active=True
    )
    first: dt.datetime | None = waiting.aggregate(at=Min("next_attempt_at"))["at"]
    return None if first is None else max(0.0, (first - now).total_seconds())


def outgoing_rules() -> outgoing.Rules:
    """Return what the settings allow beyond public addresses by https."""
    return outgoing.Rules(
        allows_http=settings.HEART_HOOK_HTTP, trusted_hosts=tuple(settings.HEART_HOOK_HOSTS)
    )


@transaction.atomic
def _claim(now: dt.datetime) -> list[HookDelivery]:
    """Take messages that are due and that no other sender has, a few of each webhook."""
    is_free = Q(claimed_at=None) | is_lost(now=now, after=RETRY_AFTER)
    due = HookDelivery.objects.filter(
        is_free, state=DeliveryState.PENDING, next_attempt_at__lte=now, hook__is_active=True
    )
    keys: list[int] = []
    for hook in due.order_by("hook").values_list("hook", flat=True).distinct():
        keys += (
            due.filter(hook=hook)
            .order_by("next_attempt_at", "pk")
            .values_list("pk", flat=True)[:PER_HOOK]
        )
    rows = due.filter(pk__in=keys).select_related("hook").order_by("next_attempt_at", "pk")
    claimed = list(rows.select_for_update(skip_locked=True, of=("self",))[:BATCH])
    _rows(claimed).update(claimed_at=now, attempts=F("attempts") + 1)
    for row in claimed:
        row.attempts, row.claimed_at = row.attempts + 1, now
    return claimed


def _send(row: HookDelivery, now: dt.datetime, rules: outgoing.Rules, post: Post) -> Outcome:
    """Send one message; it knows everything it needs, and asks the database nothing."""
    body = json.dumps(row.payload, separators=(",", ":"), sort_keys=True).encode()
    headers = signing.headers(
        body, event=row.event, event_id=str(row.event_id), secret=row.hook.secret, now=now
    )
    return post(row.hook.url, body, headers, rules=rules)


def _outcome(one: "Future[Outcome]") -> Outcome:
    try:
        return one.result()
    except (outgoing.PostError, outgoing.AddressError) as error:
        return error


@transaction.atomic
def _store(row: HookDelivery, outcome: Outcome, *, now: dt.datetime) -> bool:
    """Write down what came of a message that is still this sender's; say whether it was taken."""
    mine = _rows([row]).filter(claimed_at=row.claimed_at, state=DeliveryState.PENDING)
    if isinstance(outcome, int) and outgoing.is_taken(outcome):
        taken = mine.update(
            state=DeliveryState.DELIVERED,
            delivered_at=now,
            last_status=outcome,
            next_attempt_at=None,
            claimed_at=None,
            error="",
        )
        return taken == 1
    mine.update(claimed_at=None, **_told(outcome), **_again(row, outcome, now))
    return False


def _told(outcome: Outcome) -> dict[str, object]:
    if isinstance(outcome, int):
        return {"last_status": outcome, "error": f"Answered {outcome}."}
    return {"last_status": None, "error": str(outcome)[:500]}


def _again(row: HookDelivery, outcome: Outcome, now: dt.datetime) -> dict[str, object]:
    """Say when it is tried again; a receiver that is gone is not asked again."""
    at = (
        None
        if outcome == HTTPStatus.GONE
        else outgoing.next_attempt(
            attempts=row.attempts, since=row.wanted_since, now=now, key=str(row.event_id)
        )
    )
    state = DeliveryState.ABANDONED if at is None else DeliveryState.PENDING
    return {"state": state, "next_attempt_at": at}


def _rows(rows: Sequence[HookDelivery]) -> QuerySet[HookDelivery]:
    return HookDelivery.objects.filter(pk__in=[row.pk for row in rows])
