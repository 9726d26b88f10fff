"""Tables of access."""

from access.models.evidence import ConsentEvidence
from access.models.hook import Hook, HookDelivery
from access.models.idempotency import IdempotencyKey
from access.models.log import LogEntry
from access.models.member import Member
from access.models.token import ApiToken

__all__ = [
    "ApiToken",
    "ConsentEvidence",
    "Hook",
    "HookDelivery",
    "IdempotencyKey",
    "LogEntry",
    "Member",
]
