"""A name for the rules as they are now, so that a result says which rules gave it."""

import hashlib
from functools import cache
from pathlib import Path

import phonenumbers
import stdnum

from completions.screening.lexicon import LEXICONS

NUMBER = 1  # raise it when the definitions change, not for every new word
_DECIDING = ("reading", "lexicon", "personal", "rules", "points")


@cache
def rules_version(language: str) -> str:
    """Return the number of the rules with a hash of all that decides.

    That is: the code of the rules with their parameters, the lexicons of the language, and the
    versions of the libraries that find numbers.
    """
    here = Path(__file__).parent
    files = [here / f"{name}.py" for name in _DECIDING]
    files += sorted((LEXICONS / language).glob("*.txt"))
    digest = hashlib.sha256(f"{phonenumbers.__version__} {stdnum.__version__}".encode())
    for path in files:
        content = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"\n{path.name} {len(content)}\n".encode() + content)
    return f"screening-{NUMBER} {digest.hexdigest()[:12]}"
