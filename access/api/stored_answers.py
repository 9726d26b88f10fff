"""Do what a request asks for once, however often it comes (ADR-0012)."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction

from access.models import ApiToken, IdempotencyKey

KEPT = dt.timedelta(hours=24)
BATCH = 1000


class KeyTakenError(Exception):
    """The key belongs to another request of the same token."""


@dataclass(frozen=True)
class StoredAnswer:
    """A status between 200 and 299, and what goes with it, as JSON holds it."""

    status: int
    content: object
    is_replayed: bool = False


@transaction.atomic
def answer_once(
    *,
    token: ApiToken,
    key: str,
    request_hash: str,
    now: dt.datetime,
    act: Callable[[], StoredAnswer],
) -> StoredAnswer:
    """Act and keep the answer under the key, or give the answer that is kept.

    Both are one transaction: if ``act`` raises, nothing is kept, and the key is free again. An
    equal request at the same moment waits here for the first one, and gets its answer.

    Raises
    ------
    KeyTakenError
        If the token used the key within a day for something else.
    """
    IdempotencyKey.objects.filter(token=token, key=key, made_at__lte=now - KEPT).delete()
    row, is_new = IdempotencyKey.objects.get_or_create(
        token=token, key=key, defaults={"request_hash": request_hash, "made_at": now}
    )
    if is_new:
        answer = act()
        row.status, row.answer = answer.status, answer.content
        row.save(update_fields=["status", "answer"])
        return answer
    if row.request_hash != request_hash or row.status is None:
        raise KeyTakenError
    return StoredAnswer(row.status, row.answer, is_replayed=True)


def forget_idempotency_keys(*, now: dt.datetime) -> int:
    """Delete the keys of which a day has passed, and return how many; safe to run twice."""
    n_deleted = 0
    old = IdempotencyKey.objects.filter(made_at__lte=now - KEPT).order_by("made_at")
    while pks := list(old.values_list("pk", flat=True)[:BATCH]):
        n_deleted += IdempotencyKey.objects.filter(pk__in=pks).delete()[0]
    return n_deleted
