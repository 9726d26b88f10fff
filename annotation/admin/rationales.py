"""Themes of rationales in Django's admin: what models were asked, and what they found."""

from django.contrib import admin

from access.console.admin_parts import ReadOnlyAdmin
from annotation.admin.judges import AddressedFilter, ways_of
from annotation.models import (
    RationaleCall,
    RationaleDecision,
    RationaleRun,
    RationaleScan,
    ThemeCheck,
    ThemeCheckItem,
    ThemeLabel,
    ThemeLabelling,
)
from annotation.rationales import checks
from completions.admin_parts import (
    CALL_NUMBERS,
    RUN_COLUMNS,
    FindingsAdmin,
    SampledItemAdmin,
)


@admin.register(RationaleRun)
class RationaleRunAdmin(ReadOnlyAdmin):
    """Runs that have a model find the themes of a study's rationales."""

    list_display = ("pk", "study", *RUN_COLUMNS)
    list_filter = ("state", "study")
    list_select_related = ("study",)
    search_fields = ("study__slug", "pause_detail")
    ordering = ("-pk",)


class Findings(FindingsAdmin):
    """Rows that say which themes were found in a reason."""

    kind = checks.THEMES
    of = "judgment"


@admin.register(RationaleCall)
class RationaleCallAdmin(Findings):
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
class ThemeLabelAdmin(Findings):
    """What a model said of one theme in one rationale."""

    of = "call__judgment"
    list_display = ("call", "theme", "presence", "probability", "quote")
    list_filter = ("presence", "theme")
    list_select_related = ("call",)
    search_fields = ("theme", "quote")
    ordering = ("-pk",)


@admin.register(ThemeCheck)
class ThemeCheckAdmin(ReadOnlyAdmin):
    """Samples for people to label."""

    list_display = ("study", "assistant", "codebook", "seed", "created_at", "created_by")
    list_filter = ("study",)
    list_select_related = ("study", "assistant", "created_by")
    search_fields = ("seed", "codebook")
    ordering = ("-pk",)


@admin.register(ThemeCheckItem)
class ThemeCheckItemAdmin(SampledItemAdmin):
    """Places of a sample."""


@admin.register(ThemeLabelling)
class ThemeLabellingAdmin(Findings):
    """What people found, and settled."""

    of = "item__judgment"
    list_display = ("item", "labeller", "is_adjudication", "themes", "labelled_at")
    list_filter = ("is_adjudication",)
    list_select_related = ("item", "labeller")
    search_fields = ("labeller__username",)
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
