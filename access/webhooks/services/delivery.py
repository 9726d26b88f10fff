"""Send what waits for webhooks; the rows are the queue (ADR-0004)."""

import datetime as dt
import json
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from django.conf import settings
from django.db import transaction
from django.db.models import F, Min, Q, QuerySet

from access.choices import DeliveryState
from access.models import HookDelivery
from access.webhooks import outgoing, signing

Clock = Callable[[], dt.datetime]
Post = Callable[..., outgoing.Reply]
Outcome = outgoing.Reply | Exception

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
    is_free = Q(claimed_at=None) | Q(claimed_at__lte=now - RETRY_AFTER)
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
    if isinstance(outcome, outgoing.Reply) and outcome.is_taken:
        taken = mine.update(
            state=DeliveryState.DELIVERED,
            delivered_at=now,
            last_status=outcome.status,
            next_attempt_at=None,
            claimed_at=None,
            error="",
        )
        return taken == 1
    mine.update(claimed_at=None, **_told(outcome), **_again(row, outcome, now))
    return False


def _told(outcome: Outcome) -> dict[str, object]:
    if isinstance(outcome, outgoing.Reply):
        return {"last_status": outcome.status, "error": f"Answered {outcome.status}."}
    return {"last_status": None, "error": str(outcome)[:500]}


def _again(row: HookDelivery, outcome: Outcome, now: dt.datetime) -> dict[str, object]:
    """Say when it is tried again; a receiver that is gone is not asked again."""
    is_gone = isinstance(outcome, outgoing.Reply) and outcome.is_gone
    at = (
        None
        if is_gone
        else outgoing.next_attempt(
            attempts=row.attempts, since=row.wanted_since, now=now, key=str(row.event_id)
        )
    )
    state = DeliveryState.ABANDONED if at is None else DeliveryState.PENDING
    return {"state": state, "next_attempt_at": at}


def _rows(rows: Sequence[HookDelivery]) -> QuerySet[HookDelivery]:
    return HookDelivery.objects.filter(pk__in=[row.pk for row in rows])
