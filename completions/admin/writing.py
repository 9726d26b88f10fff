"""Messages of writers, their versions and what reviewers decided, in Django's admin.

No author is named here: whoever reviews asks for a name in the console, and the log has it.
"""

from django.contrib import admin

from access.console.admin_parts import Table, clip
from completions.models import Message, MessageDecision, MessageRevision


@admin.register(Message)
class MessageAdmin(Table):
    """Messages with where they stand."""

    list_display = ("id", "talk", "state", "sent_at", "changed_at")
    list_filter = ("state",)
    list_select_related = ("lease__context",)
    fields = ("talk", "state", "sent_at", "changed_at")
    search_fields = ("lease__context__key",)
    ordering = ("-changed_at", "-pk")

    def talk(self, row: Message) -> str:
        """Show which context it is for."""
        return row.lease.context.key


@admin.register(MessageRevision)
class MessageRevisionAdmin(Table):
    """Every version of every message."""

    list_display = ("message", "number", "beginning", "written_at", "has_looked_again")
    list_filter = ("has_looked_again", "is_declared")
    list_select_related = ("message",)
    search_fields = ("text",)
    ordering = ("-written_at", "-pk")

    def beginning(self, row: MessageRevision) -> str:
        """Show how the text begins."""
        return clip(row.text)


@admin.register(MessageDecision)
class MessageDecisionAdmin(Table):
    """Decisions on versions, with the notes to their writers."""

    list_display = ("revision", "verdict", "note", "decided_at", "decided_by")
    list_filter = ("verdict",)
    list_select_related = ("revision", "decided_by")
    search_fields = ("note",)
    ordering = ("-decided_at", "-pk")
