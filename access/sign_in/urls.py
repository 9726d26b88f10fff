"""Addresses of signing in, mounted under /accounts/: what is needed of the library, no more."""

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import path, re_path, reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from access.later import call_of

View = Callable[..., HttpResponseBase]
ACCOUNT = "account.views"
FACTORS = "mfa.base.views"
CODES = "mfa.recovery_codes.views"
TOTP = "mfa.totp.views"
ELSEWHERE = "socialaccount.views"
OPENID = "socialaccount.providers.openid_connect.views"
SESSIONS = "usersessions.views"


def _of(views: str, name: str) -> View:
    """Return a view of the library; with its views come clients that few processes ever need."""
    return call_of(f"allauth.{views}.{name}")


def _form(view: View) -> View:
    """Return a view that neither a cache keeps nor another method reaches."""
    return never_cache(require_http_methods(["GET", "HEAD", "POST"])(view))


def _page(view: View) -> View:
    return never_cache(require_safe(view))


def _step(view: View) -> View:
    """Return a view that begins anew when it leads back to the first step.

    Else whoever waits for a code while an owner resets their second factor is led in a circle: the
    library keeps their half sign-in, which has a second step, and finds no code to ask for.
    """

    @wraps(view)
    def wrapper(request: HttpRequest) -> HttpResponseBase:
        response = view(request)
        if isinstance(response, HttpResponseRedirect) and response.url == reverse("account_login"):
            request.session.flush()
        return response

    return _form(wrapper)


def _asking(view: View) -> View:
    """Return a view that says so when the provider of single sign-on cannot be reached."""

    @wraps(view)
    def wrapper(request: HttpRequest, provider_id: str) -> HttpResponseBase:
        from requests import RequestException  # noqa: PLC0415 (comes with the view)

        try:
            return view(request, provider_id)
        except RequestException:
            return render(request, "socialaccount/authentication_error.html", status=503)

    return _page(wrapper)


urlpatterns = [
    path("login/", _form(_of(ACCOUNT, "login")), name="account_login"),
    path("logout/", _form(_of(ACCOUNT, "logout")), name="account_logout"),
    path("confirm/", _form(_of(ACCOUNT, "reauthenticate")), name="account_reauthenticate"),
    path("confirm/code/", _form(_of(FACTORS, "reauthenticate")), name="mfa_reauthenticate"),
    path("password/", _form(_of(ACCOUNT, "password_change")), name="account_change_password"),
    path(
        "password/done/",
        _page(_of(ACCOUNT, "password_reset_from_key_done")),
        name="account_reset_password_from_key_done",
    ),
    re_path(
        r"^password/(?P<uidb36>[0-9a-z]+)-(?P<key>[0-9A-Za-z-]+)/$",
        _form(_of(ACCOUNT, "password_reset_from_key")),
        name="account_reset_password_from_key",
    ),
    path("code/", _step(_of(FACTORS, "authenticate")), name="mfa_authenticate"),
    # Who signs in elsewhere has no password to change, and is led here by the second name.
    path("", _page(_of(FACTORS, "index")), name="account_set_password"),
    path("", _page(_of(FACTORS, "index")), name="mfa_index"),
    path("second-factor/add/", _form(_of(TOTP, "activate_totp")), name="mfa_activate_totp"),
    path("second-factor/remove/", _form(_of(TOTP, "deactivate_totp")), name="mfa_deactivate_totp"),
    path(
        "recovery-codes/", _page(_of(CODES, "view_recovery_codes")), name="mfa_view_recovery_codes"
    ),
    path(
        "recovery-codes/new/",
        _form(_of(CODES, "generate_recovery_codes")),
        name="mfa_generate_recovery_codes",
    ),
    path(
        "recovery-codes.txt",
        _page(_of(CODES, "download_recovery_codes")),
        name="mfa_download_recovery_codes",
    ),
    # Without a provider these are 404.
    path(
        "sso/cancelled/",
        _page(_of(ELSEWHERE, "login_cancelled")),
        name="socialaccount_login_cancelled",
    ),
    path("sso/<slug:provider_id>/", _asking(_of(OPENID, "login")), name="openid_connect_login"),
    path(
        "sso/<slug:provider_id>/callback/",
        _asking(_of(OPENID, "callback")),
        name="openid_connect_callback",
    ),
    path("sessions/", _form(_of(SESSIONS, "list_usersessions")), name="usersessions_list"),
]
