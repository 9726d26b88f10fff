"""Tables of the completions app in Django's admin: to read, with two acts that services do."""

import datetime as dt
from typing import Any

from django.contrib import admin
from django.db.models import ForeignKey, Model
from django.forms import Form, ModelChoiceField
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString

from access.console.admin_parts import ReadOnlyAdmin, show
from access.log import record
from completions.admin_parts import (
    CALL_NUMBERS,
    RUN_COLUMNS,
    SAMPLED,
    ErasableAdmin,
    FindingsAdmin,
    show_turns,
)
from completions.models import (
    AdmissionDecision,
    Assistant,
    BroughtCompletion,
    Candidate,
    Completion,
    Context,
    Dataset,
    Dialogue,
    GenerationCall,
    GenerationRun,
    Hold,
    HumanLabelling,
    Job,
    LabellingRun,
    Message,
    MessageDecision,
    MessageRevision,
    Rewrite,
    RewriteCall,
    ScreeningCall,
    SpotCheck,
    SpotCheckItem,
    StrategyCall,
    StrategyLabel,
    System,
    Writer,
    WriterConsent,
    WriterMail,
    WritingLease,
)
from completions.strategies.spot_check_queries import STRATEGIES
from completions.writers.credentials import invitation_link
from completions.writers.services import inviting

SHOWN = ("code", "state", "background", "is_simulated", "invited_at", "admitted_at")


# What contexts are made of, and how.


@admin.register(Dataset)
class DatasetAdmin(ReadOnlyAdmin):
    """Datasets; what they are called and licensed under can be put right."""

    list_display = ("slug", "name", "licence", "is_authored", "completions_per_context")
    search_fields = ("slug", "name")
    ordering = ("slug",)
    fields = ("slug", "name", "licence", "is_authored", "completions_per_context", "created_at")
    readonly_fields = ("slug", "is_authored", "completions_per_context", "created_at")

    def has_change_permission(self, request: HttpRequest, row: Model | None = None) -> bool:
        """Ask Django's permissions."""
        return super(ReadOnlyAdmin, self).has_change_permission(request, row)

    def save_model(
        self,
        request: HttpRequest,
        obj: Dataset,
        form: Form,
        change: object,
    ) -> None:
        """Store the new words, and log who changed them from what."""
        super().save_model(request, obj, form, change)
        record(
            action="dataset.described",
            subject=f"dataset {obj.slug}",
            now=timezone.now(),
            by=request.user if request.user.is_authenticated else None,
            before={name: form.initial[name] for name in form.changed_data},
            after={name: form.cleaned_data[name] for name in form.changed_data},
        )


class WithTurnsAdmin(ReadOnlyAdmin):
    """Rows with a dialogue, whose turns are shown as a reader sees them."""

    exclude = ("turns",)
    readonly_fields = ("conversation",)

    def conversation(self, row: Dialogue | Context) -> SafeString:
        """Show the turns as a reader sees them."""
        return show_turns(row.turns)


show(
    Dialogue,
    "dataset position emotion_type problem_type n_utterances",
    base=WithTurnsAdmin,
    filters="dataset emotion_type problem_type",
    search="content_hash situation",
    order="dataset position",
)
show(
    Job,
    "pk kind state dataset n_done n_total created_at",
    filters="kind state",
    search="file_name result",
    exclude=("content",),
)
show(
    Context,
    "key dataset stratum is_simulated review slots_left",
    base=WithTurnsAdmin,
    filters="dataset stratum escalation_profile review is_simulated",
    search="key content_hash",
    order="key",
)
show(
    Candidate,
    "dialogue turn_index is_suitable reasons rules",
    filters="is_suitable dialogue__dataset",
    search="dialogue__content_hash",
    order="dialogue turn_index",
)
show(
    Assistant,
    "name slug model_id is_simulated",
    filters="is_simulated",
    search="slug name model_id",
    order="slug",
)
show(
    ScreeningCall,
    f"candidate assistant state attempts error_kind {CALL_NUMBERS}",
    filters="state error_kind assistant",
    search="provider_id error_detail",
)
show(
    Rewrite,
    "source_context profile state target measured reason",
    filters="state profile",
    search="source_context__key context__key reason",
)
show(
    RewriteCall,
    f"rewrite step round state problems error_kind {CALL_NUMBERS}",
    filters="state step error_kind",
    search="rewrite__source_context__key provider_id error_detail",
)


# Systems, completions, runs, calls to providers and strategies.

show(
    System,
    "name slug kind family model_id is_simulated",
    filters="kind is_simulated",
    search="slug name family model_id",
    order="slug",
)
show(
    Completion,
    "context system text created_at",
    filters="system context__stratum",
    base=ErasableAdmin,
    search="context__key text",
    exclude=("writer", *ErasableAdmin.exclude),
)
show(
    GenerationCall,
    f"context system state attempts error_kind {CALL_NUMBERS}",
    filters="state error_kind system",
    search="context__key provider_id error_detail",
)
show(
    Hold,
    "completion state rules held_at decided_at decided_by",
    filters="state",
    search="completion__context__key decision_reason",
)
show(
    BroughtCompletion,
    "completion way brought_at brought_by model_version source",
    filters="way",
    search="completion__context__key model_version source",
)
for run in (GenerationRun, LabellingRun):
    show(
        run,
        f"pk dataset {RUN_COLUMNS}",
        filters="state dataset",
        search="dataset__slug pause_detail",
    )
show(
    StrategyCall,
    f"completion assistant state attempts error_kind {CALL_NUMBERS}",
    base=FindingsAdmin,
    kind=STRATEGIES,
    of="completion",
    filters="state error_kind assistant",
    search="provider_id error_detail",
)
show(
    StrategyLabel,
    "call strategy presence probability quote",
    base=FindingsAdmin,
    kind=STRATEGIES,
    of="call__completion",
    filters="presence strategy",
    search="strategy quote",
)
show(
    SpotCheck,
    "dataset assistant codebook seed created_at created_by",
    filters="dataset",
    search="seed codebook",
)
show(SpotCheckItem, **SAMPLED)
show(
    HumanLabelling,
    "item labeller is_adjudication strategies labelled_at",
    base=FindingsAdmin,
    kind=STRATEGIES,
    of="item__completion",
    filters="is_adjudication",
    search="labeller__username note",
)


# Writers, their leases, their messages and what was decided about both. No author of a message is
# named: whoever reviews asks for a name in the console, and the log has it.


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

    def formfield_for_foreignkey(
        self,
        db_field: ForeignKey[Any, Any],
        request: HttpRequest,
        **kwargs: Any,  # noqa: ANN401 (as Django hands them on)
    ) -> "ModelChoiceField[Any] | None":
        """Offer the datasets that people still write for."""
        kwargs["queryset"] = Dataset.objects.filter(frozen_at=None)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(
        self,
        request: HttpRequest,
        obj: Writer,
        _form: Form,
        _change: object,
    ) -> None:
        """Invite the writer by the service; the row in hand becomes the one it made."""
        by = request.user if request.user.is_authenticated else None
        invited = inviting.invite_writer(
            dataset=obj.dataset, email=obj.email, by=by, now=timezone.now()
        )
        obj.pk, obj.code = invited.pk, invited.code

    def invitation(self, row: Writer) -> str:
        """Show the path of the personal link; whoever has it can write in the writer's place."""
        return invitation_link(row)


show(WriterConsent, "writer version given_at", filters="version", search="writer__code")


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


show(
    AdmissionDecision,
    "writer is_admitted note decided_at decided_by",
    filters="is_admitted",
    search="writer__code note",
)


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


show(
    MessageRevision,
    "message number text written_at has_looked_again",
    base=ErasableAdmin,
    filters="has_looked_again is_declared",
    search="text",
)
show(
    MessageDecision,
    "revision verdict note decided_at decided_by",
    filters="verdict",
    search="note",
)
