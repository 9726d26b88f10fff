"""Typed builders of tokens."""

import datetime as dt
import itertools
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from access.choices import Role, Scope
from access.models import ApiToken, IdempotencyKey
from access.tokens.services import NewToken, make_token
from tests.factories import NOW
from tests.factories_written_once import make_member, make_user

YEAR = dt.timedelta(days=366)
_serial = itertools.count(1)


def make_token_row(**fields: Any) -> ApiToken:
    owner = fields.pop("owner", None) or make_user()
    number = next(_serial)
    given = {
        "name": "a script",
        "prefix": f"heart_{number:06}",
        "secret_hash": f"{number:064x}",
        "scopes": "read:studies",
        "created_at": NOW,
        "expires_at": NOW + dt.timedelta(days=30),
    }
    return ApiToken.objects.create(**given | fields, owner=owner)


def make_secret(*scopes: Scope, owner: User | None = None, study: str = "") -> str:
    """Return the secret of a token that is valid now, of an owner of the site unless told."""
    owner = owner or make_member(role=Role.OWNER)
    wanted = NewToken("a script", scopes, YEAR, study)
    return make_token(wanted, owner=owner, now=timezone.now())[1]


def bearing(secret: str) -> dict[str, str]:
    """Return the headers of a request with a token."""
    return {"Authorization": f"Bearer {secret}"}


def make_idempotency_key(**fields: Any) -> IdempotencyKey:
    token = fields.pop("token", None) or make_token_row()
    given = {"key": f"key-{next(_serial)}", "request_hash": "a" * 64, "made_at": NOW}
    return IdempotencyKey.objects.create(**given | fields, token=token)
