"""Writers, their leases, their messages and what was decided about both, in Django's admin."""

import datetime as dt

from django.contrib import admin
from django.forms import Form
from django.http import HttpRequest
from django.utils import timezone

from access.console.admin_parts import ReadOnlyAdmin, clip
from completions.models import (
    AdmissionDecision,
    Message,
    MessageDecision,
    MessageRevision,
    Writer,
    WriterConsent,
    WriterMail,
    WritingLease,
)
from completions.writers import services
from completions.writers.credentials import invitation_link

SHOWN = ("code", "state", "background", "is_simulated", "invited_at", "admitted_at")


@admin.register(Writer)
class WriterAdmin(ReadOnlyAdmin):
    """Writers by pseudonym; adding one invites them."""

    list_display = ("code", "dataset", "state", "is_simulated", "invited_at")
    list_filter = ("state", "dataset", "is_simulated")
    list_select_related = ("dataset",)
    search_fields = ("code", "email")
    ordering = ("-invited_at", "-pk")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Ask Django's permissions."""
        return super(ReadOnlyAdmin, self).has_add_permission(request)

    def get_fields(self, request: HttpRequest, obj: Writer | None = None) -> tuple[str, ...]:
        """Ask only for what an invitation needs."""
        required = ("dataset", "email")
        return (*required, *SHOWN, *self.get_readonly_fields(request, obj)) if obj else required

    def get_readonly_fields(
        self, _request: HttpRequest, obj: Writer | None = None
    ) -> tuple[str, ...]:
        """Show the link of a writer who is there."""
        return ("invitation",) if obj else ()

    def save_model(
        self,
        request: HttpRequest,
        obj: Writer,
        _form: Form,
        _change: object,
    ) -> None:
        """Invite the writer by the service; the row in hand becomes the one it made."""
        by = request.user if request.user.is_authenticated else None
        invited = services.invite_writer(
            dataset=obj.dataset, email=obj.email, by=by, now=timezone.now()
        )
        obj.pk, obj.code = invited.pk, invited.code

    def invitation(self, row: Writer) -> str:
        """Show the path of the personal link; whoever has it can write in the writer's place."""
        return invitation_link(row)


@admin.register(WriterConsent)
class WriterConsentAdmin(ReadOnlyAdmin):
    """What writers agreed to."""

    list_display = ("writer", "version", "given_at")
    list_filter = ("version",)
    list_select_related = ("writer",)
    search_fields = ("writer__code",)
    ordering = ("-given_at", "-pk")


@admin.register(WritingLease)
class WritingLeaseAdmin(ReadOnlyAdmin):
    """What was kept for which writer, and how that ended.

    Neither the dialogue nor the draft: beside a message they would tell who wrote it, unasked.
    """

    list_display = ("writer", "day", "outcome", "skip_reason")
    list_filter = ("outcome", "skip_reason")
    list_select_related = ("writer",)
    fields = ("writer", "day", "is_trial", "outcome", "skip_reason")
    readonly_fields = ("day",)
    search_fields = ("writer__code",)
    ordering = ("-issued_at", "-pk")

    def day(self, row: WritingLease) -> dt.date:
        """Show on which day it was given; a time would lead to the message as well."""
        return row.issued_at.date()


@admin.register(AdmissionDecision)
class AdmissionDecisionAdmin(ReadOnlyAdmin):
    """Who was admitted after the trial, and who was not, and why."""

    list_display = ("writer", "is_admitted", "note", "decided_at", "decided_by")
    list_filter = ("is_admitted",)
    list_select_related = ("writer", "decided_by")
    search_fields = ("writer__code", "note")
    ordering = ("-decided_at", "-pk")


@admin.register(WriterMail)
class WriterMailAdmin(ReadOnlyAdmin):
    """Mails to writers: waiting, sent, or failed with the error; without the note, as above."""

    list_display = ("writer", "kind", "day", "is_sent", "attempts", "error")
    list_filter = ("kind",)
    list_select_related = ("writer",)
    fields = ("writer", "kind", "day", "is_sent", "attempts", "error")
    readonly_fields = ("day", "is_sent")
    search_fields = ("writer__code", "error")
    ordering = ("-queued_at", "-pk")

    def day(self, row: WriterMail) -> dt.date:
        """Show on which day it was due."""
        return row.queued_at.date()

    @admin.display(boolean=True)
    def is_sent(self, row: WriterMail) -> bool:
        """Show whether it went out."""
        return row.sent_at is not None


# Messages of writers, their versions and what reviewers decided, in Django's admin.
#
# No author is named here: whoever reviews asks for a name in the console, and the log has it.


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    """Messages with where they stand."""

    list_display = ("id", "context", "state", "sent_at", "changed_at")
    list_filter = ("state",)
    list_select_related = ("lease__context",)
    fields = ("context", "state", "sent_at", "changed_at")
    search_fields = ("lease__context__key",)
    ordering = ("-changed_at", "-pk")

    def context(self, row: Message) -> str:
        """Show which context it is for."""
        return row.lease.context.key


@admin.register(MessageRevision)
class MessageRevisionAdmin(ReadOnlyAdmin):
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
class MessageDecisionAdmin(ReadOnlyAdmin):
    """Decisions on versions, with the notes to their writers."""

    list_display = ("revision", "verdict", "note", "decided_at", "decided_by")
    list_filter = ("verdict",)
    list_select_related = ("revision", "decided_by")
    search_fields = ("note",)
    ordering = ("-decided_at", "-pk")
