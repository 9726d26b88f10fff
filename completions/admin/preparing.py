"""How contexts came about, in Django's admin: candidates, opinions, rewrites."""

from django.contrib import admin

from access.console.admin_parts import Table
from completions.admin_parts import CALL_NUMBERS
from completions.models import Assistant, Candidate, Rewrite, RewriteCall, ScreeningCall


@admin.register(Candidate)
class CandidateAdmin(Table):
    """Couplets as screened."""

    list_display = ("dialogue", "turn_index", "is_suitable", "reasons", "rules")
    list_filter = ("is_suitable", "dialogue__dataset")
    list_select_related = ("dialogue",)
    search_fields = ("dialogue__content_hash",)
    ordering = ("dialogue", "turn_index")


@admin.register(Assistant)
class AssistantAdmin(Table):
    """Language models that help to prepare contexts."""

    list_display = ("name", "slug", "model_id", "is_simulated")
    list_filter = ("is_simulated",)
    search_fields = ("slug", "name", "model_id")
    ordering = ("slug",)


@admin.register(ScreeningCall)
class ScreeningCallAdmin(Table):
    """Second opinions of candidates, and what the providers said."""

    list_display = ("candidate", "assistant", "state", "attempts", "error_kind", *CALL_NUMBERS)
    list_filter = ("state", "error_kind", "assistant")
    list_select_related = ("candidate", "assistant")
    search_fields = ("provider_id", "error_detail")
    ordering = ("-pk",)


@admin.register(Rewrite)
class RewriteAdmin(Table):
    """Adversarial contexts in the making, and how they ended."""

    list_display = ("source_context", "profile", "state", "target", "measured", "reason")
    list_filter = ("state", "profile")
    list_select_related = ("source_context",)
    search_fields = ("source_context__key", "context__key", "reason")
    ordering = ("-pk",)


@admin.register(RewriteCall)
class RewriteCallAdmin(Table):
    """Questions about rewrites, what the providers said, and what was wrong with it."""

    list_display = ("rewrite", "step", "round", "state", "problems", "error_kind", *CALL_NUMBERS)
    list_filter = ("state", "step", "error_kind")
    list_select_related = ("rewrite",)
    search_fields = ("rewrite__source_context__key", "provider_id", "error_detail")
    ordering = ("-pk",)
