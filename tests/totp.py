"""What an authenticator app shows (RFC 6238: SHA-1, six digits, steps of 30 seconds)."""

import base64
import hashlib
import hmac
import struct
import time

STEP = 30


def code_of(secret: str, *, steps: int = 0, at: float | None = None) -> str:
    """Return the code of a key in base 32, now or ``at`` seconds since 1970, ``steps`` later."""
    counter = int((time.time() if at is None else at) // STEP) + steps
    digest = hmac.new(base64.b32decode(secret), struct.pack(">Q", counter), hashlib.sha1).digest()
    start = digest[-1] & 0x0F
    number = struct.unpack(">I", digest[start : start + 4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"
