"""How much a request with files may carry: refused by its length, before a byte is written down."""

from typing import IO

from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import MemoryFileUploadHandler

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
