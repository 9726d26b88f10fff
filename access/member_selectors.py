"""Read who belongs to the team."""

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from access.choices import Role
from access.selectors import role_of, users


@dataclass(frozen=True)
class MemberShown:
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


def team() -> QuerySet[User]:
    """Return everybody with a role, by name."""
    has_role = Q(is_superuser=True) | Q(member__isnull=False)
    return users().filter(has_role, is_active=True).order_by("username", "pk")


def owners() -> QuerySet[User]:
    """Return who owns the site."""
    return team().filter(Q(is_superuser=True) | Q(member__role=Role.OWNER))


def member_with_address(email: str) -> User | None:
    """Return the member of an e-mail address; nobody if it is not one member's alone."""
    found = list(team().filter(email__iexact=email)[:2])
    return found[0] if email and len(found) == 1 else None


def shown(rows: Iterable[User]) -> Iterator[MemberShown]:
    """Yield members of ``team()`` as pages show them."""
    for user in rows:
        role = role_of(user)
        if role is not None:
            yield MemberShown(
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
