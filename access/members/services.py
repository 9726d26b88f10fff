"""Who belongs to the team, and with which role."""

import datetime as dt

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from access.choices import Role
from access.models import ApiToken, Member
from access.roles import owners, role_of, team, user_named
from access.sign_in.services import end_sessions, note
from access.tokens.services import revoke_token


class MemberRefusedError(ValueError):
    """Somebody cannot be made a member so; the message says why."""


class LastOwnerError(ValueError):
    """Without this owner there would be none."""


class NoMemberError(ValueError):
    """Somebody is no member of the team, or not any more."""


@transaction.atomic
def add_member(
    username: str, role: Role, *, email: str = "", now: dt.datetime, by: User | None = None
) -> User:
    """Add somebody without a password: a link to set one is theirs to get.

    Whoever was a member before is one again, with nothing left of how they signed in. Single
    sign-on knows them by their e-mail address.

    Raises
    ------
    MemberRefusedError
        If the name or the address is none, or belongs to somebody else.
    """
    _lock_team()
    _check(username, email)
    user = user_named(username) or User(username=username)
    user.email, user.is_active = email, True
    user.set_unusable_password()
    user.save()
    _forget_sign_in(user)
    Member.objects.update_or_create(user=user, defaults={"role": role, "since": now})
    after = {"role": role.value, "has_address": bool(email)}
    note("member.added", user, now=now, by=by, after=after)
    return User.objects.select_related("member").get(pk=user.pk)


@transaction.atomic
def change_role(user: User, role: Role, *, now: dt.datetime, by: User | None = None) -> bool:
    """Give a member another role; return whether it is another.

    A superuser becomes a member with that role, and no more.

    Raises
    ------
    NoMemberError
        If they are not in the team.
    LastOwnerError
        If nobody else owns the site.
    """
    before = _locked_role(user)
    if before is role:
        return False
    _keep_an_owner(user)
    User.objects.filter(pk=user.pk).update(is_superuser=False)
    Member.objects.update_or_create(
        user=user, defaults={"role": role}, create_defaults={"role": role, "since": now}
    )
    note(
        "member.role-changed",
        user,
        now=now,
        by=by,
        before={"role": before.value},
        after={"role": role.value},
    )
    return True


@transaction.atomic
def remove_member(user: User, *, now: dt.datetime, by: User | None = None) -> None:
    """End what somebody may do here: their sessions, tokens, password and second factor.

    What they did stays in the log under their name.

    Raises
    ------
    NoMemberError
        If they are not in the team.
    LastOwnerError
        If nobody else owns the site.
    """
    before = _locked_role(user)
    _keep_an_owner(user)
    for token in ApiToken.objects.filter(owner=user, revoked_at__isnull=True):
        revoke_token(token, now=now, by=by)
    Member.objects.filter(user=user).delete()
    user.is_active = user.is_superuser = user.is_staff = False
    user.set_unusable_password()
    user.save(update_fields=["is_active", "is_superuser", "is_staff", "password"])
    _forget_sign_in(user)
    note("member.removed", user, now=now, by=by, before={"role": before.value})


@transaction.atomic
def reset_second_factor(user: User, *, now: dt.datetime, by: User | None = None) -> None:
    """Forget somebody's authenticator app and recovery codes, and sign them out everywhere."""
    _forget_sign_in(user)
    note("second-factor.reset", user, now=now, by=by)


def make_password_link(user: User, *, now: dt.datetime, by: User | None = None) -> str:
    """Return the path at which somebody sets their password, once and within three days."""
    note("password.link-made", user, now=now, by=by)
    key = default_token_generator.make_token(user)
    of_whom = {"uidb36": user_pk_to_url_str(user), "key": key}
    return reverse("account_reset_password_from_key", kwargs=of_whom)


def _check(username: str, email: str) -> None:
    try:
        UnicodeUsernameValidator()(username)
        if email:
            validate_email(email)
    except ValidationError as error:
        raise MemberRefusedError(" ".join(error.messages)) from error
    there = user_named(username)
    if there is not None and role_of(there) is not None:
        raise MemberRefusedError(_("There is a member of that name."))
    if email and team().filter(email__iexact=email).exists():
        raise MemberRefusedError(_("There is a member with that address."))


def _lock_team() -> None:
    """Have every other change of the team wait for this one."""
    list(Member.objects.select_for_update().order_by("pk"))
    list(User.objects.select_for_update().filter(is_superuser=True).order_by("pk"))


def _locked_role(user: User) -> Role:
    """Return somebody's role, which stays so until this is done."""
    _lock_team()
    role = role_of(User.objects.select_related("member").get(pk=user.pk))
    if role is None:
        raise NoMemberError(user.get_username())
    return role


def _keep_an_owner(user: User) -> None:
    if not owners().exclude(pk=user.pk).exists():
        raise LastOwnerError(user.get_username())


def _forget_sign_in(user: User) -> None:
    Authenticator.objects.filter(user=user).delete()
    end_sessions(user)
