"""A writer's code, signed: what a personal link and a browser's cookie carry."""

from typing import Literal

from django.core import signing
from django.urls import reverse

from completions.models import Writer
from completions.writers import desk_queries

Use = Literal["link", "cookie"]


def credential(writer: Writer, *, use: Use) -> str:
    """Return the writer's code, signed for one use."""
    return _signer(use).sign(f"{writer.code}-{writer.link_version}")


def writer_of_credential(value: str, *, use: Use) -> Writer | None:
    """Return the writer named; None if the credential is forged, or a newer link was made."""
    try:
        code, _dash, version = _signer(use).unsign(value).partition("-")
    except signing.BadSignature:
        return None
    writer = desk_queries.writer_by_code(code)
    return writer if writer is not None and str(writer.link_version) == version else None


def invitation_link(writer: Writer) -> str:
    """Return the path of the writer's personal link; whoever has it can write in their place."""
    return reverse("completions:invitation", args=[credential(writer, use="link")])


def _signer(use: Use) -> signing.Signer:
    return signing.Signer(sep="~", salt=f"heart.writer.{use}")
