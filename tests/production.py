"""The settings of a deployment behind TLS, beside those that the tests run with."""

import os
import runpy
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "heart_site" / "settings.py"
DEPLOYED = {
    "HEART_HTTPS": "true",
    "HEART_ALLOWED_HOSTS": "testserver",
    "HEART_SITE_URL": "https://heart.example",
}
OF_TLS = (
    "SESSION_COOKIE_SECURE",
    "SESSION_COOKIE_NAME",
    "CSRF_COOKIE_SECURE",
    "CSRF_COOKIE_NAME",
    "SECURE_SSL_REDIRECT",
    "SECURE_HSTS_SECONDS",
    "SECURE_HSTS_INCLUDE_SUBDOMAINS",
    "SECURE_HSTS_PRELOAD",
    "SECURE_PROXY_SSL_HEADER",
    "HEART_SITE_URL",
)


def settings_with(**environment: str) -> dict[str, Any]:
    """Return the settings as a process with these variables on top of the tests' has them."""
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        return runpy.run_path(str(FILE))
    finally:
        os.environ.clear()
        os.environ.update(before)


def deploy(settings: Any) -> None:
    """Have the running test see what a deployment behind TLS sets differently."""
    found = settings_with(**DEPLOYED)
    for name in OF_TLS:
        setattr(settings, name, found[name])
