"""Pure: the keyed hash by which evidence of consent knows a person."""

import hashlib
import hmac


def person_hash(key: str, *, kind: str, scope: str, identifier: str) -> str:
    """Return the HMAC-SHA256 of a person in one study or dataset, in hexadecimal.

    The same person has another hash in each scope, so that rows of two cannot be brought
    together; without the key no guess at an identifier can be tried. Space around the identifier
    and its case make no difference.

    Raises
    ------
    ValueError
        If the identifier is empty.
    """
    plain = identifier.strip().casefold()
    if not plain:
        msg = "nobody is known by an empty identifier"
        raise ValueError(msg)
    text = f"heart-consent-1\x1f{kind}\x1f{scope}\x1f{plain}"
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()
