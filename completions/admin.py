"""Tables of the completions app in Django's admin: to read, with two acts that services do."""

from django.contrib import admin
from django.db.models import Model
from django.forms import Form
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString

from completions import services
from completions.admin_parts import Table, clip, show_turns
from completions.http import invitation_link
from completions.models import (
    Completion,
    Context,
    Dataset,
    Dialogue,
    GenerationCall,
    LogEntry,
    System,
    Writer,
    WriterConsent,
    WritingLease,
)

CALL_NUMBERS = ("n_prompt_tokens", "n_completion_tokens", "cost_usd", "ttft_ms", "latency_ms")


@admin.register(Dataset)
class DatasetAdmin(Table):
    """Datasets; what they are called and licensed under can be put right."""

    list_display = ("slug", "name", "licence", "is_authored", "completions_per_context")
    search_fields = ("slug", "name")
    ordering = ("slug",)
    readonly_fields = ("slug", "is_authored", "completions_per_context", "created_at")

    def has_change_permission(self, request: HttpRequest, row: Model | None = None) -> bool:
        """Ask Django's permissions."""
        return super(Table, self).has_change_permission(request, row)

    def save_model(
        self,
        request: HttpRequest,
        obj: Dataset,
        form: Form,
        change: object,
    ) -> None:
        """Store the new words, and log who changed them from what."""
        super().save_model(request, obj, form, change)
        services.record(
            action="dataset.described",
            subject=f"dataset {obj.slug}",
            now=timezone.now(),
            by=request.user if request.user.is_authenticated else None,
            before={name: form.initial[name] for name in form.changed_data},
            after={name: form.cleaned_data[name] for name in form.changed_data},
        )


@admin.register(Dialogue)
class DialogueAdmin(Table):
    """Source dialogues."""

    list_display = ("dataset", "position", "emotion_type", "problem_type", "n_utterances")
    list_filter = ("dataset", "emotion_type", "problem_type")
    list_select_related = ("dataset",)
    search_fields = ("content_hash", "situation")
    ordering = ("dataset", "position")
    exclude = ("turns",)
    readonly_fields = ("talk",)

    def talk(self, row: Dialogue) -> SafeString:
        """Show the turns as a reader sees them."""
        return show_turns(row.turns)


@admin.register(Context)
class ContextAdmin(Table):
    """Contexts, and how many completions by people each still wants."""

    list_display = ("key", "dataset", "stratum", "escalation_profile", "turn_index", "slots_left")
    list_filter = ("dataset", "stratum", "escalation_profile")
    list_select_related = ("dataset",)
    search_fields = ("key", "content_hash")
    ordering = ("key",)
    exclude = ("turns",)
    readonly_fields = ("talk",)

    def talk(self, row: Context) -> SafeString:
        """Show the turns as a reader sees them."""
        return show_turns(row.turns)


@admin.register(System)
class SystemAdmin(Table):
    """Producers of completions."""

    list_display = ("name", "slug", "kind", "family", "model_id", "is_simulated")
    list_filter = ("kind", "is_simulated")
    search_fields = ("slug", "name", "family", "model_id")
    ordering = ("slug",)


@admin.register(Writer)
class WriterAdmin(Table):
    """Writers by pseudonym; adding one invites them."""

    list_display = ("code", "dataset", "state", "is_simulated", "invited_at")
    list_filter = ("state", "dataset", "is_simulated")
    list_select_related = ("dataset",)
    search_fields = ("code", "email")
    ordering = ("-invited_at", "-pk")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Ask Django's permissions."""
        return super(Table, self).has_add_permission(request)

    def get_exclude(self, _request: HttpRequest, obj: Writer | None = None) -> tuple[str, ...]:
        """Ask only for what an invitation needs."""
        made_by_service = ("code", "state", "is_simulated", "invited_at")
        return ("link_version",) if obj else ("link_version", *made_by_service)

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
class WriterConsentAdmin(Table):
    """What writers agreed to."""

    list_display = ("writer", "version", "given_at")
    list_filter = ("version",)
    list_select_related = ("writer",)
    search_fields = ("writer__code",)
    ordering = ("-given_at", "-pk")


@admin.register(WritingLease)
class WritingLeaseAdmin(Table):
    """Which context was kept for which writer, and how that ended."""

    list_display = ("writer", "context", "issued_at", "closed_at", "outcome", "skip_reason")
    list_filter = ("outcome", "skip_reason")
    list_select_related = ("writer", "context")
    search_fields = ("writer__code", "context__key")
    ordering = ("-issued_at", "-pk")


@admin.register(Completion)
class CompletionAdmin(Table):
    """All completions, of people and systems."""

    list_display = ("context", "system", "writer", "beginning", "created_at")
    list_filter = ("system", "context__stratum")
    list_select_related = ("context", "system", "writer")
    search_fields = ("context__key", "writer__code", "text")
    ordering = ("-pk",)

    def beginning(self, row: Completion) -> str:
        """Show how the text begins."""
        return clip(row.text)


@admin.register(GenerationCall)
class GenerationCallAdmin(Table):
    """Completions wanted from models, and what the providers said."""

    list_display = ("context", "system", "state", "attempts", "error_kind", *CALL_NUMBERS)
    list_filter = ("state", "error_kind", "system")
    list_select_related = ("context", "system")
    search_fields = ("context__key", "provider_id", "error_detail")
    ordering = ("-pk",)


@admin.register(LogEntry)
class LogEntryAdmin(Table):
    """Who did what."""

    list_display = ("at", "by", "action", "subject")
    list_filter = ("action",)
    list_select_related = ("by",)
    search_fields = ("action", "subject")
    ordering = ("-at", "-pk")
