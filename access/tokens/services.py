"""Make, use and revoke tokens."""

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass

from django.apps import apps
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from access import choices
from access.choices import Scope, is_at_least
from access.log import record
from access.models import LONGEST, ApiToken
from access.roles import role_of
from access.tokens.queries import digest, new_secret, shown_part

MINUTE = dt.timedelta(minutes=1)


class TokenRefusedError(ValueError):
    """A token was asked for that there must not be."""


@dataclass(frozen=True)
class NewToken:
    """What a new token is to be."""

    name: str
    scopes: Collection[Scope]
    lifetime: dt.timedelta
    study: str = ""


@transaction.atomic
def make_token(
    new_token: NewToken, *, owner: User, now: dt.datetime, by: User | None = None
) -> tuple[ApiToken, str]:
    """Make a token.

    Parameters
    ----------
    new_token
        Its name, scopes, lifetime (above 0, at most 366 days) and perhaps the slug of one study.
    owner
        Whose role it acts with.
    now
        When it is made.
    by
        Who makes it; nobody: a command.

    Returns
    -------
    tuple
        The row, and the secret, which is shown once and stored nowhere.

    Raises
    ------
    TokenRefusedError
        If it has no name or no scope, lives too long, is for a study that there is not, or its
        owner may not do what it is for.
    """
    _check(new_token, owner)
    secret = new_secret()
    token = ApiToken.objects.create(
        name=new_token.name,
        prefix=shown_part(secret),
        secret_hash=digest(secret),
        owner=owner,
        scopes=choices.joined(new_token.scopes),
        study=new_token.study,
        created_at=now,
        expires_at=now + new_token.lifetime,
    )
    record(
        action="token.made", subject=f"token {token.prefix}", now=now, by=by, after=_facts(token)
    )
    return token, secret


@transaction.atomic
def revoke_token(token: ApiToken, *, now: dt.datetime, by: User | None = None) -> bool:
    """End a token for good; return whether this did it, and not somebody before."""
    changed = ApiToken.objects.filter(pk=token.pk, revoked_at__isnull=True).update(revoked_at=now)
    if changed:
        record(
            action="token.revoked",
            subject=f"token {token.prefix}",
            now=now,
            by=by,
            before=_facts(token),
        )
    return bool(changed)


def note_use(token: ApiToken, *, now: dt.datetime) -> None:
    """Keep when a token was used last, to the minute: most requests write nothing."""
    if token.last_used_at is not None and token.last_used_at > now - MINUTE:
        return
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - MINUTE)
    ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=now)


def _check(new_token: NewToken, owner: User) -> None:
    if not new_token.name.strip() or not new_token.scopes:
        msg = "a token needs a name and at least one scope"
        raise TokenRefusedError(msg)
    if not dt.timedelta(0) < new_token.lifetime <= LONGEST:
        msg = f"a token lives for 1 to {LONGEST.days} days"
        raise TokenRefusedError(msg)
    # Studies are of an app that builds on this one.
    studies = apps.get_model("annotation", "Study")._default_manager  # noqa: SLF001
    if new_token.study and not studies.filter(slug=new_token.study).exists():
        msg = f"there is no study {new_token.study}"
        raise TokenRefusedError(msg)
    role = role_of(owner)
    lacking = [
        one
        for one in new_token.scopes
        if role is None or not is_at_least(role, choices.least_role(one))
    ]
    if lacking:
        msg = f"the role of {owner.get_username()} is not enough for {', '.join(sorted(lacking))}"
        raise TokenRefusedError(msg)


def _facts(token: ApiToken) -> dict[str, object]:
    return {
        "name": token.name,
        "owner": token.owner.get_username(),
        "scopes": token.scopes,
        "study": token.study,
        "expires_at": token.expires_at.isoformat(),
    }
