"""Writes of the completions app; everything a caller may import is named here."""

from completions.services.log import record
from completions.services.writing import (
    ContextTakenError,
    OwnWordsMissingError,
    WriterNotActiveError,
    WritingLeaseNotFoundError,
    accept_invitation,
    invite_writer,
    lease_next_context,
    release_expired_writing_leases,
    save_draft,
    skip_context,
    submit_completion,
)

__all__ = [
    "ContextTakenError",
    "OwnWordsMissingError",
    "WriterNotActiveError",
    "WritingLeaseNotFoundError",
    "accept_invitation",
    "invite_writer",
    "lease_next_context",
    "record",
    "release_expired_writing_leases",
    "save_draft",
    "skip_context",
    "submit_completion",
]
