"""What every answer tells browsers to leave alone, also static files and errors."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

NEVER_USED = (
    "accelerometer",
    "autoplay",
    "browsing-topics",
    "camera",
    "clipboard-read",
    "display-capture",
    "encrypted-media",
    "fullscreen",
    "geolocation",
    "gyroscope",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "publickey-credentials-get",
    "screen-wake-lock",
    "usb",
    "xr-spatial-tracking",
)
"""What no page here asks a browser for; copying to the clipboard is what one does."""
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
"""Where a page may load from, send to, and be shown; nothing in a page's own text runs."""
FIXED = {
    "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in POLICY.items()),
    "Permissions-Policy": ", ".join(f"{name}=()" for name in NEVER_USED),
    # Nothing here is meant to be part of another site's page.
    "Cross-Origin-Resource-Policy": "same-origin",
}


class FixedHeadersMiddleware:
    """Add the headers that are the same on every answer and that Django has no setting for."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer with them."""
        response = self.get_response(request)
        for name, value in FIXED.items():
            response[name] = value
        return response
