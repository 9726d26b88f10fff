"""How much a request with files may carry: refused by its length, before a byte is written down."""

from typing import IO

from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import MemoryFileUploadHandler
from django.http import HttpRequest

MOST_BYTES = 4_000_000
"""More than any form here takes, but one."""
MOST_DIALOGUES = 31_000_000
"""What the form takes on which members of the team import dialogues."""


def most_bytes(request: HttpRequest) -> int:
    """Return how long a request with files may be."""
    page = request.resolver_match
    if page is None or page.view_name != "data:import":
        return MOST_BYTES
    return MOST_DIALOGUES if request.user.is_authenticated else MOST_BYTES


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
            If it is more than ``most_bytes`` says.
        """
        most = MOST_BYTES if self.request is None else most_bytes(self.request)
        if content_length > most:
            msg = f"a request with files has at most {most} bytes"
            raise RequestDataTooBig(msg)
        super().handle_raw_input(input_data, META, content_length, boundary, encoding)
        self.activated = True  # no file is spooled to a disk
