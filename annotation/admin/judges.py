"""LLM judges, what they were asked, and what was found in rationales, in Django's admin."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from access.console.admin_parts import ReadOnlyAdmin, clip
from annotation.models import (
    Judge,
    JudgeCall,
    JudgeRun,
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
from completions.models import ProviderCall


@admin.register(Judge)
class JudgeAdmin(ReadOnlyAdmin):
    """LLM judges."""

    list_display = ("name", "slug", "family", "model_id", "is_simulated")
    list_filter = ("is_simulated",)
    search_fields = ("slug", "name", "family", "model_id")
    ordering = ("slug",)


class AddressedFilter(admin.SimpleListFilter):
    """Calls with a text that speaks to the model, and the others."""

    title = "addresses the model"
    parameter_name = "addressed"

    def lookups(self, *_args: object) -> list[tuple[str, str]]:
        """Offer both."""
        return [("yes", "Yes"), ("no", "No")]

    def queryset(self, _request: HttpRequest, calls: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the calls that were chosen."""
        if self.value() not in {"yes", "no"}:
            return calls
        flagged = Q(asked__has_key="addressed")
        return calls.filter(flagged if self.value() == "yes" else ~flagged)


def ways_of(call: ProviderCall) -> str:
    """Say which texts speak to the model, and how."""
    found: dict[str, list[str]] = call.asked.get("addressed", {})
    return "; ".join(f"{place}: {', '.join(ways)}" for place, ways in found.items())


@admin.register(JudgeRun)
class JudgeRunAdmin(ReadOnlyAdmin):
    """Runs that put a study's comparisons to judges."""

    list_display = ("pk", "study", "both_orders", "samples", *RUN_COLUMNS)
    list_filter = ("state", "study")
    list_select_related = ("study",)
    search_fields = ("study__slug", "pause_detail")
    ordering = ("-pk",)


@admin.register(JudgeCall)
class JudgeCallAdmin(ReadOnlyAdmin):
    """Verdicts wanted from judges, and what the providers said."""

    list_display = (
        "judge",
        "pair",
        "first_side",
        "sample",
        "state",
        "attempts",
        "error_kind",
        "detail",
        "addressed",
    )
    list_filter = ("state", "error_kind", AddressedFilter, "judge")
    list_select_related = ("judge", "comparison")
    search_fields = ("comparison__key", "provider_id", "error_detail")
    ordering = ("-pk",)

    def pair(self, row: JudgeCall) -> str:
        """Show the comparison's public name."""
        return row.comparison.key

    def detail(self, row: JudgeCall) -> str:
        """Show how the error's description begins."""
        return clip(row.error_detail)

    def addressed(self, row: JudgeCall) -> str:
        """Show which texts speak to the judge, and how."""
        return ways_of(row)


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
