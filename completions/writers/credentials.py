"""Pseudonyms; and a writer's, signed, as a personal link and a browser's cookie carry it."""

import hashlib
import secrets
from typing import Literal

from django.core import signing
from django.urls import reverse

from completions.models import Writer
from completions.writers import queries

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none that is mistaken for another
LENGTH = 10
Use = Literal["link", "cookie"]


def new_code(kind: str) -> str:
    """Return a fresh pseudonym that begins with the letter of its kind and tells nothing else."""
    return kind + "".join(secrets.choice(LETTERS) for _ in range(LENGTH))


def repeatable_code(kind: str, *parts: str) -> str:
    """Return the same pseudonym for the same parts, by which a simulation can be repeated.

    For programs only: whoever knows the parts of a person's would know the person.
    """
    digest = hashlib.sha256("\x1f".join(parts).encode()).digest()
    return kind + "".join(LETTERS[byte % len(LETTERS)] for byte in digest[:LENGTH])


def credential(writer: Writer, *, use: Use) -> str:
    """Return the writer's code, signed for one use."""
    return _signer(use).sign(f"{writer.code}-{writer.link_version}")


def writer_of_credential(value: str, *, use: Use) -> Writer | None:
    """Return the writer named; None if the credential is forged, or a newer link was made."""
    try:
        code, _dash, version = _signer(use).unsign(value).partition("-")
    except signing.BadSignature:
        return None
    writer = queries.writer_by_code(code)
    return writer if writer is not None and str(writer.link_version) == version else None


def invitation_link(writer: Writer) -> str:
    """Return the path of the writer's personal link; whoever has it can write in their place."""
    return reverse("completions:invitation", args=[credential(writer, use="link")])


def _signer(use: Use) -> signing.Signer:
    return signing.Signer(sep="~", salt=f"heart.writer.{use}")
