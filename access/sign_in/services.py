"""What the log says of signing in: what failed, what was locked, what protects an account.

Names that no account has are not written down: somebody may have typed a password there, and
strangers could fill a log that nobody can shorten.
"""

import datetime as dt
from collections.abc import Collection

from allauth.mfa import signals
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_out
from django.core.cache import cache
from django.http import HttpRequest
from django.utils import timezone

from access.log import record
from access.roles import user_named

ONCE_IN = 5 * 60
"""Seconds in which one lock of an account is one entry."""


def note_failed_sign_in(username: str, *, now: dt.datetime, step: str = "password") -> None:
    """Write down that a password or a code was wrong."""
    user = user_named(username)
    if user is not None:
        note("sign-in.failed", user, now=now, after={"step": step})


def note_locked_sign_in(username: str, *, now: dt.datetime) -> None:
    """Write down, once in five minutes, that attempts were refused for their number."""
    user = user_named(username)
    if user is not None and cache.add(f"sign-in-locked:{user.pk}", 1, timeout=ONCE_IN):
        note("sign-in.locked", user, now=now, after={"step": "password"})


def note_second_factor(user: User, *, is_added: bool, kind: str, now: dt.datetime) -> None:
    """Write down that somebody's second factor, or their recovery codes, came or went."""
    action = "second-factor.added" if is_added else "second-factor.removed"
    note(action, user, now=now, by=user, after={"kind": kind})


def note_password(user: User, *, now: dt.datetime) -> None:
    """Write down that somebody has set a password of their own."""
    note("password.set", user, now=now, by=user)


def end_sessions(user: User, *, keep: str = "") -> None:
    """Sign somebody out everywhere, but in the session of the key ``keep``."""
    for session in UserSession.objects.filter(user=user).exclude(session_key=keep):
        session.end()


def forget_where_signed_in(keys: Collection[str]) -> None:
    """Delete from which addresses the sessions of these keys came; they are over."""
    UserSession.objects.filter(session_key__in=keys).delete()


def note(
    action: str,
    user: User,
    *,
    now: dt.datetime,
    by: User | None = None,
    before: dict[str, object] | None = None,
    after: dict[str, object] | None = None,
) -> None:
    """Write down what was done to an account."""
    subject = f"member {user.get_username()}"
    record(action=action, subject=subject, now=now, by=by, before=before, after=after)


def connect() -> None:
    """Listen to the library from now on; it tells once its transaction is committed."""
    signals.authenticator_added.connect(_added, dispatch_uid="heart-second-factor-added")
    signals.authenticator_removed.connect(_removed, dispatch_uid="heart-second-factor-removed")
    signals.authenticator_reset.connect(_reset, dispatch_uid="heart-second-factor-reset")
    user_logged_out.connect(_signed_out, dispatch_uid="heart-signed-out")
    signals.authentication_failed.connect(_failed, dispatch_uid="heart-second-factor-failed")


def _added(*, request: HttpRequest, user: User, authenticator: Authenticator, **_: object) -> None:
    note_second_factor(user, is_added=True, kind=authenticator.type, now=timezone.now())
    # What was signed in to with the password alone elsewhere is signed in to anew.
    end_sessions(user, keep=request.session.session_key or "")


def _removed(*, user: User, authenticator: Authenticator, **_: object) -> None:
    note_second_factor(user, is_added=False, kind=authenticator.type, now=timezone.now())


def _reset(*, user: User, authenticator: Authenticator, **_: object) -> None:
    note_second_factor(user, is_added=True, kind=authenticator.type, now=timezone.now())


def _signed_out(*, request: HttpRequest, **_: object) -> None:
    forget_where_signed_in([request.session.session_key or ""])


def _failed(*, user: User, **_: object) -> None:
    note_failed_sign_in(user.get_username(), now=timezone.now(), step="second factor")
