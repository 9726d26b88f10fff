"""``Idempotency-Key``: a request that writes may be sent again, and writes once (ADR-0012)."""

import hashlib
import json
import re
from collections.abc import Callable

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from access.api.errors import KeyReusedError
from access.api.stored_answers import KeyTakenError, StoredAnswer, answer_once
from access.models import LONGEST_KEY, ApiToken

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


def _hash(request: Request) -> str:
    """Return by what a request is known: its spelling does not matter, its content does."""
    content = json.dumps(request.data, sort_keys=True)
    return hashlib.sha256(f"{request.method} {request.path}\n{content}".encode()).hexdigest()
