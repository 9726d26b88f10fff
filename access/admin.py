"""Members and the log in Django's admin: to look at, never with a secret."""

from access.console.admin_parts import show
from access.models import (
    ApiToken,
    ConsentEvidence,
    Hook,
    HookDelivery,
    IdempotencyKey,
    LogEntry,
    Member,
)

show(Member, "user role since", filters="role", search="user__username", order="user__username")
show(
    ApiToken,
    "prefix name owner scopes study expires_at revoked_at",
    search="prefix name owner__username",
    exclude=("secret_hash",),
)
show(IdempotencyKey, "key token made_at status", search="key token__prefix")
show(LogEntry, "at by action subject", filters="action", search="action subject")
show(
    Hook,
    "pk is_active created_at created_by removed_at",
    filters="is_active",
    search="created_by__username",
    order="pk",
    exclude=("secret", "url"),
    readonly_fields=("shown_url",),
)
show(
    HookDelivery,
    "event hook state attempts queued_at delivered_at",
    filters="state event",
    search="event_key",
)
show(
    ConsentEvidence,
    "kind scope version given_on",
    filters="kind scope",
    search="scope",
    order="scope given_on pk",
    exclude=("person",),
)
