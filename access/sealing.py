"""Texts that only a holder of the site's secret key can read: what a stolen database must not give.

Sealed by Fernet (AES-128-CBC, HMAC-SHA256), under a key that follows from the secret key.
"""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken

PURPOSE = b"heart.sealed"
"""Tells this use of the secret key from all others."""


class SealedElsewhereError(Exception):
    """What is sealed was not sealed under this secret key, or was changed since."""


def seal(text: str, *, secret_key: str) -> str:
    """Return ``text`` sealed; another result at each call."""
    return _fernet(secret_key).encrypt(text.encode()).decode()


def unseal(sealed: str, *, secret_key: str) -> str:
    """Return the text that was sealed.

    Raises
    ------
    SealedElsewhereError
        If it was not sealed under this key, or is not as it was.
    """
    try:
        return _fernet(secret_key).decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise SealedElsewhereError from error


def _fernet(secret_key: str) -> Fernet:
    key = hashlib.blake2b(secret_key.encode(), digest_size=32, person=PURPOSE).digest()
    return Fernet(base64.urlsafe_b64encode(key))
