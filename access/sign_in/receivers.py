"""What the sign-in library tells of, for the log; connected when the app is ready.

The library sends these once its transaction is committed.
"""

from allauth.mfa import signals
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_out
from django.http import HttpRequest
from django.utils import timezone

from access.sign_in import services as sign_in_services


def connect() -> None:
    """Listen from now on."""
    signals.authenticator_added.connect(_added, dispatch_uid="heart-second-factor-added")
    signals.authenticator_removed.connect(_removed, dispatch_uid="heart-second-factor-removed")
    signals.authenticator_reset.connect(_reset, dispatch_uid="heart-second-factor-reset")
    user_logged_out.connect(_signed_out, dispatch_uid="heart-signed-out")
    signals.authentication_failed.connect(_failed, dispatch_uid="heart-second-factor-failed")


def _added(*, request: HttpRequest, user: User, authenticator: Authenticator, **_: object) -> None:
    sign_in_services.note_second_factor(
        user, is_added=True, kind=authenticator.type, now=timezone.now()
    )
    # What was signed in to with the password alone elsewhere is signed in to anew.
    sign_in_services.end_sessions(user, keep=request.session.session_key or "")


def _removed(*, user: User, authenticator: Authenticator, **_: object) -> None:
    sign_in_services.note_second_factor(
        user, is_added=False, kind=authenticator.type, now=timezone.now()
    )


def _reset(*, user: User, authenticator: Authenticator, **_: object) -> None:
    sign_in_services.note_second_factor(
        user, is_added=True, kind=authenticator.type, now=timezone.now()
    )


def _signed_out(*, request: HttpRequest, **_: object) -> None:
    sign_in_services.forget_where_signed_in([request.session.session_key or ""])


def _failed(*, user: User, **_: object) -> None:
    sign_in_services.note_failed_sign_in(
        user.get_username(), now=timezone.now(), step="second factor"
    )
