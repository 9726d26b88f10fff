"""LLM judges in Django's admin: who there is, and what they were asked."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from access.console.admin_parts import ReadOnlyAdmin, clip
from annotation.models import Judge, JudgeCall, JudgeRun
from completions.admin_parts import RUN_COLUMNS
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
