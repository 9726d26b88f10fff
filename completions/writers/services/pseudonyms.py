"""Pseudonyms."""

import hashlib
import secrets

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none that is mistaken for another
LENGTH = 10


def new_code(kind: str) -> str:
    """Return a fresh pseudonym that begins with the letter of its kind and tells nothing else."""
    return kind + "".join(secrets.choice(LETTERS) for _ in range(LENGTH))


def repeatable_code(kind: str, *parts: str) -> str:
    """Return the same pseudonym for the same parts, by which a simulation can be repeated.

    For programs only: whoever knows the parts of a person's would know the person.
    """
    digest = hashlib.sha256("\x1f".join(parts).encode()).digest()
    return kind + "".join(LETTERS[byte % len(LETTERS)] for byte in digest[:LENGTH])
