"""Themes of rationales in Django's admin: what models were asked, and what they found."""

from django.contrib import admin

from access.console.admin_parts import ReadOnlyAdmin
from annotation.admin.judges import AddressedFilter, ways_of
from annotation.models import (
    RationaleCall,
    RationaleDecision,
    RationaleRun,
    RationaleScan,
    ThemeLabel,
)
from completions.admin_parts import CALL_NUMBERS, RUN_COLUMNS


@admin.register(RationaleRun)
class RationaleRunAdmin(ReadOnlyAdmin):
    """Runs that have a model find the themes of a study's rationales."""

    list_display = ("pk", "study", *RUN_COLUMNS)
    list_filter = ("state", "study")
    list_select_related = ("study",)
    search_fields = ("study__slug", "pause_detail")
    ordering = ("-pk",)


@admin.register(RationaleCall)
class RationaleCallAdmin(ReadOnlyAdmin):
    """Questions about rationales, and what the providers said."""

    list_display = (
        "judgment",
        "assistant",
        "codebook",
        "state",
        "attempts",
        "error_kind",
        "addressed",
        *CALL_NUMBERS,
    )
    list_filter = ("state", "error_kind", AddressedFilter, "assistant", "codebook")
    list_select_related = ("judgment", "assistant")
    search_fields = ("provider_id", "error_detail")
    ordering = ("-pk",)

    def addressed(self, row: RationaleCall) -> str:
        """Show how the rationale speaks to the model."""
        return ways_of(row)


@admin.register(ThemeLabel)
class ThemeLabelAdmin(ReadOnlyAdmin):
    """What a model said of one theme in one rationale."""

    list_display = ("call", "theme", "presence", "probability", "quote")
    list_filter = ("presence", "theme")
    list_select_related = ("call",)
    search_fields = ("theme", "quote")
    ordering = ("-pk",)


@admin.register(RationaleScan)
class RationaleScanAdmin(ReadOnlyAdmin):
    """What was found in rationales before a release, and how they stand."""

    list_display = ("judgment", "state", "n_passages", "rules", "scanned_at")
    list_filter = ("state", "rules")
    list_select_related = ("judgment",)
    search_fields = ("judgment__rater__code",)
    ordering = ("-pk",)


@admin.register(RationaleDecision)
class RationaleDecisionAdmin(ReadOnlyAdmin):
    """What people decided about rationales before a release."""

    list_display = ("judgment", "outcome", "reason", "decided_at", "decided_by")
    list_filter = ("outcome",)
    list_select_related = ("judgment", "decided_by")
    search_fields = ("judgment__rater__code", "reason")
    ordering = ("-pk",)
