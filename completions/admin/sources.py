"""Datasets, dialogues, contexts and how contexts came about, in Django's admin."""

from django.contrib import admin
from django.db.models import Model
from django.forms import Form
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString

from access.console.admin_parts import ReadOnlyAdmin
from access.log import record
from completions.admin_parts import CALL_NUMBERS, show_turns
from completions.models import (
    Assistant,
    Candidate,
    Context,
    Dataset,
    Dialogue,
    Job,
    Rewrite,
    RewriteCall,
    ScreeningCall,
)


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


@admin.register(Dialogue)
class DialogueAdmin(ReadOnlyAdmin):
    """Source dialogues."""

    list_display = ("dataset", "position", "emotion_type", "problem_type", "n_utterances")
    list_filter = ("dataset", "emotion_type", "problem_type")
    list_select_related = ("dataset",)
    search_fields = ("content_hash", "situation")
    ordering = ("dataset", "position")
    exclude = ("turns",)
    readonly_fields = ("conversation",)

    def conversation(self, row: Dialogue) -> SafeString:
        """Show the turns as a reader sees them."""
        return show_turns(row.turns)


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    """Long work on datasets that pages started, without the files."""

    list_display = ("pk", "kind", "state", "dataset", "n_done", "n_total", "created_at")
    list_filter = ("kind", "state")
    list_select_related = ("dataset",)
    search_fields = ("file_name", "result")
    ordering = ("-pk",)
    exclude = ("content",)


@admin.register(Context)
class ContextAdmin(ReadOnlyAdmin):
    """Contexts, and how many completions by people each still wants."""

    list_display = ("key", "dataset", "stratum", "is_simulated", "review", "slots_left")
    list_filter = ("dataset", "stratum", "escalation_profile", "review", "is_simulated")
    list_select_related = ("dataset",)
    search_fields = ("key", "content_hash")
    ordering = ("key",)
    exclude = ("turns",)
    readonly_fields = ("conversation",)

    def conversation(self, row: Context) -> SafeString:
        """Show the turns as a reader sees them."""
        return show_turns(row.turns)


@admin.register(Candidate)
class CandidateAdmin(ReadOnlyAdmin):
    """Couplets as screened."""

    list_display = ("dialogue", "turn_index", "is_suitable", "reasons", "rules")
    list_filter = ("is_suitable", "dialogue__dataset")
    list_select_related = ("dialogue",)
    search_fields = ("dialogue__content_hash",)
    ordering = ("dialogue", "turn_index")


@admin.register(Assistant)
class AssistantAdmin(ReadOnlyAdmin):
    """Language models that help to prepare contexts."""

    list_display = ("name", "slug", "model_id", "is_simulated")
    list_filter = ("is_simulated",)
    search_fields = ("slug", "name", "model_id")
    ordering = ("slug",)


@admin.register(ScreeningCall)
class ScreeningCallAdmin(ReadOnlyAdmin):
    """Second opinions of candidates, and what the providers said."""

    list_display = ("candidate", "assistant", "state", "attempts", "error_kind", *CALL_NUMBERS)
    list_filter = ("state", "error_kind", "assistant")
    list_select_related = ("candidate", "assistant")
    search_fields = ("provider_id", "error_detail")
    ordering = ("-pk",)


@admin.register(Rewrite)
class RewriteAdmin(ReadOnlyAdmin):
    """Adversarial contexts in the making, and how they ended."""

    list_display = ("source_context", "profile", "state", "target", "measured", "reason")
    list_filter = ("state", "profile")
    list_select_related = ("source_context",)
    search_fields = ("source_context__key", "context__key", "reason")
    ordering = ("-pk",)


@admin.register(RewriteCall)
class RewriteCallAdmin(ReadOnlyAdmin):
    """Questions about rewrites, what the providers said, and what was wrong with it."""

    list_display = ("rewrite", "step", "round", "state", "problems", "error_kind", *CALL_NUMBERS)
    list_filter = ("state", "step", "error_kind")
    list_select_related = ("rewrite",)
    search_fields = ("rewrite__source_context__key", "provider_id", "error_detail")
    ordering = ("-pk",)
