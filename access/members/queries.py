"""What pages show of members, and the links at which they set their password."""

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.contrib.auth.models import User
from django.urls import reverse

from access.choices import Role
from access.roles import role_of


@dataclass(frozen=True)
class MemberRow:
    """What a page says of a member."""

    pk: int
    username: str
    email: str
    role: Role
    role_name: str
    since: dt.datetime
    last_login: dt.datetime | None
    has_password: bool
    has_second_factor: bool


def shown(rows: Iterable[User]) -> Iterator[MemberRow]:
    """Yield members of ``team()`` as pages show them."""
    for user in rows:
        role = role_of(user)
        if role is not None:
            yield MemberRow(
                pk=user.pk,
                username=user.get_username(),
                email=user.email,
                role=role,
                role_name=role.label.partition(":")[0],
                since=user.date_joined if user.is_superuser else user.member.since,
                last_login=user.last_login,
                has_password=user.has_usable_password(),
                has_second_factor=getattr(user, "has_second_factor", False),
            )


def password_link(user: User) -> str:
    """Return the path at which somebody sets their password, once and within three days."""
    key = default_token_generator.make_token(user)
    of_whom = {"uidb36": user_pk_to_url_str(user), "key": key}
    return reverse("account_reset_password_from_key", kwargs=of_whom)
