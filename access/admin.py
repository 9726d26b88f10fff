"""Members and the log in Django's admin: to look at."""

from django.contrib import admin

from access.console.admin_parts import ReadOnlyAdmin
from access.models import (
    ApiToken,
    ConsentEvidence,
    Hook,
    HookDelivery,
    IdempotencyKey,
    LogEntry,
    Member,
)


@admin.register(Member)
class MemberAdmin(ReadOnlyAdmin):
    """Who belongs to the team."""

    list_display = ("user", "role", "since")
    list_filter = ("role",)
    list_select_related = ("user",)
    search_fields = ("user__username",)
    ordering = ("user__username",)


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    """Keys of programs; made and revoked in the console."""

    list_display = ("prefix", "name", "owner", "scopes", "study", "expires_at", "revoked_at")
    list_select_related = ("owner",)
    search_fields = ("prefix", "name", "owner__username")
    ordering = ("-created_at", "-pk")
    exclude = ("secret_hash",)


@admin.register(IdempotencyKey)
class IdempotencyKeyAdmin(ReadOnlyAdmin):
    """Requests of a day that are answered once."""

    list_display = ("key", "token", "made_at", "status")
    list_select_related = ("token",)
    search_fields = ("key", "token__prefix")
    ordering = ("-made_at", "-pk")


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnlyAdmin):
    """Who did what."""

    list_display = ("at", "by", "action", "subject")
    list_filter = ("action",)
    list_select_related = ("by",)
    search_fields = ("action", "subject")
    ordering = ("-at", "-pk")


@admin.register(Hook)
class HookAdmin(ReadOnlyAdmin):
    """Whom the site tells of what happens; never the secret."""

    exclude = ("secret",)
    list_display = ("pk", "is_active", "created_at", "created_by", "removed_at")
    list_filter = ("is_active",)
    list_select_related = ("created_by",)
    search_fields = ("url",)
    ordering = ("pk",)


@admin.register(HookDelivery)
class HookDeliveryAdmin(ReadOnlyAdmin):
    """What was sent, and what became of it."""

    list_display = ("event", "hook", "state", "attempts", "queued_at", "delivered_at")
    list_filter = ("state", "event")
    list_select_related = ("hook",)
    search_fields = ("event_key",)
    ordering = ("-queued_at", "-pk")


@admin.register(ConsentEvidence)
class ConsentEvidenceAdmin(ReadOnlyAdmin):
    """Evidence of consent: counts by study and version, and no way to a person."""

    list_display = ("kind", "scope", "version", "given_on")
    list_filter = ("kind", "scope")
    search_fields = ("scope",)
    ordering = ("scope", "given_on", "pk")
    exclude = ("person",)
