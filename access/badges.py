"""Links that are a key: whoever has one may set the password of the account it is for."""

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.contrib.auth.models import User
from django.urls import reverse


def password_link(user: User) -> str:
    """Return the path at which somebody sets their password, once and within three days."""
    key = default_token_generator.make_token(user)
    of_whom = {"uidb36": user_pk_to_url_str(user), "key": key}
    return reverse("account_reset_password_from_key", kwargs=of_whom)
