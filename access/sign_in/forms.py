"""Forms of the sign-in library, where they have to be stricter."""

from allauth.core.internal.cryptokit import normalize_user_code
from allauth.mfa import app_settings
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.totp.forms import ActivateTOTPForm
from django import forms
from django.contrib.auth.models import User
from django.core.cache import cache

WRONG = "incorrect_code"


class Once(forms.Form):
    """A code that is taken once.

    The library remembers a code for one step, but a clock that is off by a step is forgiven: a
    code that somebody looked over a shoulder for would be good again. It is known by what the
    library compares: spaces and hyphens in it make no other code.
    """

    user: User

    def clean_code(self) -> str:
        """Return the code.

        Raises
        ------
        ValidationError
            If it is wrong, or was taken before.
        """
        code: str = super().clean_code()  # type: ignore[misc] # of the form it is mixed into
        steps = 2 * app_settings.TOTP_TOLERANCE + 1
        key = f"second-factor-used:{self.user.pk}:{normalize_user_code(code)}"
        if not cache.add(key, 1, timeout=steps * app_settings.TOTP_PERIOD):
            raise get_adapter().validation_error(WRONG)
        return code


class Code(Once, AuthenticateForm):
    """The code after the password."""


class CodeAgain(Once, ReauthenticateForm):
    """The code before something that matters."""


class FirstCode(Once, ActivateTOTPForm):
    """The code that shows that an app was added."""
