"""How a message goes to an address that a person typed: which are refused, when to try; pure."""

from access.outgoing.addresses import (
    PORTS,
    AddressError,
    Rules,
    Target,
    check_ip,
    check_own,
    is_public,
    read_target,
)
from access.outgoing.pace import GIVE_UP_AFTER, next_attempt
from access.outgoing.posting import Answer, PostError, post, resolve

__all__ = [
    "GIVE_UP_AFTER",
    "PORTS",
    "AddressError",
    "Answer",
    "PostError",
    "Rules",
    "Target",
    "check_ip",
    "check_own",
    "is_public",
    "next_attempt",
    "post",
    "read_target",
    "resolve",
]
