"""How the sign-in library behaves here: closed to strangers, logged, with users' roles."""

import base64
import hashlib
import logging
import time

from allauth.account import app_settings
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.authentication import get_authentication_records
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from access.roles import member_with_address, user_named, users
from access.sign_in import services as sign_in_services

PURPOSE = b"heart.sealed"
"""Tells this use of the secret key from all others."""


class SealedElsewhereError(Exception):
    """What is sealed was not sealed under this secret key, or was changed since."""


def seal(text: str, *, secret_key: str) -> str:
    """Return ``text`` sealed; another result at each call.

    Only a holder of the site's secret key can read it: a stolen database does not give it. Sealed
    by Fernet (AES-128-CBC, HMAC-SHA256), under a key that follows from the secret key.
    """
    return _fernet(secret_key).encrypt(text.encode()).decode()


def unseal(sealed: str, *, secret_key: str) -> str:
    """Return the text that was sealed.

    Raises
    ------
    SealedElsewhereError
        If it was not sealed under this key, or is not as it was.
    """
    try:
        return _fernet(secret_key).decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise SealedElsewhereError from error


def _fernet(secret_key: str) -> Fernet:
    key = hashlib.blake2b(secret_key.encode(), digest_size=32, person=PURPOSE).digest()
    return Fernet(base64.urlsafe_b64encode(key))


logger = logging.getLogger(__name__)
LOCKED = "too_many_login_attempts"


class StaffAdapter(DefaultAccountAdapter):
    """Accounts of the team: owners make them, and what fails is written down."""

    error_messages = DefaultAccountAdapter.error_messages | {
        LOCKED: _(
            "There were too many failed attempts. Wait five minutes, then try again. Nothing else "
            "is needed: the account is as it was."
        ),
        "rate_limited": _("There were too many attempts. Wait five minutes, then try again."),
        "username_password_mismatch": _("The username or the password is not right."),
        "incorrect_password": _("The password is not right."),
        "invalid_password_reset": _("The link is not valid any more."),
    }

    def is_open_for_signup(self, _request: HttpRequest) -> bool:
        """Refuse: owners add members."""
        return False

    def pre_authenticate(self, request: HttpRequest, **credentials: str) -> None:
        """Count the attempt; the first one that is refused for its number goes to the log."""
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError:
            sign_in_services.note_locked_sign_in(
                credentials.get("username", ""), now=timezone.now()
            )
            raise

    def _get_login_attempts_cache_key(self, _request: HttpRequest, **credentials: str) -> str:
        """Count by the account: the library's key changes with the host's port and spellings."""
        name = credentials.get("username", "")
        user = user_named(name)
        return f"account:{user.pk}" if user is not None else f"name:{name.lower()}"

    def authentication_failed(self, _request: HttpRequest, **credentials: str) -> None:
        """Write down that a password was wrong."""
        sign_in_services.note_failed_sign_in(credentials.get("username", ""), now=timezone.now())

    def is_reauthentication_required(self, *, app: str, **kwargs: object) -> bool:
        """Spare whoever signed in a moment ago from saying again who they are."""
        if not super().is_reauthentication_required(app=app, **kwargs):
            return False
        request = context.request
        records = get_authentication_records(request, request.user)
        newest = max((record["at"] for record in records), default=0.0)
        return bool(time.time() - newest >= app_settings.REAUTHENTICATION_TIMEOUT)

    def get_password_change_redirect_url(self, _request: HttpRequest) -> str:
        """Lead back to the page on one's own account."""
        return reverse("mfa_index")

    def set_password(self, user: User, password: str) -> None:
        """Keep a password, and write down that it is another."""
        super().set_password(user, password)
        sign_in_services.note_password(user, now=timezone.now())


class SecondFactorAdapter(DefaultMFAAdapter):
    """Second factors, in plain words, and of no use to whoever has the database alone."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": _(
            "The code is not right. Codes change every 30 seconds, and each is taken once."
        ),
    }

    def encrypt(self, text: str) -> str:
        """Seal a key or what recovery codes follow from."""
        return seal(text, secret_key=settings.SECRET_KEY)

    def decrypt(self, encrypted_text: str) -> str:
        """Return what was sealed.

        Raises
        ------
        ValidationError
            If the site has another secret key than it had: forms say so.
        """
        try:
            return unseal(encrypted_text, secret_key=settings.SECRET_KEY)
        except SealedElsewhereError as error:
            logger.exception("A second factor cannot be read: HEART_SECRET_KEY is another")
            raise ValidationError(
                _(
                    "This site cannot read your second factor any more, for its secret key has "
                    "changed. Ask an owner to reset it."
                )
            ) from error

    def get_totp_label(self, user: User) -> str:
        """Return what an authenticator app calls the account."""
        return user.get_username()


class SingleSignOnAdapter(DefaultSocialAccountAdapter):
    """People whom the provider vouches for: members alone, and nothing of the answer is kept."""

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Find the member with an address that the provider has verified.

        Raises
        ------
        ImmediateHttpResponse
            If there is none: the page that says so.
        """
        sociallogin.state["process"] = "login"
        for address in sociallogin.email_addresses:
            # Some providers write the truth as a word, and so the untruth.
            if str(address.verified).lower() == "true":
                sociallogin.user = member_with_address(address.email)
                if sociallogin.user is not None:
                    return
        raise ImmediateHttpResponse(render(request, "socialaccount/no_member.html", status=403))


class MembersBackend(ModelBackend):
    """Users by name and password, read together with their membership."""

    def get_user(self, user_id: int) -> User | None:
        """Return an active user; what a page asks about them needs no second query."""
        user = users().filter(pk=user_id).first()
        return user if user is not None and self.user_can_authenticate(user) else None
