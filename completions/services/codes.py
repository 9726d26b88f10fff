"""Pseudonyms."""

import secrets

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none that is mistaken for another
LENGTH = 10


def new_code(kind: str) -> str:
    """Return a fresh pseudonym that begins with the letter of its kind and tells nothing else."""
    return kind + "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
