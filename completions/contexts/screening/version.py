"""A name for the rules as they are now, so that a result says which rules gave it."""

import hashlib
from functools import cache
from pathlib import Path

from completions.contexts.screening.lexicon import primary

NUMBER = 1  # raise it when the definitions change, not for every new word
HERE = Path(__file__).parent
_NOT_DECIDING = frozenset({"checking.py", "version.py", "__init__.py"})


@cache
def rules_version(language: str) -> str:
    """Return the number of the rules with a hash of all that decides.

    That is: the code of the rules with their parameters, the lexicons of the primary language of
    the tag, and the versions of the libraries that find numbers.
    """
    import phonenumbers  # noqa: PLC0415 (pages that only name rules need neither, ADR-0043)
    import stdnum  # noqa: PLC0415 (as above)

    files = [path for path in sorted(HERE.rglob("*.py")) if _decides(path)]
    files += sorted((HERE / "lexicons" / primary(language)).glob("*.txt"))
    digest = hashlib.sha256(f"{phonenumbers.__version__} {stdnum.__version__}".encode())
    for path in files:
        content = path.read_bytes().replace(b"\r\n", b"\n")
        name = path.relative_to(HERE).as_posix()
        digest.update(f"\n{name} {len(content)}\n".encode() + content)
    return f"screening-{NUMBER} {digest.hexdigest()[:12]}"


def _decides(path: Path) -> bool:
    return path.parent != HERE or path.name not in _NOT_DECIDING
