"""Links that Prolific signed: a JSON Web Token in place of ids that anybody could type.

Its page on the keys says what to check: the signature by the key that the token names, the time
until which it holds, and that it is meant for this site. The ids stand in the claim ``prolific``,
under the names that the study's link gives them.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from annotation.raters.entry_links import SIGNED, EntryLinkError

if TYPE_CHECKING:
    from jwt import PyJWKClient

ALGORITHM = "RS256"
KEPT_S = 12 * 60 * 60  # of keys; Prolific asks to read them again at least daily
COOLDOWN_S = 30  # before they are read again for a token that names an unknown one
TIMEOUT_S = 5
LEEWAY_S = 30  # between its clock and ours


class KeysAwayError(Exception):
    """The keys of the platform cannot be read now, so that nothing can be said of the link."""


def read(parameters: Mapping[str, str], *, host: str, keys_url: str) -> dict[str, str]:
    """Return the parameters that Prolific signed for this site.

    What the link says beside them counts for nothing.

    Parameters
    ----------
    parameters : mapping
        Of the link.
    host : str
        Under which the visitor asks for this site, with its port if it has one.
    keys_url : str
        Where Prolific's keys are: a JSON Web Key Set.

    Raises
    ------
    EntryLinkError
        If there is no token, or it is forged, for another site, or has run out.
    KeysAwayError
        If the keys cannot be read.
    """
    import jwt  # noqa: PLC0415 (few studies need it, and it loads a library of cryptography)

    token = parameters.get(SIGNED, "")
    name = host.partition(":")[0]
    sites = [one for known in {host, name} for one in (known, f"https://{known}")]
    try:
        key = keys_at(keys_url).get_signing_key_from_jwt(token)
        claims = jwt.decode(
            token,
            key.key,
            algorithms=[ALGORITHM],
            audience=sites,
            leeway=LEEWAY_S,
            options={"require": ["exp", "aud"]},
        )
    except jwt.PyJWKClientConnectionError as error:
        raise KeysAwayError from error
    except jwt.PyJWTError as error:
        msg = f"not signed as it has to be: {error}"
        raise EntryLinkError(msg, platform="PROLIFIC") from error
    said = claims.get("prolific")
    if not isinstance(said, dict):
        msg = "what is signed names nobody"
        raise EntryLinkError(msg, platform="PROLIFIC")
    return {name: value for name, value in said.items() if isinstance(value, str)}


@lru_cache(maxsize=4)
def keys_at(url: str) -> "PyJWKClient":
    """Return what reads the keys of an address, and keeps them."""
    from jwt import PyJWKClient  # noqa: PLC0415 (as above)

    return PyJWKClient(url, lifespan=KEPT_S, timeout=TIMEOUT_S, cooldown_duration=COOLDOWN_S)
