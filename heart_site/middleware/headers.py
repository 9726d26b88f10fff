"""What every answer tells browsers to leave alone, also static files and errors."""

from collections.abc import Callable
from typing import IO

from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import MemoryFileUploadHandler
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
FIXED = {
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


MOST_BYTES = 4_000_000
"""More than any form here takes; what is larger comes in by command."""


class BoundedUploadHandler(MemoryFileUploadHandler):
    """Refuse a request that is longer than any page sends."""

    def handle_raw_input(
        self,
        input_data: IO[bytes],
        META: dict[str, str],  # noqa: N803 (Django's name)
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> None:
        """Look at the length before anything is read.

        Raises
        ------
        RequestDataTooBig
            If it is more than ``MOST_BYTES``.
        """
        if content_length > MOST_BYTES:
            msg = f"a request with files has at most {MOST_BYTES} bytes"
            raise RequestDataTooBig(msg)
        super().handle_raw_input(input_data, META, content_length, boundary, encoding)
