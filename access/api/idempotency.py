"""``Idempotency-Key``: a request that writes may be sent again, and writes once (ADR-0012)."""

import datetime as dt
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from django.db import transaction
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.errors import KeyReusedError
from access.models import LONGEST_KEY, ApiToken, IdempotencyKey

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
FORM = rf"[!-~]{{1,{LONGEST_KEY}}}"
PARAMETER = OpenApiParameter(
    HEADER,
    {"type": "string", "pattern": f"^{FORM}$"},
    OpenApiParameter.HEADER,
    required=True,
    description="Chosen by you, best a random UUID. Sent again within 24 hours with the same body, "
    f"it gives the same answer, marked `{REPLAYED}: true`, and nothing is written.",
)
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


def once(request: Request, act: Callable[[], StoredAnswer]) -> Response:
    """Answer a request that writes: by acting, or with what it was answered before.

    Raises
    ------
    ValidationError
        If it carries no key, or none that can be one.
    KeyReusedError
        If the token used the key within a day for something else.
    """
    key = request.headers.get(HEADER, "")
    if not re.fullmatch(FORM, key):
        said = f"up to {LONGEST_KEY} printable characters without spaces, such as a random UUID"
        raise ValidationError({HEADER: [f"Send this header: {said}."]})
    if not isinstance(request.auth, ApiToken):
        msg = "only tokens write"
        raise TypeError(msg)
    try:
        found = answer_once(
            token=request.auth,
            key=key,
            request_hash=_hash(request),
            now=timezone.now(),
            act=act,
        )
    except KeyTakenError as error:
        raise KeyReusedError from error
    headers = {REPLAYED: "true"} if found.is_replayed else None
    return Response(found.content, found.status, headers=headers)


def read(request: Request) -> object:
    """Return what was sent.

    Raises
    ------
    ParseError
        If it cannot be read.
    """
    try:
        return request.data
    except RecursionError as error:
        msg = "JSON parse error - nested too deep"
        raise ParseError(msg) from error


def _hash(request: Request) -> str:
    """Return by what a request is known: its spelling does not matter, its content does."""
    content = json.dumps(read(request), sort_keys=True)
    return hashlib.sha256(f"{request.method} {request.path}\n{content}".encode()).hexdigest()


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
        return replace(answer, is_replayed=False)
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
