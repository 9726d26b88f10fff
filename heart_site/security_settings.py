"""How staff sign in, what browsers are held to, how much is taken in: the same in every deployment.

Names are those of the libraries; ``settings.py`` takes them over as they stand.
"""

from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"

CSRF_COOKIE_HTTPONLY = True  # forms carry the token; no script reads it
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_AGE = (
    90 * 24 * 60 * 60
)  # as long as a rater's credential: a page left open can still send

DATA_UPLOAD_MAX_MEMORY_SIZE = 8_000_000
"""Bytes of a request without files: 1,000 completions of 4,000 characters, in most languages."""
FILE_UPLOAD_HANDLERS = [
    "heart_site.middleware.BoundedUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]


def cookie_name(name: str, *, is_https: bool) -> str:
    """Return the name of a cookie of the whole site.

    Under ``__Host-`` a browser takes it from this host alone, and only over HTTPS.
    """
    return f"__Host-{name}" if is_https else name


# --- Accounts: made by owners alone, signed in to by name ---
AUTHENTICATION_BACKENDS = ["access.sign_in.adapters.MembersBackend"]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "console:overview"
ACCOUNT_ADAPTER = "access.sign_in.adapters.StaffAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_REDIRECT_URL = "home"
ACCOUNT_SESSION_REMEMBER = True  # for SESSION_COOKIE_AGE, which is short
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = False  # of this session: all others end
ACCOUNT_RATE_LIMITS = {
    # Five wrong passwords or codes for one account, or twenty from one address, in five minutes.
    "login_failed": "20/5m/ip,5/5m/key",
    "login": "60/m/ip",
}

AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# --- The second factor ---
MFA_ADAPTER = "access.sign_in.adapters.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_FORMS = {
    "activate_totp": "access.sign_in.forms.FirstCode",
    "authenticate": "access.sign_in.forms.Code",
    "reauthenticate": "access.sign_in.forms.CodeAgain",
}
MFA_ALLOW_UNVERIFIED_EMAIL = True  # owners write addresses down; nobody verifies them here
MFA_TOTP_ISSUER = "HEART"
MFA_TOTP_TOLERANCE = 1  # steps of 30 seconds that a clock may be off

# --- Sessions: a working day, and not known to scripts or other sites ---
SESSION_COOKIE_AGE = 12 * 60 * 60
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
PASSWORD_RESET_TIMEOUT = 3 * 24 * 60 * 60  # of links to set a password

# --- Single sign-on: by a link, since forms of this site lead nowhere else (content policy) ---
SOCIALACCOUNT_ADAPTER = "access.sign_in.adapters.SingleSignOnAdapter"
SOCIALACCOUNT_LOGIN_ON_GET = True
SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
HERE = {"localhost", "127.0.0.1", "::1"}


def providers(*, issuer: str, client_id: str, secret: str, name: str) -> dict[str, Any]:
    """Return the provider of single sign-on as the library wants it; none without an issuer.

    Raises
    ------
    ImproperlyConfigured
        If what belongs to an issuer is missing, or the way to it is open to others.
    """
    if not issuer:
        return {}
    if not (client_id and secret):
        msg = "HEART_OIDC_ISSUER needs HEART_OIDC_CLIENT_ID and HEART_OIDC_CLIENT_SECRET"
        raise ImproperlyConfigured(msg)
    address = urlsplit(issuer)
    if address.scheme != "https" and address.hostname not in HERE:
        msg = "HEART_OIDC_ISSUER has to begin with https://"
        raise ImproperlyConfigured(msg)
    app = {
        "provider_id": "sso",
        "name": name,
        "client_id": client_id,
        "secret": secret,
        "settings": {"server_url": issuer.rstrip("/"), "oauth_pkce_enabled": True},
    }
    return {"openid_connect": {"APPS": [app]}}
