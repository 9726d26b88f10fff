"""Judgments made elsewhere in Django's admin."""

from django.contrib import admin

from access.console.admin_parts import ReadOnlyAdmin
from annotation.models import ExternalBatch, ExternalDecision, ExternalJudgment


@admin.register(ExternalBatch)
class ExternalBatchAdmin(ReadOnlyAdmin):
    """Batches with where they come from; the console leaves one out."""

    list_display = ("received_at", "study", "source", "reference", "licence", "is_simulated")
    list_filter = ("study", "source", "is_simulated")
    list_select_related = ("study",)
    search_fields = ("source", "reference")
    ordering = ("-received_at", "-pk")


@admin.register(ExternalJudgment)
class ExternalJudgmentAdmin(ReadOnlyAdmin):
    """Verdicts of other labs' raters."""

    list_display = ("batch", "pair", "rater", "verdict", "judged_at")
    list_filter = ("batch__study", "batch__source")
    list_select_related = ("batch", "comparison")
    search_fields = ("comparison__key", "batch__reference")
    ordering = ("-pk",)

    def pair(self, row: ExternalJudgment) -> str:
        """Show the comparison's public name."""
        return row.comparison.key


@admin.register(ExternalDecision)
class ExternalDecisionAdmin(ReadOnlyAdmin):
    """Decisions to leave a batch out, or to take it back; the newest of a batch holds."""

    list_display = ("decided_at", "batch", "is_excluded", "reason", "decided_by")
    list_filter = ("is_excluded", "batch__study")
    list_select_related = ("batch", "decided_by")
    search_fields = ("batch__reference", "reason")
    ordering = ("-decided_at", "-pk")
